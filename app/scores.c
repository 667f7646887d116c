#include "app/scores.h"

#include <math.h>

#include <glib/gi18n.h>

#include "app/cli.h"

/* Pads by characters: names are UTF-8. */
static char *padded(const char *text, glong width) {
  glong length = g_utf8_strlen(text, -1);
  return g_strdup_printf("%s%*s", text, (int)MAX(width - length, 0), "");
}

static char *score_text(double score) {
  return isnan(score) ? g_strdup(_("n/a")) : g_strdup_printf("%.4f", score);
}

static void print_scores(const double *scores, guint n) {
  for (guint i = 0; i < n; i++) {
    g_autofree char *text = score_text(scores[i]);
    g_print("  %9s", text);
  }
}

static void print_class(const TmEvaluation *e, guint i, glong width, guint64 total) {
  const TmConfusion *c = e->confusion;
  const double iou = tm_confusion_iou(c, i),
               scores[] = {iou,
                           tm_confusion_f1(c, i),
                           tm_confusion_precision(c, i),
                           tm_confusion_recall(c, i),
                           tm_evaluation_class_boundary_f1(e, i)};
  g_autofree char *label = padded(e->classes->classes[i].name, width);
  g_print("  %s", label);
  print_scores(scores, G_N_ELEMENTS(scores));
  g_print("  %6.2f %%  ", total ? 100.0 * (double)tm_confusion_truth(c, i) / (double)total : 0.0);
  for (int k = 0; !isnan(iou) && k < (int)lround(iou * 20); k++) g_print("%s", g_get_charset(NULL) ? "■" : "#");
  g_print("\n");
}

static void print_never_called(const TmEvaluation *e) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < e->classes->n; i++)
    if (tm_confusion_truth(e->confusion, i) > 0 && tm_confusion_called(e->confusion, i) == 0)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", e->classes->classes[i].name);
  if (names->len) g_print(_("Never predicted, though in the pictures: %s.\n"), names->str);
}

static void print_regions(const TmEvaluation *e) {
  static const char *const sizes[TM_REGION_SIZES] = {N_("under 100 pixels"), N_("under 1,000"), N_("under 10,000"),
                                                     N_("larger")};
  g_print("%s ", _("IoU by size of region:"));
  for (guint k = 0; k < TM_REGION_SIZES; k++) {
    const TmRegionScore r = tm_evaluation_regions(e, TM_MAX_CLASSES, k);
    g_autofree char *score = score_text(r.n ? r.sum / (double)r.n : NAN);
    g_print("%s%s %s (%" G_GUINT64_FORMAT ")", k ? ", " : "", _(sizes[k]), score, r.n);
  }
  g_print("\n");
}

static void print_whole(const TmEvaluation *e) {
  double low, high;
  g_autofree char *miou = score_text(tm_confusion_miou(e->confusion)),
                  *accuracy = score_text(tm_confusion_accuracy(e->confusion)),
                  *weighted = score_text(tm_confusion_weighted_iou(e->confusion)),
                  *boundary = score_text(tm_evaluation_boundary_f1(e)),
                  *calibration = score_text(tm_reliability_error(e->bins));
  if (tm_evaluation_interval(e, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, &low, &high))
    g_print(_("Mean IoU %s, 95 %% of draws of as many pictures from %.4f to %.4f\n"), miou, low, high);
  else
    g_print(_("Mean IoU %s\n"), miou);
  g_print(_("Pixel accuracy %s, IoU weighted by share %s, boundary F1 within %d pixels %s, calibration error %s\n"),
          accuracy, weighted, TM_BOUNDARY_BAND, boundary, calibration);
}

void tm_scores_print(const TmEvaluation *e) {
  glong width = g_utf8_strlen(_("Class"), -1);
  guint64 total = 0;
  guint absent = 0;
  for (guint i = 0; i < e->classes->n; i++) {
    width = MAX(width, g_utf8_strlen(e->classes->classes[i].name, -1));
    total += tm_confusion_truth(e->confusion, i);
    absent += isnan(tm_confusion_iou(e->confusion, i));
  }
  g_autofree char *head = padded(_("Class"), width);
  g_print("  %s  %9s  %9s  %9s  %9s  %9s  %8s\n", head, _("IoU"), _("F1"), _("precision"), _("recall"),
          _("boundary"), _("of truth"));
  for (guint i = 0; i < e->classes->n; i++) print_class(e, i, width, total);
  print_whole(e);
  print_regions(e);
  if (absent)
    g_print("%s\n", _("n/a: in neither truth nor prediction; such classes are left out of the mean."));
  print_never_called(e);
  for (guint i = 0; i < e->unreadable->len; i++)
    g_printerr(_("Left out: %s\n"), (const char *)e->unreadable->pdata[i]);
}

static void add_classes(JsonObject *o, const char *key, const TmEvaluation *e, const TmClassTable *classes,
                        double (*score)(const TmConfusion *, guint)) {
  JsonObject *by_name = json_object_new();
  for (guint i = 0; i < classes->n; i++)
    tm_cli_json_number(by_name, classes->classes[i].name,
                       !e      ? NAN
                       : score ? score(e->confusion, i)
                               : tm_evaluation_class_boundary_f1(e, i));
  json_object_set_object_member(o, key, by_name);
}

void tm_scores_to_json(JsonObject *o, const TmEvaluation *e, const TmClassTable *classes) {
  double low = NAN, high = NAN;
  if (e) tm_evaluation_interval(e, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, &low, &high);
  tm_cli_json_number(o, "miou", e ? tm_confusion_miou(e->confusion) : NAN);
  tm_cli_json_number(o, "miou_low", low);
  tm_cli_json_number(o, "miou_high", high);
  tm_cli_json_number(o, "pixel_accuracy", e ? tm_confusion_accuracy(e->confusion) : NAN);
  tm_cli_json_number(o, "weighted_iou", e ? tm_confusion_weighted_iou(e->confusion) : NAN);
  tm_cli_json_number(o, "boundary_f1", e ? tm_evaluation_boundary_f1(e) : NAN);
  tm_cli_json_number(o, "calibration_error", e ? tm_reliability_error(e->bins) : NAN);
  add_classes(o, "iou", e, classes, tm_confusion_iou);
  add_classes(o, "class_f1", e, classes, tm_confusion_f1);
  add_classes(o, "class_precision", e, classes, tm_confusion_precision);
  add_classes(o, "class_recall", e, classes, tm_confusion_recall);
  add_classes(o, "class_boundary_f1", e, classes, NULL);
}
