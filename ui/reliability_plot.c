#include "ui/reliability_plot.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/draw_text.h"
#include "ui/ink.h"

enum { LEFT = 30, BOTTOM = 36, TOP = 8, RIGHT = 8 };

struct _TmReliabilityPlot {
  GtkWidget parent;
  gboolean has;
  TmReliabilityBin bins[TM_RELIABILITY_BINS];
};

G_DEFINE_FINAL_TYPE(TmReliabilityPlot, tm_reliability_plot, GTK_TYPE_WIDGET)

typedef struct {
  double x, y, w, h;
} Area;

static void draw_axes(GtkWidget *w, cairo_t *cr, const Area *a) {
  GdkRGBA text = tm_ink_text(w, 1), dim = tm_ink_text(w, 0.74);
  cairo_set_line_width(cr, 1);
  for (int i = 0; i <= 4; i++) {
    g_autofree char *label = g_strdup_printf("%d", i * 25);
    const double x = floor(a->x + a->w * i / 4) + 0.5, y = floor(a->y + a->h * (1 - i / 4.0)) + 0.5;
    tm_ink_set(cr, &text, tm_ink_high_contrast() ? 0.5 : 0.1);
    cairo_move_to(cr, a->x, y);
    cairo_line_to(cr, a->x + a->w, y);
    cairo_stroke(cr);
    tm_text_draw(w, cr, label, a->x - 6, y, TM_TEXT_TINY, TM_TEXT_RIGHT, 0, &dim);
    tm_text_draw(w, cr, label, x, a->y + a->h + 10, TM_TEXT_TINY, i == 4 ? TM_TEXT_RIGHT : i ? TM_TEXT_CENTRE : 0, 0,
                 &dim);
  }
  tm_text_draw(w, cr, _("sureness in %, right in % upwards"), a->x + a->w / 2, a->y + a->h + 26, TM_TEXT_TINY,
               TM_TEXT_CENTRE, (int)a->w, &dim);
}

static void draw_bin(cairo_t *cr, const Area *a, guint i, const TmReliabilityBin *b) {
  if (!b->pixels) return;
  const double n = (double)b->pixels, right = (double)b->right / n, sure = b->sure / n,
               x = a->x + a->w * i / TM_RELIABILITY_BINS, w = a->w / TM_RELIABILITY_BINS;
  GdkRGBA bar = tm_ink(TM_INK_TRAINING), gap = tm_ink(right < sure ? TM_INK_WARNING : TM_INK_GOOD);
  tm_ink_set(cr, &bar, 0.75);
  cairo_rectangle(cr, x + 1, a->y + a->h * (1 - right), w - 2, a->h * right);
  cairo_fill(cr);
  const double low = MIN(right, sure), high = MAX(right, sure);
  tm_ink_set(cr, &gap, 0.35);
  cairo_rectangle(cr, x + 1, a->y + a->h * (1 - high), w - 2, a->h * (high - low));
  cairo_fill_preserve(cr);
  tm_ink_set(cr, &gap, 1);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmReliabilityPlot *p = TM_RELIABILITY_PLOT(w);
  const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  const Area a = {LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM};
  if (a.w < 20 || a.h < 20) return;
  cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
  draw_axes(w, cr, &a);
  for (guint i = 0; p->has && i < TM_RELIABILITY_BINS; i++) draw_bin(cr, &a, i, &p->bins[i]);
  GdkRGBA text = tm_ink_text(w, 0.74);
  const double dash[] = {4, 3};
  tm_ink_set(cr, &text, 1);
  cairo_set_dash(cr, dash, 2, 0);
  cairo_set_line_width(cr, 1.2);
  cairo_move_to(cr, a.x, a.y + a.h);
  cairo_line_to(cr, a.x + a.w, a.y);
  cairo_stroke(cr);
  cairo_destroy(cr);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base, int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 180 : 150;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 320 : 200;
  *min_base = *nat_base = -1;
}

static void tm_reliability_plot_class_init(TmReliabilityPlotClass *c) {
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
}

static void tm_reliability_plot_init(TmReliabilityPlot *p) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(p), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Calibration"), -1);
  tm_ink_watch(GTK_WIDGET(p));
}

GtkWidget *tm_reliability_plot_new(void) {
  return g_object_new(TM_TYPE_RELIABILITY_PLOT, NULL);
}

/* "Where it is 97 percent sure, 95 percent are right; …" of the bins that hold a hundredth of the pixels. */
static char *describe(TmReliabilityPlot *p) {
  guint64 all = 0;
  GString *s = g_string_new(NULL);
  for (guint i = 0; i < TM_RELIABILITY_BINS; i++) all += p->bins[i].pixels;
  for (guint i = 0; p->has && i < TM_RELIABILITY_BINS; i++) {
    const TmReliabilityBin *b = &p->bins[i];
    if (!b->pixels || b->pixels * 100 < all) continue;
    g_string_append_printf(s, _("%s%.0f percent sure, %.0f percent right"), s->len ? "; " : "",
                           100 * b->sure / (double)b->pixels, 100 * (double)b->right / (double)b->pixels);
  }
  return g_string_free(s, FALSE);
}

void tm_reliability_plot_set(TmReliabilityPlot *p, const TmReliabilityBin *bins) {
  p->has = bins != NULL;
  if (bins) memcpy(p->bins, bins, sizeof p->bins);
  g_autofree char *text = p->has ? describe(p) : g_strdup("");
  gtk_accessible_update_property(GTK_ACCESSIBLE(p), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  gtk_widget_queue_draw(GTK_WIDGET(p));
}
