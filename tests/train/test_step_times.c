/* test_step_times.c: means over steps, and the sentence about them. */
#include <math.h>
#include <string.h>

#include "engine/train/step_times.h"

static void test_mean(void) {
  TmStepSum s = {0};
  TmStepTimes m = tm_step_sum_mean(&s);
  g_assert_true(isnan(m.step) && isnan(m.wait) && isnan(m.forward));
  tm_step_sum_add(&s, &(TmStepTimes){.step = 1, .wait = 0.5, .network = 0.4, .forward = 0.1});
  tm_step_sum_add(&s, &(TmStepTimes){.step = 3, .wait = 0.1, .network = 0.8, .forward = NAN});
  m = tm_step_sum_mean(&s);
  g_assert_cmpfloat_with_epsilon(m.step, 2, 1e-12);
  g_assert_cmpfloat_with_epsilon(m.wait, 0.3, 1e-12);
  g_assert_cmpfloat_with_epsilon(m.network, 0.6, 1e-12);
  g_assert_cmpfloat_with_epsilon(m.forward, 0.1, 1e-12); /* of the steps that told it */
}

static void expect(const TmStepTimes *t, gboolean warns, const char *in_strong, const char *in_rest) {
  g_autofree char *strong = NULL, *rest = NULL;
  g_assert_cmpint(tm_step_times_sentence(t, &strong, &rest), ==, warns);
  g_assert_nonnull(strstr(strong, in_strong));
  g_assert_nonnull(strstr(rest, in_rest));
  g_assert_null(strstr(strong, "nan"));
}

static void test_sentence(void) {
  TmStepTimes t = {
      .step = 0.1, .wait = 0.04, .network = 0.05, .update = 0.01, .decode = 0.03, .augment = 0.02};
  expect(&t, TRUE, "40 %", "40 ms");
  expect(&t, TRUE, "Loading", "Decoding");
  t.augment = 0.05;
  expect(&t, TRUE, "Loading", "Augmentation");
  t.wait = 0.001;
  expect(&t, FALSE, "network", "50 %");
  t.draw = 0.02;
  expect(&t, TRUE, "probe takes 20 %", "");
  t.step = NAN;
  expect(&t, FALSE, "being measured", "");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/step-times/mean", test_mean);
  g_test_add_func("/step-times/sentence", test_sentence);
  return g_test_run();
}
