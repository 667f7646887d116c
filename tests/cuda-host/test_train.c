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

static void run_in(const char *backend, const char *precision, int parts, Course *out) {
  g_autoptr(GError) error = NULL;
  TmSettings settings;
  fixture_settings(&settings);
  settings.base = 4;
  settings.epochs = STEPS / EPOCH;
  settings.accumulate = parts;
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

static void run(const char *backend, const char *precision, Course *out) {
  run_in(backend, precision, 1, out);
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

/* Rounded more than f32, and told apart from it; other engines do not have it and say so. */
static void test_tf32(void) {
  g_autoptr(GError) error = NULL;
  Course right, got;
  run("ref", "f32", &right);
  run("cuda", "tf32", &got);
  for (int i = 0; i < STEPS; i++)
    g_assert_cmpfloat(fabs(got.losses[i] - right.losses[i]), <=, 0.01 * right.losses[i]);
  TmSettings settings;
  TmBackendInfo info;
  TmDType precision;
  fixture_settings(&settings);
  g_assert_true(tm_settings_set(&settings, "precision", "tf32", NULL));
  g_assert_null(tm_session_device(&settings, &info, &precision, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(error->message, "tf32"));
}

/* A batch in parts goes by the functions that a step is else made of. */
static void test_parts(void) {
  Course right, got;
  run_in("ref", "f32", 2, &right);
  run_in("cuda", "f32", 2, &got);
  for (int i = 0; i < STEPS; i++)
    g_assert_cmpfloat(fabs(got.losses[i] - right.losses[i]), <=, 1e-4 * right.losses[i]);
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
  g_test_add_data_func("/cuda-host/train/f16", "f16", test_as_ref);
  g_test_add_func("/cuda-host/train/tf32", test_tf32);
  g_test_add_func("/cuda-host/train/parts", test_parts);
  g_test_add_func("/cuda-host/train/same-bits", test_same_bits);
  return g_test_run();
}
