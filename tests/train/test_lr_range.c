/* The learning-rate range test: the curve's judgement on made-up numbers, and the sweep on tiny roads. */
#include <math.h>
#include <string.h>

#include "engine/train/lr_range.h"
#include "fixture.h"

static const TmLrSweep wide = {.low = 1e-6, .high = 1, .steps = 100};

/* A loss of 3 that falls to 1 around the rate 1e-3 and grows without bound from 0.1 on. */
static double valley(double rate) {
  const double x = log10(rate) + 3;
  return 1 + 2 / (1 + exp(4 * x)) + 50 * rate * rate;
}

static void test_valley(void) {
  g_autoptr(TmLrRange) r = tm_lr_range_new();
  guint i = 0;
  while (i < wide.steps && tm_lr_range_add(r, tm_lr_sweep_rate(&wide, i), valley(tm_lr_sweep_rate(&wide, i))))
    i++;
  tm_lr_range_judge(r);
  g_assert_cmpfloat(r->diverged, >, 0.1);
  g_assert_cmpuint(r->n, <=, wide.steps);
  g_assert_cmpfloat(r->suggested, >, 3e-4);
  g_assert_cmpfloat(r->suggested, <, 3e-3);
  g_assert_null(r->reason);
}

/* The steepest fall right before the end: a tenth of where it ended is all that is suggested. */
static void test_cap(void) {
  g_autoptr(TmLrRange) r = tm_lr_range_new();
  guint i = 0;
  for (; i < 60; i++)
    g_assert_true(tm_lr_range_add(r, tm_lr_sweep_rate(&wide, i), i < 50 ? 3 : 3 - 0.2 * (i - 50)));
  const double end = tm_lr_sweep_rate(&wide, i);
  g_assert_false(tm_lr_range_add(r, end, NAN));
  tm_lr_range_judge(r);
  g_assert_cmpuint(r->n, ==, 60);
  g_assert_cmpfloat(r->diverged, ==, end);
  g_assert_cmpfloat(r->suggested, ==, end / 10);
}

static void test_never_fell(void) {
  g_autoptr(TmLrRange) r = tm_lr_range_new();
  for (guint i = 0; i < wide.steps; i++)
    g_assert_true(tm_lr_range_add(r, tm_lr_sweep_rate(&wide, i), 2 + 0.001 * (i % 3)));
  tm_lr_range_judge(r);
  g_assert_true(isnan(r->suggested));
  g_assert_true(isnan(r->diverged));
  g_assert_nonnull(strstr(r->reason, "never fell"));
}

static void test_gone_at_once(void) {
  const double ends[] = {NAN, INFINITY, -INFINITY, 13};
  for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
    g_autoptr(TmLrRange) r = tm_lr_range_new();
    g_assert_true(tm_lr_range_add(r, 1e-6, 1));
    g_assert_false(tm_lr_range_add(r, 2e-6, ends[i]));
    g_assert_cmpfloat(r->diverged, ==, 2e-6);
    tm_lr_range_judge(r);
    g_assert_true(isnan(r->suggested));
    g_assert_nonnull(r->reason);
  }
}

/* Falls, but is gone before the rate has grown tenfold. */
static void test_no_room(void) {
  const TmLrSweep w = {.low = 1, .high = 8, .steps = 20};
  g_autoptr(TmLrRange) r = tm_lr_range_new();
  for (guint i = 0; i < 20; i++) g_assert_true(tm_lr_range_add(r, tm_lr_sweep_rate(&w, i), 3 - 0.1 * i));
  g_assert_false(tm_lr_range_add(r, 9, NAN));
  tm_lr_range_judge(r);
  g_assert_true(isnan(r->suggested));
  g_assert_nonnull(strstr(r->reason, "lower"));
}

/* ---- with a net ---- */

typedef struct {
  guint calls, stop_at;
  gint cancel;
  double last;
} Seen;

static void see(guint done, guint total, double rate, double loss, double smooth, gpointer user) {
  Seen *s = user;
  g_assert_cmpuint(done, ==, ++s->calls);
  g_assert_cmpuint(done, <=, total);
  g_assert_cmpfloat(rate, >, s->last);
  g_assert_true(isfinite(loss) && isfinite(smooth));
  s->last = rate;
  if (done == s->stop_at) g_atomic_int_set(&s->cancel, 1);
}

static void settings_for(TmSettings *s, const char *backend) {
  fixture_settings(s);
  s->base = 4;
  s->ema = 0.9; /* plays no part, and must not be in the way */
  g_assert_true(tm_settings_set(s, "backend", backend, NULL));
}

static void test_net(gconstpointer backend) {
  if (strcmp(backend, "cpu") == 0 && !fixture_has_cpu()) {
    g_test_skip("the cpu backend cannot be used here");
    return;
  }
  g_autoptr(TmDataset) d = fixture_roads(6, 1, 32, 32);
  TmSettings s;
  settings_for(&s, backend);
  const TmLrSweep sweep = {.low = 1e-5, .high = 10, .steps = 60};
  Seen seen = {0};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmLrRange) r = tm_lr_range(d, NULL, &s, &sweep, &seen.cancel, see, &seen, &e);
  g_assert_no_error(e);
  g_assert_cmpuint(r->n, >, 20);
  g_assert_cmpfloat(r->rate[0], ==, 1e-5);
  g_assert_cmpfloat(r->suggested, >=, 1e-4);
  g_assert_cmpfloat(r->suggested, <=, 0.5);
  g_autoptr(TmLrRange) again = tm_lr_range(d, NULL, &s, &sweep, NULL, NULL, NULL, &e);
  g_assert_no_error(e);
  g_assert_cmpuint(again->n, ==, r->n);
  fixture_same_bytes(again->loss, r->loss, r->n * sizeof *r->loss);
  fixture_same_bytes(&again->suggested, &r->suggested, sizeof r->suggested);
}

/* Rates at which weights overflow: the numbers stop being finite, and the test ends there. */
static void test_overflow(void) {
  g_autoptr(TmDataset) d = fixture_roads(4, 1, 32, 32);
  TmSettings s;
  settings_for(&s, "ref");
  s.batch_norm = FALSE;
  const TmLrSweep sweep = {.low = 1e30, .high = 1e38, .steps = 10};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmLrRange) r = tm_lr_range(d, NULL, &s, &sweep, NULL, NULL, NULL, &e);
  g_assert_no_error(e);
  g_assert_cmpuint(r->n, <, 10);
  g_assert_true(isfinite(r->diverged));
  g_assert_true(isnan(r->suggested));
  g_assert_nonnull(r->reason);
}

static void test_cancel(void) {
  g_autoptr(TmDataset) d = fixture_roads(4, 1, 32, 32);
  TmSettings s;
  settings_for(&s, "ref");
  Seen seen = {.stop_at = 3};
  g_autoptr(GError) e = NULL;
  g_assert_null(tm_lr_range(d, NULL, &s, NULL, &seen.cancel, see, &seen, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_CANCELLED);
  g_assert_cmpuint(seen.calls, ==, 3);
}

static void test_refuses(void) {
  g_autoptr(TmDataset) d = fixture_roads(4, 1, 32, 32);
  TmSettings s;
  settings_for(&s, "ref");
  const TmLrSweep bad[] = {{1, 1, 50},        {-1, 1, 50},  {0, 1, 50},
                           {1, INFINITY, 50}, {1e-3, 1, 5}, {1e-3, 1, 10001}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) e = NULL;
    g_assert_null(tm_lr_range(d, NULL, &s, &bad[i], NULL, NULL, NULL, &e));
    g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/lr-range/valley", test_valley);
  g_test_add_func("/lr-range/cap", test_cap);
  g_test_add_func("/lr-range/never-fell", test_never_fell);
  g_test_add_func("/lr-range/gone-at-once", test_gone_at_once);
  g_test_add_func("/lr-range/no-room", test_no_room);
  g_test_add_data_func("/lr-range/net/ref", "ref", test_net);
  g_test_add_data_func("/lr-range/net/cpu", "cpu", test_net);
  g_test_add_func("/lr-range/overflow", test_overflow);
  g_test_add_func("/lr-range/cancel", test_cancel);
  g_test_add_func("/lr-range/refuses", test_refuses);
  return g_test_run();
}
