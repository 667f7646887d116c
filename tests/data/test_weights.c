/* Class weights against figures worked out by hand. */
#include <math.h>

#include "engine/core/error.h"
#include "engine/data/scan.h"

/* 1000 pixels in all, 100 of them void: shares 0.6, 0.2, 0.09, 0.01. */
static void fill(TmScan *s) {
  guint64 *p = s->pixels[TM_SPLIT_TRAIN];
  p[0] = 600;
  p[1] = 200;
  p[2] = 90;
  p[3] = 10;
  p[TM_MAX_CLASSES] = 100;
}

static TmClassTable *table(guint n) {
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  for (guint i = 0; i < n; i++) tm_class_table_add(t, "x", 0, (gint32)i);
  return t;
}

static void expect(const char *rule, const double *want, guint n) {
  TmScan s = {0};
  fill(&s);
  g_autoptr(TmClassTable) t = table(n);
  float w[8];
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_scan_weights(&s, t, rule, w, &e));
  g_assert_no_error(e);
  for (guint i = 0; i < n; i++) g_assert_cmpfloat_with_epsilon(w[i], want[i], 1e-6);
}

static void test_none(void) {
  expect("none", (const double[]){1, 1, 1, 1}, 4);
}

/* Median of 0.6, 0.2, 0.09, 0.01 is 0.145. */
static void test_median(void) {
  expect("median", (const double[]){0.145 / 0.6, 0.145 / 0.2, 0.145 / 0.09, 14.5}, 4);
}

/* 0.145/0.6 = 0.2417 stays, 14.5 is cut to 5. */
static void test_sqrt(void) {
  expect("sqrt", (const double[]){sqrt(0.145 / 0.6), sqrt(0.145 / 0.2), sqrt(0.145 / 0.09), sqrt(5)}, 4);
}

static void test_log(void) {
  expect("log", (const double[]){1 / log(1.7), 1 / log(1.3), 1 / log(1.19), 1 / log(1.11)}, 4);
}

/* A fifth class without pixels gets 0 and does not move the median. */
static void test_absent(void) {
  expect("median", (const double[]){0.145 / 0.6, 0.145 / 0.2, 0.145 / 0.09, 14.5, 0}, 5);
  expect("sqrt", (const double[]){sqrt(0.145 / 0.6), sqrt(0.145 / 0.2), sqrt(0.145 / 0.09), sqrt(5), 0}, 5);
}

static void test_errors(void) {
  TmScan s = {0};
  g_autoptr(TmClassTable) t = table(3);
  float w[3];
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_scan_weights(&s, t, "sqrt", w, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_clear_error(&e);
  fill(&s);
  g_assert_false(tm_scan_weights(&s, t, "cube", w, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/data/weights/none", test_none);
  g_test_add_func("/data/weights/median", test_median);
  g_test_add_func("/data/weights/sqrt", test_sqrt);
  g_test_add_func("/data/weights/log", test_log);
  g_test_add_func("/data/weights/absent", test_absent);
  g_test_add_func("/data/weights/errors", test_errors);
  return g_test_run();
}
