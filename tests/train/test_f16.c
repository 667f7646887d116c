/* f16 and the loss's scale, on ref. */
#include <math.h>
#include <string.h>

#include "fixture.h"

typedef struct {
  TmDataset *data;
  TmSettings settings;
  char *folder;
} Fixture;

static void set_up(Fixture *f, gconstpointer data) {
  (void)data;
  f->data = fixture_roads(16, 1, 32, 32);
  f->folder = fixture_folder();
  fixture_settings(&f->settings);
  g_assert_true(tm_settings_set(&f->settings, "precision", "f16", NULL));
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  fixture_remove(f->folder);
  tm_dataset_unref(f->data);
}

static TmStepResult step(TmSession *s) {
  TmStepResult r;
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_session_step(s, &r, &e));
  g_assert_no_error(e);
  return r;
}

static void test_overflow(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, f->folder, FALSE);
  const gsize n = s->params->n_value;
  g_assert_cmpfloat(s->at.loss_scale, ==, 65536);
  s->at.loss_scale = 0x1p60;
  s->at.good_steps = 5;
  g_autofree float *before = fixture_read(s, s->params->value, n);
  TmStepResult r = step(s);
  g_assert_true(r.skipped && r.overflow);
  g_assert_cmpfloat(r.loss_scale, ==, 0x1p60);
  g_assert_nonnull(strstr(r.why, "f16"));
  g_free(r.why);
  g_autofree float *after = fixture_read(s, s->params->value, n);
  fixture_same_bytes(before, after, n * sizeof *before);
  g_assert_cmpfloat(s->at.loss_scale, ==, 0x1p59);
  g_assert_cmpuint(s->at.good_steps, ==, 0);
  g_assert_cmpuint(s->at.updates, ==, 0);
  g_assert_cmpuint(s->at.skipped, ==, 1);
  g_assert_cmpuint(s->at.bad_row, ==, 0);
  s->at.loss_scale = 1024;
  r = step(s);
  g_assert_false(r.skipped);
  g_assert_cmpuint(s->at.good_steps, ==, 1);
}

static void test_grows(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, f->folder, FALSE);
  s->at.good_steps = TM_LOSS_SCALE_STEPS - 1;
  s->at.loss_scale = 512;
  TmStepResult r = step(s);
  g_assert_false(r.skipped);
  g_assert_cmpfloat(s->at.loss_scale, ==, 1024);
  g_assert_cmpuint(s->at.good_steps, ==, 0);
}

/* The scale goes out of the gradient again: neither its length nor the update depend on it. */
static void test_scale_cancels(Fixture *f, gconstpointer data) {
  (void)data;
  double norm[2];
  for (int i = 0; i < 2; i++) {
    g_autoptr(FixtureFolder) folder = fixture_folder();
    g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
    s->at.loss_scale = i ? 8192 : 1024;
    norm[i] = step(s).grad_norm;
  }
  g_assert_cmpfloat(norm[0], >, 0);
  g_assert_cmpfloat(fabs(norm[0] - norm[1]), <, 0.02 * norm[0]);
}

/* Gradients that stay infinite whatever the scale end in a row of bad steps, as in every precision. */
static void test_not_the_scale(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, f->folder, FALSE);
  g_autofree float *w = fixture_read(s, s->params->value, s->params->n_value);
  w[0] = NAN;
  fixture_write(s, s->params->value, w, s->params->n_value);
  TmStepResult r = step(s);
  g_assert_true(r.skipped);
  g_assert_false(r.overflow);
  g_free(r.why);
  g_assert_cmpuint(s->at.bad_row, ==, 1);
  g_assert_cmpfloat(s->at.loss_scale, ==, 65536);
}

static void test_resumes(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, f->folder, FALSE);
  s->at.loss_scale = 0x1p60;
  TmStepResult r = step(s);
  g_assert_true(r.overflow);
  g_free(r.why);
  s->at.loss_scale = 2048;
  g_assert_false(step(s).skipped);
  g_assert_true(tm_session_save_last(s, NULL));
  const double next = step(s).loss;
  const gsize n = s->params->n_value;
  g_autofree float *unbroken = fixture_read(s, s->params->value, n);
  tm_session_close(g_steal_pointer(&s));
  g_autoptr(TmSession) again = fixture_session(f->data, &f->settings, f->folder, TRUE);
  g_assert_cmpfloat(again->at.loss_scale, ==, 2048);
  g_assert_cmpuint(again->at.good_steps, ==, 1);
  g_assert_cmpfloat(step(again).loss, ==, next);
  g_autofree float *resumed = fixture_read(again, again->params->value, n);
  fixture_same_bytes(unbroken, resumed, n * sizeof *resumed);
}

static double trained(Fixture *f, const char *precision, double *first) {
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_assert_true(tm_settings_set(&f->settings, "precision", precision, NULL));
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  double loss = *first = step(s).loss;
  for (guint i = 1; i < 40; i++) {
    if (s->at.step == s->steps) {
      s->at.epoch++;
      s->at.step = 0;
    }
    TmStepResult r = step(s);
    g_free(r.why);
    if (!r.skipped) loss = r.loss;
  }
  g_assert_cmpuint(s->at.updates, >, 30);
  return loss;
}

static void test_learns_like_f32(Fixture *f, gconstpointer data) {
  (void)data;
  f->settings.base = 4;
  f->settings.epochs = 10;
  double first16, first32;
  const double f16 = trained(f, "f16", &first16), f32 = trained(f, "f32", &first32);
  g_assert_cmpfloat(fabs(first16 - first32), <, 0.01 * first32);
  g_assert_cmpfloat(f16, <, 0.8 * first16);
  g_assert_cmpfloat(fabs(f16 - f32), <, 0.1 * f32);
}

static void test_cpu_refuses(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_settings_set(&f->settings, "backend", "cpu", NULL));
  const TmSessionPlan plan = {.data = f->data, .settings = &f->settings, .run_dir = f->folder};
  g_assert_null(tm_session_open(&plan, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, "f16"));
}

#define ADD(name, function) g_test_add("/f16/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("overflow", test_overflow);
  ADD("grows", test_grows);
  ADD("scale cancels", test_scale_cancels);
  ADD("not the scale", test_not_the_scale);
  ADD("resumes", test_resumes);
  ADD("learns like f32", test_learns_like_f32);
  ADD("cpu refuses", test_cpu_refuses);
  return g_test_run();
}
