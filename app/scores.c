#include "app/scores.h"

#include <math.h>

#include <glib/gi18n.h>

#include "app/cli.h"

static guint64 row_sum(const TmConfusion *c, guint truth) {
  guint64 sum = 0;
  for (guint call = 0; call < c->n; call++) sum += c->pixels[truth * c->n + call];
  return sum;
}

static guint64 column_sum(const TmConfusion *c, guint call) {
  guint64 sum = 0;
  for (guint truth = 0; truth < c->n; truth++) sum += c->pixels[truth * c->n + call];
  return sum;
}

/* Pads by characters: names are UTF-8. */
static char *padded(const char *text, glong width) {
  glong length = g_utf8_strlen(text, -1);
  return g_strdup_printf("%s%*s", text, (int)MAX(width - length, 0), "");
}

static char *score_text(double score) {
  return isnan(score) ? g_strdup(_("n/a")) : g_strdup_printf("%.4f", score);
}

static void print_row(const char *name, glong width, double iou, double share) {
  g_autofree char *label = padded(name, width), *score = score_text(iou);
  g_print("  %s  %8s  %6.2f %%  ", label, score, share * 100);
  for (int i = 0; !isnan(iou) && i < (int)lround(iou * 30); i++)
    g_print("%s", g_get_charset(NULL) ? "■" : "#");
  g_print("\n");
}

static void print_never_called(const TmConfusion *c, const TmClassTable *classes) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < c->n; i++)
    if (row_sum(c, i) > 0 && column_sum(c, i) == 0)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", classes->classes[i].name);
  if (names->len) g_print(_("Never predicted, though in the pictures: %s.\n"), names->str);
}

void tm_scores_print(const TmConfusion *c, const TmClassTable *classes) {
  glong width = g_utf8_strlen(_("Mean"), -1);
  guint64 total = 0;
  guint absent = 0;
  for (guint i = 0; i < c->n; i++) {
    width = MAX(width, g_utf8_strlen(classes->classes[i].name, -1));
    total += row_sum(c, i);
    absent += isnan(tm_confusion_iou(c, i));
  }
  g_autofree char *head = padded(_("Class"), width);
  g_print("  %s  %8s  %8s\n", head, _("IoU"), _("of truth"));
  for (guint i = 0; i < c->n; i++)
    print_row(classes->classes[i].name, width, tm_confusion_iou(c, i),
              total ? (double)row_sum(c, i) / (double)total : 0);
  g_autofree char *mean = padded(_("Mean"), width), *miou = score_text(tm_confusion_miou(c)),
                  *accuracy = score_text(tm_confusion_accuracy(c));
  g_print("  %s  %8s  %s %s\n", mean, miou, _("pixel accuracy"), accuracy);
  if (absent)
    g_print("%s\n", _("n/a: in neither truth nor prediction; such classes are left out of the mean."));
  print_never_called(c, classes);
}

void tm_scores_to_json(JsonObject *o, const TmConfusion *c, const TmClassTable *classes) {
  tm_cli_json_number(o, "miou", c ? tm_confusion_miou(c) : NAN);
  tm_cli_json_number(o, "pixel_accuracy", c ? tm_confusion_accuracy(c) : NAN);
  JsonObject *iou = json_object_new();
  for (guint i = 0; i < classes->n; i++)
    tm_cli_json_number(iou, classes->classes[i].name, c ? tm_confusion_iou(c, i) : NAN);
  json_object_set_object_member(o, "iou", iou);
}
