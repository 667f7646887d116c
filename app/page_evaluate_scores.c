/* page_evaluate_scores.c: the Evaluate page's numbers: tiles, bars, map, sizes, calibration. */
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>

#include "app/page_evaluate_private.h"
#include "ui/words.h"

enum { TILE_MIOU, TILE_ACCURACY, TILE_BOUNDARY, TILE_LEAKS, TILE_SPEED };

/* ---- tiles ---- */

static GtkWidget *label_new(const char *text, const char *css, const char *more) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class(l, css);
  if (more) gtk_widget_add_css_class(l, more);
  gtk_widget_add_css_class(l, "numeric");
  return l;
}

void tm_page_evaluate_make_tiles(TmPageEvaluate *p) {
  g_autofree char *boundary = g_strdup_printf(_("Boundary F1, %d px"), TM_BOUNDARY_BAND);
  const char *const names[TM_EVALUATE_TILES] = {_("Mean IoU"), _("Pixel accuracy"), boundary,
                                                _("Without leaked frames"), _("Speed")};
  for (int i = 0; i < TM_EVALUATE_TILES; i++) {
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 1), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 7);
    TmScoreTile *t = &p->tile[i];
    t->value = label_new("–", "tm-h1", NULL);
    t->change = label_new("", "tm-small", "tm-strong");
    t->caption = label_new("", "tm-tiny", "tm-dim");
    gtk_widget_set_valign(t->change, GTK_ALIGN_BASELINE);
    gtk_widget_set_valign(t->value, GTK_ALIGN_BASELINE);
    gtk_box_append(GTK_BOX(line), t->value);
    gtk_box_append(GTK_BOX(line), t->change);
    gtk_box_append(GTK_BOX(box), label_new(names[i], "tm-small", "tm-dim"));
    gtk_box_append(GTK_BOX(box), line);
    gtk_box_append(GTK_BOX(box), t->caption);
    gtk_widget_add_css_class(box, "tm-tile-box");
    gtk_flow_box_insert(GTK_FLOW_BOX(p->tiles), box, -1);
  }
}

static void name_tile(TmPageEvaluate *p, int i) {
  GtkWidget *child = GTK_WIDGET(gtk_flow_box_get_child_at_index(GTK_FLOW_BOX(p->tiles), i)),
            *title = gtk_widget_get_first_child(gtk_flow_box_child_get_child(GTK_FLOW_BOX_CHILD(child)));
  g_autofree char *words = g_strdup_printf("%s %s %s, %s", gtk_label_get_label(GTK_LABEL(title)),
                                           gtk_label_get_label(GTK_LABEL(p->tile[i].value)),
                                           gtk_label_get_label(GTK_LABEL(p->tile[i].change)),
                                           gtk_label_get_label(GTK_LABEL(p->tile[i].caption)));
  gtk_accessible_update_property(GTK_ACCESSIBLE(child), GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
}

static void set_change(GtkWidget *l, const char *text, gboolean good) {
  gtk_label_set_label(GTK_LABEL(l), text ? text : "");
  gtk_widget_remove_css_class(l, good ? "tm-worse" : "tm-better");
  gtk_widget_add_css_class(l, good ? "tm-better" : "tm-worse");
}

/* @v and @other as shares; @percent: shown so. */
static void set_tile(TmPageEvaluate *p, int i, double v, double other, gboolean percent, const char *caption) {
  TmScoreTile *t = &p->tile[i];
  g_autofree char *value = isnan(v)  ? g_strdup("–")
                           : percent ? g_strdup_printf("%.1f\u2009%%", v * 100)
                                     : g_strdup_printf("%.3f", v);
  const double change = v - other;
  g_autofree char *words = isnan(change) ? NULL
                           : percent     ? g_strdup_printf("%s%.1f", change < 0 ? "−" : "+", fabs(change) * 100)
                                         : g_strdup_printf("%s%.3f", change < 0 ? "−" : "+", fabs(change));
  gtk_label_set_label(GTK_LABEL(t->value), value);
  set_change(t->change, words, change >= 0);
  gtk_label_set_label(GTK_LABEL(t->caption), caption ? caption : "");
  gtk_widget_set_tooltip_text(gtk_widget_get_parent(gtk_widget_get_parent(t->value)), caption);
  name_tile(p, i);
}

static char *other_words(TmPageEvaluate *p, double v, gboolean percent) {
  const TmRunInfo *r = tm_page_evaluate_compared(p);
  if (!r || !p->other || isnan(v)) return NULL;
  return percent ? g_strdup_printf("%s %.1f\u2009%%", r->name, v * 100) : g_strdup_printf("%s %.3f", r->name, v);
}

/* "0.612 to 0.648 in 95 % of draws" beside what it is compared with. */
static char *interval_words(const TmEvaluation *e) {
  double low, high;
  if (!e || !tm_evaluation_interval(e, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, &low, &high)) return NULL;
  return g_strdup_printf(_("95\u2009%%: %.3f – %.3f"), low, high);
}

static char *absent_words(const TmConfusion *c) {
  guint n = 0;
  for (guint i = 0; i < c->n; i++) n += isnan(tm_confusion_iou(c, i));
  return n ? g_strdup_printf(ngettext("%u class not in this split", "%u classes not in this split", n), n) : NULL;
}

static char *joined(const char *a, const char *b) {
  return a && b ? g_strdup_printf("%s · %s", a, b) : g_strdup(a ? a : b ? b : "");
}

/* The score without the pictures that look like one the network was trained on: neighbours of one video flatter it. */
static void show_leaks(TmPageEvaluate *p) {
  const TmEvaluation *e = p->shown;
  const TmAlikeness *alike = tm_project_alike(p->project);
  if (!alike || e->split == TM_SPLIT_TRAIN) {
    set_tile(p, TILE_LEAKS, NAN, NAN, FALSE, alike ? _("of the training pictures") : _("not searched yet"));
    return;
  }
  g_autofree gboolean *out = g_new0(gboolean, MAX(e->pictures->len, 1));
  guint n = 0;
  for (guint i = 0; i < e->pictures->len; i++) {
    const guint entry = ((const TmPictureScore *)e->pictures->pdata[i])->entry;
    out[i] = entry < alike->n && alike->across[entry].other != G_MAXUINT;
    n += out[i];
  }
  g_autoptr(TmConfusion) without = tm_evaluation_without(e, out);
  g_autofree char *count = tm_words_count(n);
  g_autofree char *caption =
      n == e->pictures->len ? g_strdup(_("all look like training pictures"))
      : n ? g_strdup_printf(ngettext("%s near-duplicate left out", "%s near-duplicates left out", n), count)
          : g_strdup(_("no near-duplicates"));
  set_tile(p, TILE_LEAKS, tm_confusion_miou(without), n ? tm_confusion_miou(e->confusion) : NAN, FALSE, caption);
}

static void show_tiles(TmPageEvaluate *p, const TmConfusion *c) {
  const TmEvaluation *e = p->shown, *o = c == (e ? e->confusion : NULL) ? p->other : NULL;
  const gboolean whole = e && c == e->confusion;
  const double other_miou = o ? tm_confusion_miou(o->confusion) : NAN,
               other_accuracy = o ? tm_confusion_accuracy(o->confusion) : NAN,
               other_boundary = o ? tm_evaluation_boundary_f1(o) : NAN;
  g_autofree char *interval = whole ? interval_words(e) : NULL, *absent = c ? absent_words(c) : NULL,
                  *beside = other_words(p, other_miou, FALSE), *miou = joined(beside ? beside : absent, interval),
                  *accuracy = other_words(p, other_accuracy, TRUE), *boundary = other_words(p, other_boundary, FALSE);
  g_autofree char *weighted =
      c && !accuracy ? g_strdup_printf(_("IoU by share %.3f"), tm_confusion_weighted_iou(c)) : NULL;
  set_tile(p, TILE_MIOU, c ? tm_confusion_miou(c) : NAN, other_miou, FALSE, miou);
  set_tile(p, TILE_ACCURACY, c ? tm_confusion_accuracy(c) : NAN, other_accuracy, TRUE, accuracy ? accuracy : weighted);
  set_tile(p, TILE_BOUNDARY, whole ? tm_evaluation_boundary_f1(e) : NAN, other_boundary, FALSE, boundary);
  if (whole)
    show_leaks(p);
  else
    set_tile(p, TILE_LEAKS, NAN, NAN, FALSE, NULL);
  set_tile(p, TILE_SPEED, NAN, NAN, FALSE, NULL);
  if (!whole || !(e->seconds > 0)) return;
  const double each = e->seconds / e->pictures->len;
  g_autofree char *speed = each < 1 ? g_strdup_printf(_("%.*f img/s"), each < 0.1 ? 0 : 1, 1 / each)
                                    : g_strdup_printf(_("%.2f img/s"), 1 / each),
                  *span = tm_words_span(each), *caption = g_strdup_printf(_("%s a picture, %s"), span, e->precision);
  gtk_label_set_label(GTK_LABEL(p->tile[TILE_SPEED].value), speed);
  gtk_label_set_label(GTK_LABEL(p->tile[TILE_SPEED].caption), caption);
  name_tile(p, TILE_SPEED);
}

/* ---- bars ---- */

typedef struct {
  const TmClassTable *classes;
  const TmConfusion *c, *other;
  guint order;
} Sorting;

static int by_order(gconstpointer a, gconstpointer b, gpointer user) {
  const Sorting *s = user;
  const guint i = *(const guint *)a, k = *(const guint *)b;
  if (s->order == 1) return g_utf8_collate(s->classes->classes[i].name, s->classes->classes[k].name);
  double x = tm_confusion_iou(s->c, i), y = tm_confusion_iou(s->c, k);
  if (s->order == 2 && s->other) {
    x -= tm_confusion_iou(s->other, i);
    y -= tm_confusion_iou(s->other, k);
  }
  if (isnan(x) || isnan(y)) return isnan(x) ? (isnan(y) ? (int)i - (int)k : 1) : -1; /* absent classes last */
  return x > y ? -1 : x < y ? 1 : (int)i - (int)k;
}

static void show_bars(TmPageEvaluate *p, const TmConfusion *c, const TmClassTable *t) {
  const TmConfusion *other = p->other && p->shown && c == p->shown->confusion ? p->other->confusion : NULL;
  const guint n = c ? c->n : 0;
  g_autofree TmScoreRow *rows = g_new0(TmScoreRow, MAX(n, 1));
  const Sorting s = {t, c, other, gtk_drop_down_get_selected(GTK_DROP_DOWN(p->order))};
  g_array_set_size(p->class_order, 0);
  for (guint i = 0; i < n; i++) g_array_append_val(p->class_order, i);
  g_array_sort_with_data(p->class_order, by_order, (gpointer)&s);
  for (guint i = 0; i < n; i++) {
    const guint k = g_array_index(p->class_order, guint, i);
    const guint8 *rgb = t->classes[k].colour;
    rows[i] = (TmScoreRow){.name = t->classes[k].name,
                           .rgb = (guint32)rgb[0] << 16 | (guint32)rgb[1] << 8 | rgb[2],
                           .value = tm_confusion_iou(c, k),
                           .other = other ? tm_confusion_iou(other, k) : NAN,
                           .absent = _("not in this split")};
  }
  tm_score_bars_set(p->bars, rows, n);
  const TmRunInfo *r = other ? tm_page_evaluate_compared(p) : NULL;
  g_autofree char *tick = r ? g_strdup_printf("┃ %s", r->name) : g_strdup("");
  gtk_label_set_label(GTK_LABEL(p->tick_label), tick);
}

static void show_sizes(TmPageEvaluate *p) {
  static const char *const names[TM_REGION_SIZES] = {N_("under 100 px"), N_("under 1 000 px"), N_("under 10 000 px"),
                                                     N_("larger")};
  TmScoreRow rows[TM_REGION_SIZES];
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  for (guint k = 0; p->shown && k < TM_REGION_SIZES; k++) {
    const TmRegionScore r = tm_evaluation_regions(p->shown, TM_MAX_CLASSES, k),
                        o = p->other ? tm_evaluation_regions(p->other, TM_MAX_CLASSES, k) : (TmRegionScore){0};
    g_autofree char *count = tm_words_count(r.n);
    g_ptr_array_add(words, g_strdup_printf("%s (%s)", _(names[k]), count));
    rows[k] = (TmScoreRow){.name = words->pdata[k],
                           .rgb = G_MAXUINT32,
                           .value = r.n ? r.sum / (double)r.n : NAN,
                           .other = o.n ? o.sum / (double)o.n : NAN,
                           .absent = _("none")};
  }
  tm_score_bars_set(p->sizes, rows, p->shown ? TM_REGION_SIZES : 0);
}

static void show_calibration(TmPageEvaluate *p) {
  const TmEvaluation *e = p->shown;
  tm_reliability_plot_set(p->calibration, e && e->tells_sureness ? e->bins : NULL);
  g_autofree char *words = !e                  ? g_strdup("")
                           : e->tells_sureness ? g_strdup_printf(_("expected error %.3f, %d bins"),
                                                                 tm_reliability_error(e->bins), TM_RELIABILITY_BINS)
                                               : g_strdup(_("a network of bytes does not tell"));
  gtk_label_set_label(GTK_LABEL(p->calibration_words), words);
}

/* ---- the sentence ---- */

void tm_page_evaluate_show_sentence(TmPageEvaluate *p) {
  guint truth, call, n = 0;
  const gboolean any = tm_confusion_map_get_selected(p->map, &truth, &call);
  g_autofree char *sentence = tm_confusion_map_sentence(p->map);
  gtk_label_set_label(GTK_LABEL(p->sentence), sentence);
  for (guint i = 0; any && p->shown && i < p->shown->pictures->len; i++)
    n += tm_picture_pixels(p->shown->pictures->pdata[i], truth, call) > 0;
  g_autofree char *count = tm_words_count(n),
                  *label = g_strdup_printf(ngettext("Show %s Picture", "Show %s Pictures", n), count),
                  *name = g_strdup_printf(ngettext("Show %s picture with this mistake", "Show %s pictures with this mistake", n),
                                          count);
  gtk_button_set_label(GTK_BUTTON(p->show_pictures), label);
  gtk_widget_set_visible(p->show_pictures, n > 0);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p->show_pictures), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 truth == call ? label : name, -1);
}

void tm_page_evaluate_show(TmPageEvaluate *p, const TmConfusion *so_far) {
  const TmConfusion *c = so_far ? so_far : p->shown ? p->shown->confusion : NULL;
  const TmClassTable *t = p->shown && !so_far ? p->shown->classes : p->dataset ? tm_dataset_classes(p->dataset) : NULL;
  show_tiles(p, c);
  show_bars(p, c, t);
  tm_confusion_map_set(p->map, c, t);
  if (!so_far) tm_confusion_table_set(p->table, c, t);
  tm_page_evaluate_show_sentence(p);
  if (so_far) return;
  show_sizes(p);
  show_calibration(p);
}
