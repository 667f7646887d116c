#include <adwaita.h>
#include <glib/gstdio.h>
#include <math.h>

#include "ui/plot_private.h"

enum { W = 420, H = 420 };

typedef struct {
  TmPlot *plot;
  TmSeries *raw, *val;
} Fixture;

static void set_up(Fixture *f, gconstpointer data) {
  (void)data;
  f->plot = g_object_ref_sink(tm_plot_new());
  f->raw = tm_series_new();
  f->val = tm_series_new();
  tm_plot_add_pane(f->plot, "Loss", "Rate", 0.6);
  tm_plot_add_pane(f->plot, "Mean IoU", NULL, 0.4);
  tm_plot_add_series(f->plot, f->raw,
                     &(TmPlotStyle){.name = "training", .ink = TM_INK_TRAINING, .faint = TRUE});
  tm_plot_add_series(
      f->plot, f->val,
      &(TmPlotStyle){
          .name = "mean IoU", .ink = TM_INK_VALIDATION, .pane = 1, .dots = TRUE, .end_value = TRUE});
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  g_object_unref(f->plot);
  tm_series_unref(f->raw);
  tm_series_unref(f->val);
}

static cairo_surface_t *render(TmPlot *p) {
  cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, W, H);
  cairo_t *cr = cairo_create(s);
  tm_plot_draw(p, cr, W, H);
  cairo_destroy(cr);
  cairo_surface_flush(s);
  return s;
}

/* Pixels of about this ink inside a pane, by row: how high the curve reaches and how low. */
static guint find_ink(cairo_surface_t *s, const graphene_rect_t *area, TmInk ink, double alpha, int *top,
                      int *bottom) {
  GdkRGBA c = tm_ink(ink);
  const guint8 *data = cairo_image_surface_get_data(s);
  int stride = cairo_image_surface_get_stride(s);
  guint n = 0;
  *top = H;
  *bottom = -1;
  for (int y = (int)area->origin.y - 2; y < (int)(area->origin.y + area->size.height) + 2; y++) {
    for (int x = (int)area->origin.x; x < (int)(area->origin.x + area->size.width); x++) {
      const guint32 p = ((const guint32 *)(const void *)(data + y * stride))[x];
      double a = (p >> 24) / 255.0;
      if (a < alpha * 0.5) continue;
      double r = (p >> 16 & 255) / 255.0 / a, g = (p >> 8 & 255) / 255.0 / a, b = (p & 255) / 255.0 / a;
      if (fabs(r - (double)c.red) + fabs(g - (double)c.green) + fabs(b - (double)c.blue) > 0.12) continue;
      n++;
      *top = MIN(*top, y);
      *bottom = MAX(*bottom, y);
    }
  }
  return n;
}

static void test_empty(Fixture *f, gconstpointer data) {
  (void)data;
  cairo_surface_destroy(render(f->plot));
  g_autofree char *text = tm_plot_describe(f->plot);
  g_assert_cmpstr(text, ==, "No values yet.");
}

static void test_constant_is_flat(Fixture *f, gconstpointer data) {
  (void)data;
  f->plot->curves[0].style.name = NULL; /* its label has the same ink */
  f->plot->curves[0].style.faint = FALSE;
  for (guint i = 0; i < 1000; i++) tm_series_add(f->raw, i, i / 100.0, i / 60.0, 1e-4);
  cairo_surface_t *s = render(f->plot);
  int top, bottom;
  g_assert_cmpuint(find_ink(s, &f->plot->panes[0].area, TM_INK_TRAINING, 0.3, &top, &bottom), >, 100);
  g_assert_cmpint(bottom - top, <=, 3);
  g_assert_cmpint(top, >, (int)f->plot->panes[0].area.origin.y + 5); /* padded: not at the rim */
  cairo_surface_destroy(s);
}

static void test_spike_is_drawn(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 1000000; i++) tm_series_add(f->raw, i, i / 1000.0, i / 600.0, i == 654321 ? 9 : 0.5);
  cairo_surface_destroy(render(f->plot)); /* fonts are loaded with the first one */
  gint64 begin = g_get_monotonic_time();
  cairo_surface_t *s = render(f->plot);
  double ms = (double)(g_get_monotonic_time() - begin) / 1e3;
  g_test_message("a frame of 1,000,000 points: %.1f ms", ms);
  g_assert_cmpfloat(ms, <, 100);
  int top, bottom;
  find_ink(s, &f->plot->panes[0].area, TM_INK_TRAINING, 0.2, &top, &bottom);
  g_assert_cmpint(bottom - top, >, (int)(f->plot->panes[0].area.size.height * 0.8f));
  cairo_surface_destroy(s);
}

/* Log on and off: zeros are left out and counted, and nothing of the data is lost. */
static void test_log(Fixture *f, gconstpointer data) {
  (void)data;
  tm_series_add(f->raw, 0, 0, 0, 0);
  for (guint i = 1; i < 50; i++) tm_series_add(f->raw, i, i, i, 1e-4 * i);
  tm_plot_set_log(f->plot, TRUE);
  cairo_surface_t *s = render(f->plot);
  g_assert_true(f->plot->panes[0].left.log);
  g_assert_cmpuint(f->plot->panes[0].low, ==, 1);
  g_assert_cmpfloat(f->plot->panes[0].left.lo, >, 1e-5);
  cairo_surface_destroy(s);
  tm_plot_set_log(f->plot, FALSE);
  cairo_surface_destroy(render(f->plot));
  g_assert_cmpfloat(f->plot->panes[0].left.lo, <=, 0);
  g_assert_cmpuint(tm_series_n(f->raw), ==, 50);
  g_assert_cmpfloat(tm_series_y(f->raw, 0), ==, 0);
}

static void test_not_a_number_is_marked(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 60; i++)
    tm_series_add(f->raw, i, i, i, i % 20 == 10 ? NAN : i % 20 == 15 ? INFINITY : 1 + i * 0.01);
  cairo_surface_t *s = render(f->plot);
  g_assert_cmpuint(f->plot->panes[0].bad, ==, 6);
  g_assert_true(isfinite(f->plot->panes[0].left.hi) && f->plot->panes[0].left.hi < 3);
  int top, bottom;
  g_assert_cmpuint(find_ink(s, &f->plot->panes[0].area, TM_INK_ERROR, 0.5, &top, &bottom), >, 20);
  cairo_surface_destroy(s);
}

static void test_all_not_a_number(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 5000; i++) tm_series_add(f->raw, i, i, i, NAN);
  for (int log = 0; log < 2; log++) {
    tm_plot_set_log(f->plot, log);
    cairo_surface_destroy(render(f->plot));
  }
  g_assert_cmpuint(f->plot->panes[0].bad, ==, 5000);
}

static double luminance(const GdkRGBA *c) {
  double v[3] = {(double)c->red, (double)c->green, (double)c->blue};
  for (int i = 0; i < 3; i++) v[i] = v[i] <= 0.03928 ? v[i] / 12.92 : pow((v[i] + 0.055) / 1.055, 2.4);
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
}

static double contrast(const GdkRGBA *a, const GdkRGBA *b) {
  double x = luminance(a), y = luminance(b);
  return (MAX(x, y) + 0.05) / (MIN(x, y) + 0.05);
}

/* Curves and words keep a contrast of 4.5:1 on the card, in both styles, and change with the style at once.
 */
static void test_dark(Fixture *f, gconstpointer data) {
  (void)data;
  AdwStyleManager *m = adw_style_manager_get_default();
  static const GdkRGBA cards[2] = {{1, 1, 1, 1}, {0.208f, 0.208f, 0.208f, 1}};
  GtkWidget *w = gtk_window_new();
  gtk_window_set_child(GTK_WINDOW(w), GTK_WIDGET(f->plot));
  gtk_window_present(GTK_WINDOW(w));
  for (guint i = 0; i < 30; i++) tm_series_add(f->raw, i, i, i, i);
  for (int dark = 0; dark < 2; dark++) {
    adw_style_manager_set_color_scheme(m, dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
    const TmInk inks[] = {TM_INK_TRAINING, TM_INK_VALIDATION, TM_INK_RATE, TM_INK_LIVE,
                          TM_INK_GOOD,     TM_INK_WARNING,    TM_INK_ERROR};
    for (guint i = 0; i < G_N_ELEMENTS(inks); i++) {
      GdkRGBA c = tm_ink(inks[i]);
      g_assert_cmpfloat(contrast(&c, &cards[dark]), >=, 4.5);
    }
    GdkRGBA text = tm_ink_text(GTK_WIDGET(f->plot), 1);
    gint64 end = g_get_monotonic_time() + 5 * G_USEC_PER_SEC;
    while ((luminance(&text) > 0.5) != dark &&
           g_get_monotonic_time() < end) { /* the theme arrives with a frame */
      g_main_context_iteration(NULL, FALSE);
      text = tm_ink_text(GTK_WIDGET(f->plot), 1);
    }
    g_assert_cmpint(luminance(&text) > 0.5, ==, dark);
    cairo_surface_t *s = render(f->plot);
    int top, bottom;
    g_assert_cmpuint(find_ink(s, &f->plot->panes[0].area, TM_INK_TRAINING, 0.3, &top, &bottom), >, 20);
    cairo_surface_destroy(s);
  }
  adw_style_manager_set_color_scheme(m, ADW_COLOR_SCHEME_DEFAULT);
  gtk_window_destroy(GTK_WINDOW(w));
}

static void test_zoom(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i <= 100; i++) tm_series_add(f->raw, i, i, i, i);
  cairo_surface_destroy(render(f->plot));
  g_assert_cmpfloat_with_epsilon(tm_plot_from_px(f->plot, tm_plot_to_px(f->plot, 50)), 50, 1e-6);
  tm_plot_zoom(f->plot, 20, 30);
  cairo_surface_destroy(render(f->plot));
  double x0, x1;
  tm_plot_get_range(f->plot, &x0, &x1);
  g_assert_cmpfloat(x0, ==, 20);
  g_assert_cmpfloat(f->plot->panes[0].left.lo, >, 17); /* the other axis follows */
  g_assert_cmpfloat(f->plot->panes[0].left.hi, <, 33);
  tm_plot_zoom(f->plot, 0, 0);
  tm_plot_get_range(f->plot, &x0, &x1);
  g_assert_cmpfloat(x1, >=, 100);
}

static void test_description(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 10; i++) tm_series_add(f->raw, i, i / 2.0, i, 2 - i * 0.1);
  tm_series_add(f->val, 3, 2, 3, 0.5);
  tm_series_add(f->val, 7, 4, 7, 0.617);
  tm_plot_set_ring(f->plot, 1, 7, "best so far, saved");
  g_autofree char *text = tm_plot_describe(f->plot);
  g_assert_cmpstr(text, ==, "epoch 4.50: training 1.10, mean IoU 0.617. Best Mean IoU 0.617 at epoch 4.");
  tm_plot_set_cross(f->plot, 1);
  g_autofree char *at = tm_plot_describe(f->plot);
  g_assert_true(g_str_has_prefix(at, "epoch 1.00: training 1.80, mean IoU 0.500"));
  cairo_surface_destroy(render(f->plot));
}

static void test_units(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 100; i++) tm_series_add(f->raw, i, i / 10.0, i / 60.0, 1);
  double want[TM_N_UNITS] = {9.9, 99, 99 / 60.0};
  for (int u = 0; u < TM_N_UNITS; u++) {
    tm_plot_set_unit(f->plot, (TmUnit)u);
    double x0, x1;
    tm_plot_get_range(f->plot, &x0, &x1);
    g_assert_cmpfloat(x1, >=, want[u]);
    g_assert_cmpfloat(x1, <, want[u] * 1.1);
    cairo_surface_destroy(render(f->plot));
  }
}

static void test_hidden(Fixture *f, gconstpointer data) {
  (void)data;
  for (guint i = 0; i < 5; i++) {
    tm_series_add(f->raw, i, i, i, 1);
    tm_series_add(f->val, i, i, i, 0.5);
  }
  tm_plot_set_shown(f->plot, 1, FALSE);
  tm_plot_set_title(f->plot, 1, "Another");
  int top, bottom;
  cairo_surface_t *s = render(f->plot);
  g_assert_cmpuint(find_ink(s, &f->plot->panes[1].area, TM_INK_VALIDATION, 1, &top, &bottom), ==, 0);
  cairo_surface_destroy(s);
  g_autofree char *words = tm_plot_describe(f->plot), *csv = tm_plot_csv(f->plot);
  g_assert_null(strstr(words, "mean IoU"));
  g_assert_null(strstr(csv, "mean IoU"));
  tm_plot_set_shown(f->plot, 1, TRUE);
  s = render(f->plot);
  g_assert_cmpuint(find_ink(s, &f->plot->panes[1].area, TM_INK_VALIDATION, 1, &top, &bottom), >, 0);
  cairo_surface_destroy(s);
}

static void test_files(Fixture *f, gconstpointer data) {
  (void)data;
  tm_series_add(f->raw, 0, 0, 0, 2.5);
  tm_series_add(f->raw, 1, 0.5, 0.25, NAN);
  tm_series_add(f->raw, 2, 1, 0.5, 1.5);
  g_autofree char *folder = g_dir_make_tmp("tarmac-plot-XXXXXX", NULL), *png = g_build_filename(folder, "c.png", NULL),
                  *svg = g_build_filename(folder, "c.svg", NULL), *why = NULL, *text = NULL, *csv = tm_plot_csv(f->plot);
  gsize size = 0;
  g_assert_cmpstr(csv, ==, "epoch,step,minutes,series,value\n0,0,0,\"training\",2.5\n0.5,1,0.25,\"training\",\n1,2,0.5,\"training\",1.5\n");
  g_assert_true(tm_plot_write(f->plot, png, TM_PLOT_PNG, &why));
  g_assert_true(g_file_get_contents(png, &text, &size, NULL));
  g_assert_cmpmem(text, 8, "\x89PNG\r\n\x1a\n", 8);
  g_clear_pointer(&text, g_free);
  g_assert_true(tm_plot_write(f->plot, svg, TM_PLOT_SVG, &why));
  g_assert_true(g_file_get_contents(svg, &text, &size, NULL));
  g_assert_nonnull(strstr(text, "<svg"));
  g_assert_cmpuint(size, >, 1000);
  g_assert_false(tm_plot_write(f->plot, "/nonexistent/c.png", TM_PLOT_PNG, &why));
  g_assert_nonnull(strstr(why, "/nonexistent/c.png"));
  g_clear_pointer(&why, g_free);
  g_assert_false(tm_plot_write(f->plot, "/nonexistent/c.svg", TM_PLOT_SVG, &why));
  g_assert_nonnull(why);
  g_unlink(png);
  g_unlink(svg);
  g_rmdir(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  adw_init();
#define ADD(name, func) g_test_add("/ui/plot/" name, Fixture, NULL, set_up, func, tear_down)
  ADD("empty", test_empty);
  ADD("constant-is-flat", test_constant_is_flat);
  ADD("spike-is-drawn", test_spike_is_drawn);
  ADD("log", test_log);
  ADD("not-a-number-is-marked", test_not_a_number_is_marked);
  ADD("all-not-a-number", test_all_not_a_number);
  ADD("dark", test_dark);
  ADD("zoom", test_zoom);
  ADD("description", test_description);
  ADD("units", test_units);
  ADD("hidden", test_hidden);
  ADD("files", test_files);
  return g_test_run();
}
