/* The whole trainer on the cuda backend, on the host: the module is loaded as the program loads it
 * (TARMAC_MODULES names its folder). Loss by loss it goes with ref's run, and a second run gives the same
 * bits. */
#include <math.h>
#include <string.h>

#include "tests/train/fixture.h"

enum { STEPS = 12, EPOCH = 4 };

typedef struct {
  double losses[STEPS];
} Course;

static void run(const char *backend, const char *precision, Course *out) {
  g_autoptr(GError) error = NULL;
  TmSettings settings;
  fixture_settings(&settings);
  settings.base = 4;
  settings.epochs = STEPS / EPOCH;
  g_assert_true(tm_settings_set(&settings, "backend", backend, NULL) &&
                tm_settings_set(&settings, "precision", precision, NULL));
  TmDataset *data = fixture_roads(4 * EPOCH, 2, 37, 26);
  char *folder = fixture_folder();
  TmSession *s = fixture_session(data, &settings, folder, FALSE);
  g_assert_cmpstr(s->backend->api->name, ==, backend);
  for (int i = 0; i < STEPS; i++) {
    TmStepResult r;
    g_assert_true(tm_session_step(s, &r, &error));
    g_assert_no_error(error);
    g_assert_false(r.skipped);
    out->losses[i] = r.loss;
    if (s->at.step == s->steps) s->at.epoch++, s->at.step = 0;
  }
  g_auto(TmScore) score = {0};
  g_assert_true(tm_session_validate(s, &score, &error));
  g_assert_no_error(error);
  tm_session_close(s);
  fixture_remove(folder);
  tm_dataset_unref(data);
}

static void test_as_ref(gconstpointer data) {
  const char *precision = data;
  const double bound = strcmp(precision, "f32") == 0 ? 1e-4 : 0.02;
  Course right, got;
  run("ref", precision, &right);
  run("cuda", precision, &got);
  g_test_message("loss %.5f to %.5f, on ref %.5f to %.5f", got.losses[0], got.losses[STEPS - 1],
                 right.losses[0], right.losses[STEPS - 1]);
  for (int i = 0; i < STEPS; i++)
    g_assert_cmpfloat(fabs(got.losses[i] - right.losses[i]), <=, bound * right.losses[i]);
  g_assert_cmpfloat(got.losses[STEPS - 1], <, got.losses[0]);
}

static void test_same_bits(void) {
  Course first, again;
  run("cuda", "bf16", &first);
  run("cuda", "bf16", &again);
  for (int i = 0; i < STEPS; i++) g_assert_true(first.losses[i] == again.losses[i]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/cuda-host/train/f32", "f32", test_as_ref);
  g_test_add_data_func("/cuda-host/train/bf16", "bf16", test_as_ref);
  g_test_add_func("/cuda-host/train/same-bits", test_same_bits);
  return g_test_run();
}
