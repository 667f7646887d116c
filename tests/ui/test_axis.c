#include <glib.h>
#include <math.h>

#include "ui/axis.h"

static void check_ticks(const TmAxis *a, guint most) {
  double t[TM_AXIS_MAX_TICKS];
  guint n = tm_axis_ticks(a, most, t);
  g_assert_cmpuint(n, >=, 1);
  g_assert_cmpuint(n, <=, TM_AXIS_MAX_TICKS);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpfloat(t[i], >=, a->lo - 1e-9 * fabs(a->lo) - 1e-12);
    g_assert_cmpfloat(t[i], <=, a->hi * (1 + 1e-9) + 1e-9 * (a->hi - a->lo));
    if (i) g_assert_cmpfloat(t[i], >, t[i - 1]);
  }
  for (guint i = 1; i < n; i++) { /* neighbours read differently */
    g_autofree char *x = tm_axis_label(a, t[i - 1], t[1] - t[0]), *y = tm_axis_label(a, t[i], t[1] - t[0]);
    g_assert_cmpstr(x, !=, y);
  }
}

static void test_linear_ticks(void) {
  const double ranges[][2] = {{0, 1}, {0, 0.00043}, {-3, 7}, {2.34, 2.36}, {0, 1e6}, {1e-7, 3e-7}};
  for (guint i = 0; i < G_N_ELEMENTS(ranges); i++)
    for (guint most = 2; most < 12; most++) {
      TmAxis a;
      tm_axis_fit(&a, ranges[i][0], ranges[i][1], FALSE);
      check_ticks(&a, most);
    }
}

static void test_log_ticks(void) {
  const double ranges[][2] = {{0.3, 3}, {1e-8, 1e3}, {0.001, 0.002}, {2, 2.1}, {1e-300, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(ranges); i++)
    for (guint most = 2; most < 12; most++) {
      TmAxis a;
      tm_axis_fit(&a, ranges[i][0], ranges[i][1], TRUE);
      g_assert_true(a.log);
      check_ticks(&a, most);
    }
}

static void test_constant_is_padded(void) {
  const double values[] = {1e-4, 0, -2, 1e6, 1e-30};
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    TmAxis a;
    tm_axis_fit(&a, values[i], values[i], FALSE);
    g_assert_cmpfloat(a.hi, >, a.lo);
    double t = tm_axis_place(&a, values[i]);
    g_assert_cmpfloat(t, >=, 0);
    g_assert_cmpfloat(t, <=, 1);
    /* A wiggle of rounding size stays invisible: under a thousandth of the height. */
    g_assert_cmpfloat(fabs(tm_axis_place(&a, values[i] * (1 + 1e-7)) - t), <, 1e-3);
  }
  TmAxis a;
  tm_axis_fit(&a, 0.5, 0.5, TRUE);
  g_assert_cmpfloat_with_epsilon(tm_axis_place(&a, 0.5), 0.5, 1e-9);
}

static void test_nothing_to_fit(void) {
  for (int log = 0; log < 2; log++) {
    const double bad[][2] = {{INFINITY, -INFINITY}, {NAN, 1}, {0, INFINITY}, {2, 1}};
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
      TmAxis a;
      tm_axis_fit(&a, bad[i][0], bad[i][1], log);
      g_assert_true(isfinite(a.lo) && isfinite(a.hi) && a.lo < a.hi);
      g_assert_true(!log || a.lo > 0);
    }
  }
}

static void test_place_and_value(void) {
  for (int log = 0; log < 2; log++) {
    TmAxis a;
    tm_axis_fit(&a, 0.01, 5, log);
    for (double t = 0; t <= 1; t += 0.05)
      g_assert_cmpfloat_with_epsilon(tm_axis_place(&a, tm_axis_value(&a, t)), t, 1e-9);
  }
}

static void test_log_leaves_out_zero(void) {
  TmAxis a;
  tm_axis_fit(&a, 1e-4, 1, TRUE);
  g_assert_true(isnan(tm_axis_place(&a, 0)));
  g_assert_true(isnan(tm_axis_place(&a, -1)));
  g_assert_true(isnan(tm_axis_place(&a, NAN)));
  tm_axis_fit(&a, 0, 1, TRUE); /* a lowest value of zero still gives an axis */
  g_assert_cmpfloat(a.lo, >, 0);
}

static void test_labels(void) {
  const struct {
    double v, step;
    const char *text;
  } cases[] = {{0, 0.1, "0"}, {0.5, 0.5, "0.5"}, {0.0005, 0.0005, "0.0005"},
               {12, 2, "12"}, {2.5, 0.5, "2.5"}, {1e-9, 1e-9, "1e-09"}};
  TmAxis a = {0, 1, FALSE};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tm_axis_label(&a, cases[i].v, cases[i].step);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/axis/linear-ticks", test_linear_ticks);
  g_test_add_func("/ui/axis/log-ticks", test_log_ticks);
  g_test_add_func("/ui/axis/constant-is-padded", test_constant_is_padded);
  g_test_add_func("/ui/axis/nothing-to-fit", test_nothing_to_fit);
  g_test_add_func("/ui/axis/place-and-value", test_place_and_value);
  g_test_add_func("/ui/axis/log-leaves-out-zero", test_log_leaves_out_zero);
  g_test_add_func("/ui/axis/labels", test_labels);
  return g_test_run();
}
