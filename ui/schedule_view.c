#include "ui/schedule_view.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/schedule.h"
#include "ui/ink.h"
#include "ui/words.h"

enum { COLUMNS = 256, PLACES = 4096, HEIGHT = 48 };

struct _TmScheduleView {
  GtkWidget parent;
  TmSettings settings;
  double factor, now;
  double past[COLUMNS]; /* NAN: none */
};

G_DEFINE_FINAL_TYPE(TmScheduleView, tm_schedule_view, GTK_TYPE_WIDGET)

static double planned(const TmScheduleView *v, guint column) {
  return tm_schedule_lr(&v->settings, (guint64)column * PLACES / COLUMNS, PLACES) * v->factor;
}

static double rate_at(const TmScheduleView *v, guint column) {
  const gboolean gone = !isnan(v->now) && column < v->now * COLUMNS;
  return gone && !isnan(v->past[column]) ? v->past[column] : planned(v, column);
}

static void text(GtkWidget *w, cairo_t *cr, double x, gboolean right, const char *words) {
  g_autoptr(PangoLayout) l = gtk_widget_create_pango_layout(w, words);
  GdkRGBA c = tm_ink_text(w, 0.74);
  int tw, th;
  pango_layout_get_pixel_size(l, &tw, &th);
  cairo_move_to(cr, right ? x - tw : x, 3);
  tm_ink_set(cr, &c, 1);
  pango_cairo_show_layout(cr, l);
}

static void draw(TmScheduleView *v, cairo_t *cr, double w, double h) {
  const GdkRGBA ink = tm_ink(TM_INK_RATE), line = tm_ink_text(GTK_WIDGET(v), 0.6);
  double most = 0;
  for (guint i = 0; i < COLUMNS; i++) most = fmax(most, rate_at(v, i));
  if (!(most > 0)) most = 1;
  for (guint i = 0; i < COLUMNS; i++) {
    const double x = (i + 0.5) / COLUMNS * w, y = h - 1 - rate_at(v, i) / most * (h - 6);
    if (i == 0) cairo_move_to(cr, 0, y);
    cairo_line_to(cr, x, y);
    if (i + 1 == COLUMNS) cairo_line_to(cr, w, y);
  }
  cairo_path_t *path = cairo_copy_path(cr);
  cairo_line_to(cr, w, h);
  cairo_line_to(cr, 0, h);
  tm_ink_set(cr, &ink, 0.18);
  cairo_fill(cr);
  cairo_append_path(cr, path);
  cairo_path_destroy(path);
  tm_ink_set(cr, &ink, 1);
  cairo_set_line_width(cr, tm_ink_high_contrast() ? 2.5 : 1.5);
  cairo_stroke(cr);
  if (!isnan(v->now)) {
    const double x = floor(CLAMP(v->now, 0, 1) * w) + 0.5;
    tm_ink_set(cr, &line, 1);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, x, 0);
    cairo_line_to(cr, x, h);
    cairo_stroke(cr);
    text(GTK_WIDGET(v), cr, x > w * 0.6 ? x - 5 : x + 5, x > w * 0.6, _("now"));
  }
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  if (width < 8 || height < 8) return;
  const GdkRGBA well = tm_ink_text(w, 0.05);
  GskRoundedRect clip;
  gsk_rounded_rect_init_from_rect(&clip, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height), 6);
  gtk_snapshot_push_rounded_clip(s, &clip);
  gtk_snapshot_append_color(s, &well, &clip.bounds);
  cairo_t *cr = gtk_snapshot_append_cairo(s, &clip.bounds);
  draw(TM_SCHEDULE_VIEW(w), cr, width, height);
  cairo_destroy(cr);
  gtk_snapshot_pop(s);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base, int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 120 : HEIGHT;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 240 : HEIGHT;
  *min_base = *nat_base = -1;
}

static void tm_schedule_view_class_init(TmScheduleViewClass *c) {
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
}

static void tm_schedule_view_init(TmScheduleView *v) {
  tm_settings_defaults(&v->settings);
  v->factor = 1;
  v->now = NAN;
  for (guint i = 0; i < COLUMNS; i++) v->past[i] = NAN;
  gtk_widget_add_css_class(GTK_WIDGET(v), "tm-tiny");
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Learning rate over the run"), -1);
  tm_ink_watch(GTK_WIDGET(v));
}

GtkWidget *tm_schedule_view_new(void) {
  return g_object_new(TM_TYPE_SCHEDULE_VIEW, NULL);
}

/* What is said of it changes with the plan, not with every step. */
static void describe(TmScheduleView *v) {
  double most = 0;
  for (guint i = 0; i < COLUMNS; i++) most = fmax(most, rate_at(v, i));
  g_autofree char *first = tm_words_value(rate_at(v, 0)), *top = tm_words_value(most),
                  *last = tm_words_value(rate_at(v, COLUMNS - 1));
  g_autofree char *words = g_strdup_printf(_("From %s, at most %s, at the end %s"), first, top, last);
  gtk_widget_set_tooltip_text(GTK_WIDGET(v), words);
  gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, words, -1);
}

void tm_schedule_view_set(TmScheduleView *v, const TmSettings *s, double factor, double now) {
  const gboolean same = memcmp(&v->settings, s, sizeof *s) == 0 && v->factor == factor;
  v->settings = *s;
  v->factor = factor;
  v->now = now;
  if (!same) describe(v);
  gtk_widget_queue_draw(GTK_WIDGET(v));
}

void tm_schedule_view_add_past(TmScheduleView *v, double share, double rate) {
  if (isnan(share)) {
    for (guint i = 0; i < COLUMNS; i++) v->past[i] = NAN;
    return;
  }
  const guint at = (guint)CLAMP(share * COLUMNS, 0, COLUMNS - 1);
  if (isfinite(rate)) v->past[at] = rate;
  for (guint i = at; i-- > 0 && isnan(v->past[i]);) v->past[i] = rate; /* steps wider than a column */
}
