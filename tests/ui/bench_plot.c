/* bench_plot.c: how long the curves take to draw: N points of loss and rate with a running mean, drawn whole, zoomed and with the cross.
 * Prints milliseconds; judges nothing. Run it with with_display.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ui/plot_private.h"

enum { W = 800, H = 480, REPEATS = 41 };

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void measure(TmPlot *p, const char *what, guint n) {
  double ms[REPEATS];
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, W, H);
  for (int i = 0; i < REPEATS; i++) {
    cairo_t *cr = cairo_create(surface);
    const gint64 begin = g_get_monotonic_time();
    tm_plot_draw(p, cr, W, H);
    ms[i] = (double)(g_get_monotonic_time() - begin) / 1e3;
    cairo_destroy(cr);
  }
  cairo_surface_destroy(surface);
  qsort(ms, REPEATS, sizeof *ms, ascending);
  printf("%8u points, %-12s median %6.2f ms, longest %6.2f ms\n", n, what, ms[REPEATS / 2], ms[REPEATS - 1]);
}

static void bench(guint n) {
  g_autoptr(TmSeries) raw = tm_series_new(), mean = tm_series_new(), rate = tm_series_new();
  const TmPlotStyle styles[] = {{.ink = TM_INK_TRAINING, .faint = TRUE},
                                {.name = "learning rate", .ink = TM_INK_RATE, .right = TRUE, .dash = {1.5, 3}},
                                {.name = "training", .ink = TM_INK_TRAINING}};
  g_autoptr(GRand) r = g_rand_new_with_seed(1);
  for (guint i = 0; i < n; i++) {
    const double x = i, y = 3 * exp(-3.0 * i / n) + 0.2 * g_rand_double(r) + (i == n / 3 ? 5 : 0);
    tm_series_add(raw, x, x / 1000, x / 60, i % 9973 == 7 ? NAN : y);
    tm_series_add(rate, x, x / 1000, x / 60, 1e-3 * (1 + cos(G_PI * i / n)));
  }
  const gint64 begin = g_get_monotonic_time();
  tm_series_smooth(mean, raw, 0.97);
  printf("%8u points, smoothed in %.1f ms\n", n, (double)(g_get_monotonic_time() - begin) / 1e3);
  TmPlot *p = g_object_ref_sink(tm_plot_new());
  tm_plot_add_pane(p, "Loss", "Rate", 1);
  tm_plot_add_series(p, raw, &styles[0]);
  tm_plot_add_series(p, rate, &styles[1]);
  tm_plot_add_series(p, mean, &styles[2]);
  tm_plot_set_log(p, TRUE);
  measure(p, "whole", n);
  tm_plot_zoom(p, n / 3000.0, n / 2900.0);
  measure(p, "zoomed", n);
  tm_plot_zoom(p, 0, 0);
  tm_plot_set_cross(p, n / 2000.0);
  measure(p, "with cross", n);
  g_object_unref(p);
}

int main(void) {
  gtk_init();
  bench(10000);
  bench(1000000);
  return 0;
}
