#include <glib.h>
#include <math.h>

#include "ui/series.h"

static TmSeries *random_series(GRand *r, guint n) {
  TmSeries *s = tm_series_new();
  for (guint i = 0; i < n; i++) {
    double v = g_rand_double_range(r, -1, 3);
    guint dice = (guint)g_rand_int_range(r, 0, 50);
    if (dice == 0) v = NAN;
    if (dice == 1) v = INFINITY;
    if (dice == 2) v = 0;
    tm_series_add(s, i * 2.0, i * 0.1, i * 0.01, v);
  }
  return s;
}

static void naive(const TmSeries *s, guint from, guint to, TmSpread *d) {
  *d = (TmSpread){.lo = INFINITY, .hi = -INFINITY, .low_positive = INFINITY};
  for (guint i = from; i < to; i++) {
    float v = (float)tm_series_y(s, i);
    d->n++;
    if (!isfinite(v)) {
      d->bad++;
      continue;
    }
    d->lo = MIN(d->lo, v);
    d->hi = MAX(d->hi, v);
    if (v <= 0)
      d->low++;
    else
      d->low_positive = MIN(d->low_positive, v);
  }
}

static void assert_same(const TmSpread *a, const TmSpread *b) {
  g_assert_cmpfloat(a->lo, ==, b->lo);
  g_assert_cmpfloat(a->hi, ==, b->hi);
  g_assert_cmpfloat(a->low_positive, ==, b->low_positive);
  g_assert_cmpuint(a->n, ==, b->n);
  g_assert_cmpuint(a->bad, ==, b->bad);
  g_assert_cmpuint(a->low, ==, b->low);
}

static void test_spread(void) {
  g_autoptr(GRand) r = g_rand_new_with_seed(1);
  g_autoptr(TmSeries) s = random_series(r, 9000);
  for (int k = 0; k < 400; k++) {
    guint a = (guint)g_rand_int_range(r, 0, 9001), b = (guint)g_rand_int_range(r, 0, 9001);
    TmSpread fast, slow;
    tm_series_spread(s, MIN(a, b), MAX(a, b), &fast);
    naive(s, MIN(a, b), MAX(a, b), &slow);
    assert_same(&fast, &slow);
  }
}

static void test_columns(void) {
  g_autoptr(GRand) r = g_rand_new_with_seed(2);
  g_autoptr(TmSeries) s = random_series(r, 5000);
  enum { N = 97 };
  TmColumn c[N];
  tm_series_columns(s, TM_UNIT_STEPS, 100, 7000, N, c);
  guint from = tm_series_find(s, TM_UNIT_STEPS, 100), all = 0;
  for (guint i = 0; i < N; i++) {
    TmSpread slow;
    naive(s, from, from + c[i].spread.n, &slow);
    assert_same(&c[i].spread, &slow);
    from += c[i].spread.n;
    all += c[i].spread.n;
  }
  g_assert_cmpuint(all, ==, (7000 - 100) / 2 + 1); /* every point in range, once, edges included */
}

/* One spike in a million points stays in its column, and a frame's worth of columns costs little. */
static void test_million(void) {
  g_autoptr(TmSeries) s = tm_series_new();
  for (guint i = 0; i < 1000000; i++) tm_series_add(s, i, i / 1000.0, i / 600.0, i == 654321 ? 99 : 0.5);
  enum { N = 400 };
  TmColumn c[N];
  gint64 begin = g_get_monotonic_time();
  for (int k = 0; k < 100; k++) tm_series_columns(s, TM_UNIT_STEPS, 0, 1e6, N, c);
  double each = (double)(g_get_monotonic_time() - begin) / 100;
  g_test_message("400 columns of 1,000,000 points: %.0f microseconds", each);
  g_assert_cmpfloat(each, <, 16000);
  guint spikes = 0;
  for (int i = 0; i < N; i++) spikes += c[i].spread.hi == 99;
  g_assert_cmpuint(spikes, ==, 1);
  g_assert_cmpfloat(c[654321 / 2500].spread.hi, ==, 99);
}

static void test_smooth_constant(void) {
  g_autoptr(TmSeries) in = tm_series_new(), out = tm_series_new();
  for (guint i = 0; i < 1000; i++) tm_series_add(in, i, i, i, 1e-4);
  for (double amount = 0; amount < 1; amount += 0.15) {
    tm_series_smooth(out, in, amount);
    TmSpread d;
    tm_series_spread(out, 0, 1000, &d);
    g_assert_cmpfloat(d.lo, ==, 1e-4f);
    g_assert_cmpfloat(d.hi, ==, 1e-4f);
  }
}

static void test_smooth_goes_on(void) {
  g_autoptr(GRand) r = g_rand_new_with_seed(3);
  g_autoptr(TmSeries) all = random_series(r, 500), grown = tm_series_new(), a = tm_series_new(),
                      b = tm_series_new();
  for (guint i = 0; i < 500; i++) {
    tm_series_add(grown, tm_series_x(all, TM_UNIT_STEPS, i), 0, 0, tm_series_y(all, i));
    if (i % 37 == 0) tm_series_smooth(a, grown, 0.9);
  }
  tm_series_smooth(a, grown, 0.9);
  tm_series_smooth(b, all, 0.9);
  g_assert_cmpuint(tm_series_n(a), ==, 500);
  for (guint i = 0; i < 500; i++) {
    if (isfinite(tm_series_y(all, i)))
      g_assert_cmpfloat(tm_series_y(a, i), ==, tm_series_y(b, i));
    else
      g_assert_false(isfinite(tm_series_y(a, i))); /* a gap stays a gap */
  }
  tm_series_smooth(a, grown, 0);
  for (guint i = 0; i < 500; i++)
    if (isfinite(tm_series_y(all, i)))
      g_assert_cmpfloat_with_epsilon(tm_series_y(a, i), tm_series_y(all, i), 1e-6);
}

/* A resumed run writes steps again: what stood there is replaced, x never goes back. */
static void test_resume_replaces(void) {
  g_autoptr(TmSeries) s = tm_series_new(), out = tm_series_new();
  for (guint i = 0; i < 150; i++) tm_series_add(s, i, i / 10.0, i, 1);
  tm_series_smooth(out, s, 0.5);
  for (guint i = 101; i < 200; i++) tm_series_add(s, i, i / 10.0, i, 2);
  tm_series_smooth(out, s, 0.5);
  g_assert_cmpuint(tm_series_n(s), ==, 200);
  g_assert_cmpuint(tm_series_n(out), ==, 200);
  for (guint i = 1; i < 200; i++)
    g_assert_cmpfloat(tm_series_x(s, TM_UNIT_STEPS, i), >, tm_series_x(s, TM_UNIT_STEPS, i - 1));
  TmSpread d;
  tm_series_spread(s, 0, 200, &d);
  TmSpread slow;
  naive(s, 0, 200, &slow);
  assert_same(&d, &slow);
  g_assert_cmpfloat(tm_series_y(out, 199), >, 1.99);
}

static void test_nearest(void) {
  g_autoptr(TmSeries) s = tm_series_new();
  g_assert_cmpuint(tm_series_nearest(s, TM_UNIT_STEPS, 3), ==, G_MAXUINT);
  const double y[] = {NAN, 1, NAN, NAN, 4, INFINITY};
  for (guint i = 0; i < G_N_ELEMENTS(y); i++) tm_series_add(s, i, i, i, y[i]);
  g_assert_cmpuint(tm_series_nearest(s, TM_UNIT_STEPS, -5), ==, 1);
  g_assert_cmpuint(tm_series_nearest(s, TM_UNIT_STEPS, 2.4), ==, 1);
  g_assert_cmpuint(tm_series_nearest(s, TM_UNIT_STEPS, 2.6), ==, 4);
  g_assert_cmpuint(tm_series_nearest(s, TM_UNIT_STEPS, 50), ==, 4);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/series/spread", test_spread);
  g_test_add_func("/ui/series/columns", test_columns);
  g_test_add_func("/ui/series/million-points", test_million);
  g_test_add_func("/ui/series/smooth-constant", test_smooth_constant);
  g_test_add_func("/ui/series/smooth-goes-on", test_smooth_goes_on);
  g_test_add_func("/ui/series/resume-replaces", test_resume_replaces);
  g_test_add_func("/ui/series/nearest", test_nearest);
  return g_test_run();
}
