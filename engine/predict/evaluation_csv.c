/* evaluation_csv.c: an evaluation as tables for other programs. */
#include <math.h>

#include "engine/predict/evaluation.h"
#include "engine/run/history_csv.h"

enum { DIGITS = 6 };

static void add_numbers(GString *s, const double *v, guint n) {
  for (guint i = 0; i < n; i++) {
    g_string_append_c(s, ',');
    tm_csv_number(s, v[i], DIGITS);
  }
}

char *tm_evaluation_class_csv(const TmEvaluation *e) {
  GString *s = g_string_new("class,truth_pixels,called_pixels,iou,precision,recall,f1,boundary_f1,"
                            "regions_under_100,regions_under_1000,regions_under_10000,regions_larger\n");
  for (guint c = 0; c < e->classes->n; c++) {
    tm_csv_text(s, e->classes->classes[c].name);
    g_string_append_printf(s, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, tm_confusion_truth(e->confusion, c),
                           tm_confusion_called(e->confusion, c));
    double v[5 + TM_REGION_SIZES] = {
        tm_confusion_iou(e->confusion, c), tm_confusion_precision(e->confusion, c),
        tm_confusion_recall(e->confusion, c), tm_confusion_f1(e->confusion, c),
        tm_evaluation_class_boundary_f1(e, c)};
    for (guint k = 0; k < TM_REGION_SIZES; k++) {
      const TmRegionScore r = tm_evaluation_regions(e, c, k);
      v[5 + k] = r.n ? r.sum / (double)r.n : NAN;
    }
    add_numbers(s, v, G_N_ELEMENTS(v));
    g_string_append_c(s, '\n');
  }
  return g_string_free(s, FALSE);
}

char *tm_evaluation_picture_csv(const TmEvaluation *e) {
  GString *s = g_string_new("picture,miou,pixel_accuracy,boundary_f1,mistake_truth,mistake_call,mistake_pixels\n");
  for (guint i = 0; i < e->pictures->len; i++) {
    const TmPictureScore *p = e->pictures->pdata[i];
    const double v[] = {tm_picture_miou(p, e->classes->n), tm_picture_accuracy(p), p->boundary_f1};
    TmCell worst;
    tm_csv_text(s, p->name);
    add_numbers(s, v, G_N_ELEMENTS(v));
    if (tm_picture_mistake(p, &worst)) {
      g_string_append_c(s, ',');
      tm_csv_text(s, e->classes->classes[worst.truth].name);
      g_string_append_c(s, ',');
      tm_csv_text(s, e->classes->classes[worst.call].name);
      g_string_append_printf(s, ",%" G_GUINT64_FORMAT "\n", worst.pixels);
    } else {
      g_string_append(s, ",,,\n");
    }
  }
  return g_string_free(s, FALSE);
}

char *tm_evaluation_confusion_csv(const TmEvaluation *e) {
  GString *s = g_string_new("truth \\ called");
  for (guint c = 0; c < e->classes->n; c++) {
    g_string_append_c(s, ',');
    tm_csv_text(s, e->classes->classes[c].name);
  }
  for (guint t = 0; t < e->classes->n; t++) {
    g_string_append_c(s, '\n');
    tm_csv_text(s, e->classes->classes[t].name);
    for (guint c = 0; c < e->classes->n; c++)
      g_string_append_printf(s, ",%" G_GUINT64_FORMAT, e->confusion->pixels[(gsize)t * e->classes->n + c]);
  }
  g_string_append_c(s, '\n');
  return g_string_free(s, FALSE);
}
