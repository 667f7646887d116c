#include "engine/train/metrics.h"

#include <math.h>
#include <string.h>

TmConfusion *tm_confusion_new(guint n) {
  TmConfusion *c = g_new(TmConfusion, 1);
  *c = (TmConfusion){.n = n, .pixels = g_new0(guint64, MAX((gsize)n * n, 1))};
  return c;
}

void tm_confusion_free(TmConfusion *c) {
  if (!c) return;
  g_free(c->pixels);
  g_free(c);
}

void tm_confusion_clear(TmConfusion *c) {
  memset(c->pixels, 0, (gsize)c->n * c->n * sizeof *c->pixels);
}

void tm_confusion_add(TmConfusion *c, const gint32 *counts) {
  for (gsize i = 0; i < (gsize)c->n * c->n; i++) c->pixels[i] += (guint64)MAX(counts[i], 0);
}

void tm_confusion_add_labels(TmConfusion *c, const guint8 *truth, const guint8 *call, gsize count) {
  for (gsize i = 0; i < count; i++)
    if (truth[i] < c->n && call[i] < c->n) c->pixels[(gsize)truth[i] * c->n + call[i]]++;
}

double tm_confusion_iou(const TmConfusion *c, guint i) {
  if (i >= c->n) return NAN;
  guint64 row = 0, column = 0;
  for (guint k = 0; k < c->n; k++) {
    row += c->pixels[(gsize)i * c->n + k];
    column += c->pixels[(gsize)k * c->n + i];
  }
  const guint64 both = c->pixels[(gsize)i * c->n + i], either = row + column - both;
  return either ? (double)both / (double)either : NAN;
}

double tm_confusion_miou(const TmConfusion *c) {
  double sum = 0;
  guint n = 0;
  for (guint i = 0; i < c->n; i++) {
    const double iou = tm_confusion_iou(c, i);
    if (isnan(iou)) continue;
    sum += iou;
    n++;
  }
  return n ? sum / n : NAN;
}

double tm_confusion_accuracy(const TmConfusion *c) {
  guint64 right = 0, all = 0;
  for (guint i = 0; i < c->n; i++)
    for (guint k = 0; k < c->n; k++) {
      const guint64 pixels = c->pixels[(gsize)i * c->n + k];
      all += pixels;
      if (i == k) right += pixels;
    }
  return all ? (double)right / (double)all : NAN;
}
