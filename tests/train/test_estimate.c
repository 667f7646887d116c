/* What a run is said to take: against the session that is opened for it, never against the clock. */
#include <math.h>

#include <glib/gstdio.h>

#include "engine/train/estimate.h"
#include "fixture.h"

typedef struct {
  TmDataset *data;
  TmScan *scan;
  TmSettings settings;
} Fixture;

static void set_up(Fixture *f, gconstpointer backend) {
  g_autoptr(GError) e = NULL;
  f->data = fixture_roads(8, 3, 48, 32);
  f->scan = tm_scan_run(f->data, 1, NULL, NULL, &e);
  g_assert_no_error(e);
  fixture_settings(&f->settings);
  g_assert_true(tm_settings_set(&f->settings, "backend", backend, NULL));
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  tm_scan_free(f->scan);
  tm_dataset_unref(f->data);
}

static TmEstimate *estimate(Fixture *f) {
  g_autoptr(GError) e = NULL;
  TmEstimate *x = tm_estimate_new(f->data, f->scan, &f->settings, &e);
  g_assert_no_error(e);
  return x;
}

static void test_memory(Fixture *f, gconstpointer data) {
  (void)data;
  f->settings.ema = 0.9;
  g_autoptr(TmEstimate) e = estimate(f);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  g_assert_cmpuint(e->activations, ==, s->program->arena_bytes);
  g_assert_cmpint(e->precision, ==, s->precision);
  g_assert_cmpuint(e->steps, ==, s->steps);
  /* Tensors begin on multiples of 16 elements: these nets are mostly gaps. */
  const gsize arrays = tm_session_memory(s) - s->program->arena_bytes,
              gaps = s->params->list->len * 16 * 6 * 4;
  g_assert_cmpuint(e->weights, <=, arrays);
  g_assert_cmpuint(e->weights + gaps, >=, arrays);
  g_assert_cmpuint(e->memory, ==,
                   e->process + e->activations + e->weights + e->engine + e->validation + e->pictures +
                       e->checkpoint + e->resume);
  g_assert_cmpuint(e->process, >, 1 << 20);
}

static void test_layers(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmEstimate) e = estimate(f);
  static const char *const names[] = {"input",   "enc.0.0", "enc.0.3", "enc.1.0", "enc.1.3",
                                      "enc.2.0", "enc.2.3", "up.1",    "dec.1.0", "dec.1.3",
                                      "up.0",    "dec.0.0", "dec.0.3", "head",    "loss"};
  g_assert_cmpuint(e->n_layers, ==, G_N_ELEMENTS(names));
  gsize parameters = 0, stored = 0;
  double seconds = e->update_s;
  for (guint i = 0; i < e->n_layers; i++) {
    const TmEstimateLayer *l = &e->layers[i];
    g_assert_cmpstr(l->name, ==, names[i]);
    parameters += l->parameters;
    stored += l->stored;
    seconds += l->forward_s + l->backward_s;
    if (i == 0 || i + 1 == e->n_layers) continue;
    g_assert_cmpuint(l->parameters, >, 0);
    g_assert_cmpfloat(l->forward_s, >, 0);
    g_assert_cmpfloat(l->backward_s, >, 0);
    g_assert_cmpfloat(l->flops, >, 0);
  }
  g_assert_cmpfloat_with_epsilon(seconds, e->step_s, 1e-9 * seconds);
  g_assert_cmpuint(stored, <, e->activations);
  g_assert_cmpuint(stored, >, e->activations / 3);
  /* enc.0.0 gives 4 pictures of 2 channels: the convolution's result stays, the normalised one does not, but the skip's
   * does. */
  const gsize one = 4 * 2 * 48 * 32 * tm_dtype_size(e->precision);
  g_assert_cmpuint(e->layers[1].stored, >=, one);
  g_assert_cmpuint(e->layers[1].stored, <, 2 * one);
  g_assert_cmpuint(e->layers[2].stored, >=, 2 * one);
  g_autoptr(FixtureFolder) folder = fixture_folder();
  g_autoptr(TmSession) s = fixture_session(f->data, &f->settings, folder, FALSE);
  g_assert_cmpuint(parameters, ==, tm_params_count(s->params));
}

/* The second time nothing is measured: the same figures to the last bit. */
static void test_rates_are_kept(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmEstimate) a = estimate(f), b = estimate(f);
  if (a->rough || b->rough) {
    g_test_skip("other programs keep the processor too busy to be measured");
    return;
  }
  g_assert_cmpfloat(a->step_s, ==, b->step_s);
  g_assert_cmpfloat(a->epoch_s, ==, b->epoch_s);
  g_autofree char *path = g_build_filename(g_get_user_cache_dir(), "tarmac", "rates.ini", NULL);
  g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
}

static void test_larger_takes_more(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmEstimate) a = estimate(f);
  f->settings.batch = 8;
  g_autoptr(TmEstimate) b = estimate(f);
  g_assert_cmpuint(b->activations, >, a->activations * 3 / 2);
  g_assert_cmpuint(b->weights, ==, a->weights);
  g_assert_cmpuint(b->steps, ==, 1);
}

static void test_refuses(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) e = NULL;
  f->settings.crop = 8192;
  f->settings.batch = 1024;
  f->settings.base = 256;
  g_assert_null(tm_estimate_new(f->data, f->scan, &f->settings, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_NO_MEMORY);
}

int main(int argc, char **argv) {
  g_autoptr(FixtureFolder) cache = fixture_folder();
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  static const char *const backends[] = {"ref", "cpu"};
  for (guint i = 0; i < G_N_ELEMENTS(backends); i++) {
#define ADD(name, function)                                                                                  \
  {                                                                                                          \
    g_autofree char *path = g_strdup_printf("/estimate/%s/%s", backends[i], name);                           \
    g_test_add(path, Fixture, backends[i], set_up, function, tear_down);                                     \
  }
    ADD("memory", test_memory)
    ADD("layers", test_layers)
    ADD("rates are kept", test_rates_are_kept)
    ADD("larger takes more", test_larger_takes_more)
    ADD("refuses", test_refuses)
  }
  return g_test_run();
}
