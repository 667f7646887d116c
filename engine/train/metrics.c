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

guint64 tm_confusion_truth(const TmConfusion *c, guint i) {
  guint64 sum = 0;
  for (guint k = 0; k < c->n; k++) sum += c->pixels[(gsize)i * c->n + k];
  return sum;
}

guint64 tm_confusion_called(const TmConfusion *c, guint i) {
  guint64 sum = 0;
  for (guint k = 0; k < c->n; k++) sum += c->pixels[(gsize)k * c->n + i];
  return sum;
}

static double share(guint64 part, guint64 whole) {
  return whole ? (double)part / (double)whole : NAN;
}

static guint64 right(const TmConfusion *c, guint i) {
  return c->pixels[(gsize)i * c->n + i];
}

double tm_confusion_iou(const TmConfusion *c, guint i) {
  if (i >= c->n) return NAN;
  return share(right(c, i), tm_confusion_truth(c, i) + tm_confusion_called(c, i) - right(c, i));
}

double tm_confusion_precision(const TmConfusion *c, guint i) {
  return share(right(c, i), tm_confusion_called(c, i));
}

double tm_confusion_recall(const TmConfusion *c, guint i) {
  return share(right(c, i), tm_confusion_truth(c, i));
}

double tm_confusion_f1(const TmConfusion *c, guint i) {
  return share(2 * right(c, i), tm_confusion_truth(c, i) + tm_confusion_called(c, i));
}

double tm_confusion_weighted_iou(const TmConfusion *c) {
  double sum = 0;
  guint64 all = 0;
  for (guint i = 0; i < c->n; i++) {
    const guint64 truth = tm_confusion_truth(c, i);
    if (!truth) continue;
    sum += (double)truth * tm_confusion_iou(c, i);
    all += truth;
  }
  return all ? sum / (double)all : NAN;
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
