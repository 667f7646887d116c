#include "engine/predict/evaluation.h"

#include <math.h>
#include <string.h>

static void picture_free(gpointer data) {
  TmPictureScore *p = data;
  g_free(p->name);
  g_array_unref(p->cells);
  g_free(p);
}

TmEvaluation *tm_evaluation_new(const TmClassTable *classes) {
  TmEvaluation *e = g_new0(TmEvaluation, 1);
  e->classes = tm_class_table_copy(classes);
  e->confusion = tm_confusion_new(classes->n);
  e->pictures = g_ptr_array_new_with_free_func(picture_free);
  e->unreadable = g_ptr_array_new_with_free_func(g_free);
  e->boundary_sum = g_new0(double, MAX(classes->n, 1));
  e->boundary_n = g_new0(guint, MAX(classes->n, 1));
  e->regions = g_new0(TmRegionScore, MAX(classes->n, 1) * TM_REGION_SIZES);
  return e;
}

void tm_evaluation_free(TmEvaluation *e) {
  if (!e) return;
  g_free(e->checkpoint);
  g_free(e->precision);
  g_free(e->dataset);
  g_free(e->dataset_hash);
  tm_class_table_free(e->classes);
  tm_confusion_free(e->confusion);
  g_ptr_array_unref(e->pictures);
  g_ptr_array_unref(e->unreadable);
  g_free(e->boundary_sum);
  g_free(e->boundary_n);
  g_free(e->regions);
  g_free(e->left_out);
  g_free(e);
}

double tm_evaluation_boundary_f1(const TmEvaluation *e) {
  double sum = 0;
  guint n = 0;
  for (guint i = 0; i < e->pictures->len; i++) {
    const double one = ((const TmPictureScore *)e->pictures->pdata[i])->boundary_f1;
    if (isnan(one)) continue;
    sum += one;
    n++;
  }
  return n ? sum / n : NAN;
}

double tm_evaluation_class_boundary_f1(const TmEvaluation *e, guint c) {
  return e->boundary_n[c] ? e->boundary_sum[c] / e->boundary_n[c] : NAN;
}

TmRegionScore tm_evaluation_regions(const TmEvaluation *e, guint c, guint size) {
  if (c < e->classes->n) return e->regions[c * TM_REGION_SIZES + size];
  TmRegionScore all = {0};
  for (guint i = 0; i < e->classes->n; i++) {
    all.n += e->regions[i * TM_REGION_SIZES + size].n;
    all.sum += e->regions[i * TM_REGION_SIZES + size].sum;
  }
  return all;
}

/* ---- one picture ---- */

static void add_cells(TmConfusion *c, const TmPictureScore *p) {
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *cell = &g_array_index(p->cells, TmCell, i);
    c->pixels[(gsize)cell->truth * c->n + cell->call] += cell->pixels;
  }
}

double tm_picture_miou(const TmPictureScore *p, guint classes) {
  g_autoptr(TmConfusion) c = tm_confusion_new(classes);
  add_cells(c, p);
  return tm_confusion_miou(c);
}

double tm_picture_accuracy(const TmPictureScore *p) {
  guint64 right = 0, all = 0;
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *cell = &g_array_index(p->cells, TmCell, i);
    all += cell->pixels;
    if (cell->truth == cell->call) right += cell->pixels;
  }
  return all ? (double)right / (double)all : NAN;
}

double tm_picture_class_iou(const TmPictureScore *p, guint c) {
  guint64 both = 0, either = 0;
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *cell = &g_array_index(p->cells, TmCell, i);
    if (cell->truth != c && cell->call != c) continue;
    either += cell->pixels;
    if (cell->truth == cell->call) both += cell->pixels;
  }
  return either ? (double)both / (double)either : NAN;
}

guint64 tm_picture_pixels(const TmPictureScore *p, guint truth, guint call) {
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *cell = &g_array_index(p->cells, TmCell, i);
    if (cell->truth == truth && cell->call == call) return cell->pixels;
  }
  return 0;
}

gboolean tm_picture_mistake(const TmPictureScore *p, TmCell *out) {
  *out = (TmCell){0};
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *cell = &g_array_index(p->cells, TmCell, i);
    if (cell->truth != cell->call && cell->pixels > out->pixels) *out = *cell;
  }
  return out->pixels > 0;
}

TmConfusion *tm_evaluation_without(const TmEvaluation *e, const gboolean *leave_out) {
  TmConfusion *c = tm_confusion_new(e->classes->n);
  for (guint i = 0; i < e->pictures->len; i++)
    if (!leave_out[i]) add_cells(c, e->pictures->pdata[i]);
  return c;
}
