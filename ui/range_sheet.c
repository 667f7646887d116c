#include "ui/range_sheet.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/axis.h"
#include "ui/ink.h"

enum { LEFT = 48, BOTTOM = 34, TOP = 8, RIGHT = 12 };

struct _TmRangeSheet {
  GtkBox parent;
  GtkWidget *area, *words, *use, *close;
  GArray *rate, *loss, *smooth; /* double */
  double suggested;
};

enum { USE, CLOSED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmRangeSheet, tm_range_sheet, GTK_TYPE_BOX)

static double at(const GArray *a, guint i) { return g_array_index(a, double, i); }

static void text(TmRangeSheet *s, cairo_t *cr, double x, double y, int align, const char *words, const GdkRGBA *c) {
  g_autoptr(PangoLayout) l = gtk_widget_create_pango_layout(s->area, words);
  int w, h;
  pango_layout_get_pixel_size(l, &w, &h);
  cairo_move_to(cr, floor(x - w * align / 2.0), floor(y - h / 2.0));
  tm_ink_set(cr, c, 1);
  pango_cairo_show_layout(cr, l);
}

/* Losses far above where it began say only that it is gone. */
static TmAxis loss_axis(const TmRangeSheet *s) {
  double lo = INFINITY, hi = -INFINITY;
  for (guint i = 0; i < s->loss->len; i++) {
    const double y = at(s->loss, i);
    if (!isfinite(y)) continue;
    lo = fmin(lo, y);
    hi = fmax(hi, y);
  }
  if (s->loss->len && isfinite(at(s->loss, 0))) hi = fmin(hi, 2.5 * at(s->loss, 0));
  TmAxis a;
  tm_axis_fit(&a, lo, hi, FALSE);
  return a;
}

static void curve(cairo_t *cr, const GArray *x, const GArray *y, const TmAxis *ax, const TmAxis *ay, double w, double h) {
  gboolean pen = FALSE;
  for (guint i = 0; i < MIN(x->len, y->len); i++) {
    const double px = LEFT + tm_axis_place(ax, at(x, i)) * w, py = TOP + (1 - tm_axis_place(ay, at(y, i))) * h;
    if (!isfinite(px) || !isfinite(py)) {
      pen = FALSE;
      continue;
    }
    if (pen)
      cairo_line_to(cr, px, py);
    else
      cairo_move_to(cr, px, py);
    pen = TRUE;
  }
}

static void draw_axes(TmRangeSheet *s, cairo_t *cr, const TmAxis *ax, const TmAxis *ay, double w, double h) {
  const GdkRGBA dim = tm_ink_text(s->area, 0.74), grid = tm_ink_text(s->area, tm_ink_high_contrast() ? 0.5 : 0.12);
  double ticks[TM_AXIS_MAX_TICKS];
  guint n = tm_axis_ticks(ay, (guint)MAX(h / 40, 3), ticks);
  cairo_set_line_width(cr, 1);
  for (guint i = 0; i < n; i++) {
    const double y = floor(TOP + (1 - tm_axis_place(ay, ticks[i])) * h) + 0.5;
    g_autofree char *label = tm_axis_label(ay, ticks[i], n > 1 ? ticks[1] - ticks[0] : 1);
    tm_ink_set(cr, &grid, 1);
    cairo_move_to(cr, LEFT, y);
    cairo_line_to(cr, LEFT + w, y);
    cairo_stroke(cr);
    text(s, cr, LEFT - 7, y, 2, label, &dim);
  }
  for (double decade = 1e-6; decade <= 1.0001; decade *= 10) {
    const double x = LEFT + tm_axis_place(ax, decade) * w;
    if (!isfinite(x) || x < LEFT - 1 || x > LEFT + w + 1) continue;
    g_autofree char *label = tm_axis_label(ax, decade, decade);
    text(s, cr, x, TOP + h + 10, 1, label, &dim);
  }
  text(s, cr, LEFT + w / 2, TOP + h + 25, 1, _("learning rate"), &dim);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer user) {
  (void)area;
  TmRangeSheet *s = user;
  const double w = width - LEFT - RIGHT, h = height - TOP - BOTTOM;
  if (w < 40 || h < 40) return;
  const TmAxis ax = {1e-6, 1, TRUE}, ay = loss_axis(s);
  const GdkRGBA ink = tm_ink(TM_INK_TRAINING), mark = tm_ink(TM_INK_LIVE);
  draw_axes(s, cr, &ax, &ay, w, h);
  cairo_save(cr);
  cairo_rectangle(cr, LEFT, TOP, w, h);
  cairo_clip(cr);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  curve(cr, s->rate, s->loss, &ax, &ay, w, h);
  cairo_set_line_width(cr, s->smooth->len ? 1 : 1.5);
  tm_ink_set(cr, &ink, s->smooth->len ? 0.35 : 1);
  cairo_stroke(cr);
  curve(cr, s->rate, s->smooth, &ax, &ay, w, h);
  cairo_set_line_width(cr, 2);
  tm_ink_set(cr, &ink, 1);
  cairo_stroke(cr);
  if (isfinite(s->suggested)) {
    const double x = floor(LEFT + tm_axis_place(&ax, s->suggested) * w) + 0.5;
    cairo_set_dash(cr, (double[]){3, 3}, 2, 0);
    cairo_move_to(cr, x, TOP);
    cairo_line_to(cr, x, TOP + h);
    tm_ink_set(cr, &mark, 1);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
  }
  cairo_restore(cr);
}

static void use_clicked(TmRangeSheet *s) { g_signal_emit(s, signals[USE], 0, s->suggested); }
static void close_clicked(TmRangeSheet *s) { g_signal_emit(s, signals[CLOSED], 0); }

static void dispose(GObject *o) {
  TmRangeSheet *s = TM_RANGE_SHEET(o);
  g_clear_pointer(&s->rate, g_array_unref);
  g_clear_pointer(&s->loss, g_array_unref);
  g_clear_pointer(&s->smooth, g_array_unref);
  G_OBJECT_CLASS(tm_range_sheet_parent_class)->dispose(o);
}

static void tm_range_sheet_class_init(TmRangeSheetClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[USE] = g_signal_new("use", TM_TYPE_RANGE_SHEET, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  signals[CLOSED] = g_signal_new("closed", TM_TYPE_RANGE_SHEET, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_range_sheet_init(TmRangeSheet *s) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(s), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(s), 8);
  s->suggested = NAN;
  s->rate = g_array_new(FALSE, FALSE, sizeof(double));
  s->loss = g_array_new(FALSE, FALSE, sizeof(double));
  s->smooth = g_array_new(FALSE, FALSE, sizeof(double));
  s->words = gtk_label_new(NULL);
  gtk_label_set_wrap(GTK_LABEL(s->words), TRUE);
  gtk_label_set_xalign(GTK_LABEL(s->words), 0);
  s->area = gtk_drawing_area_new();
  gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(s->area), draw, s, NULL);
  gtk_widget_set_vexpand(s->area, TRUE);
  gtk_widget_set_size_request(s->area, 200, 160);
  gtk_widget_add_css_class(s->area, "tm-tiny");
  tm_ink_watch(s->area);
  GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_set_halign(buttons, GTK_ALIGN_END);
  s->close = gtk_button_new_with_label(_("Cancel"));
  s->use = gtk_button_new_with_label(_("Use"));
  gtk_widget_add_css_class(s->use, "suggested-action");
  gtk_box_append(GTK_BOX(buttons), s->close);
  gtk_box_append(GTK_BOX(buttons), s->use);
  gtk_box_append(GTK_BOX(s), s->words);
  gtk_box_append(GTK_BOX(s), s->area);
  gtk_box_append(GTK_BOX(s), buttons);
  g_signal_connect_swapped(s->use, "clicked", G_CALLBACK(use_clicked), s);
  g_signal_connect_swapped(s->close, "clicked", G_CALLBACK(close_clicked), s);
}

GtkWidget *tm_range_sheet_new(void) {
  return g_object_new(TM_TYPE_RANGE_SHEET, NULL);
}

void tm_range_sheet_begin(TmRangeSheet *s, const char *words) {
  tm_range_sheet_set_points(s, NULL, NULL, NULL, 0, 0);
  s->suggested = NAN;
  gtk_label_set_label(GTK_LABEL(s->words), words);
  gtk_button_set_label(GTK_BUTTON(s->close), _("Cancel"));
  gtk_widget_set_visible(s->use, FALSE);
}

static void put(GArray *a, const double *values, guint n) {
  g_array_set_size(a, 0);
  if (values && n) g_array_append_vals(a, values, n);
}

void tm_range_sheet_set_points(TmRangeSheet *s, const double *rate, const double *loss, const double *smooth, guint n, guint total) {
  put(s->rate, rate, n);
  put(s->loss, loss, n);
  put(s->smooth, smooth, n);
  g_autofree char *words = g_strdup_printf(_("Trying rates from small to large: step %u of %u"), n, total);
  if (total) gtk_label_set_label(GTK_LABEL(s->words), words);
  g_autofree char *told = n ? g_strdup_printf(_("At a rate of %.2g the loss is %.3g"), rate[n - 1], loss[n - 1]) : g_strdup("");
  gtk_accessible_update_property(GTK_ACCESSIBLE(s->area), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Loss against learning rate"),
                                 GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, told, -1);
  gtk_widget_queue_draw(s->area);
}

void tm_range_sheet_end(TmRangeSheet *s, double suggested, const char *reason) {
  s->suggested = suggested;
  g_autofree char *label = g_strdup_printf(_("Use %.2g"), suggested),
                  *words = isnan(suggested)
                               ? g_strdup(reason ? reason : _("There is no rate to suggest."))
                               : g_strdup_printf(_("The loss falls most steeply at a rate of %.2g, well below where it is lost."), suggested);
  gtk_label_set_label(GTK_LABEL(s->words), words);
  gtk_button_set_label(GTK_BUTTON(s->use), label);
  gtk_button_set_label(GTK_BUTTON(s->close), isnan(suggested) ? _("Close") : _("Cancel"));
  gtk_widget_set_visible(s->use, !isnan(suggested));
  gtk_widget_queue_draw(s->area);
}
