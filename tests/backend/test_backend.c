/* The functions of backend.h: what they check, and what each backend that is here does behind them. */
#include <math.h>
#include <string.h>

#include "engine/core/tensor.h"
#include "engine/program/program.h"

static TmBackend *open_named(const char *name) {
  g_autoptr(GError) error = NULL;
  TmBackend *b = tm_backend_open(name, &(TmBackendOptions){.threads = 2, .deterministic = TRUE}, &error);
  g_assert_no_error(error);
  g_assert_nonnull(b);
  return b;
}

/* ---- the registry ---- */

static void test_names(void) {
  gboolean ref = FALSE;
  for (const char *const *n = tm_backend_names(); *n; n++) {
    g_autoptr(GError) error = NULL;
    if (!tm_backend_available(*n, &error)) {
      g_assert_nonnull(error);
      g_assert_true(g_str_has_suffix(error->message, "."));
    }
    ref |= strcmp(*n, "ref") == 0;
  }
  g_assert_true(ref);
  g_assert_true(tm_backend_available("ref", NULL));
}

static void test_unknown_name(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_backend_open("abacus", NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(error->message, "abacus"));
  g_assert_nonnull(strstr(error->message, "ref")); /* the way out */
  g_assert_null(tm_backend_open("abacus", NULL, NULL));
  g_assert_false(tm_backend_available("", NULL));
  g_assert_false(tm_backend_available(NULL, NULL));
}

static void test_auto(void) {
  g_autoptr(TmBackend) a = tm_backend_open("auto", NULL, NULL), b = tm_backend_open(NULL, NULL, NULL);
  g_assert_nonnull(a);
  g_assert_true(b && a->api == b->api);
  for (const char *const *n = tm_backend_names(); strcmp(*n, a->api->name) != 0; n++)
    g_assert_false(tm_backend_available(*n, NULL));
}

/* ---- what the functions refuse ---- */

static gpointer use_elsewhere(gpointer data) {
  TmBackend *b = data;
  GError *error = NULL;
  g_assert_null(tm_backend_alloc(b, 64, &error));
  return error;
}

static void test_wrong_thread(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  g_autoptr(GError) error = g_thread_join(g_thread_new("elsewhere", use_elsewhere, b));
  g_assert_error(error, TM_ERROR, TM_ERROR_FAILED);
  g_assert_nonnull(strstr(error->message, "thread"));
}

static void expect_failure(gboolean ok, GError **error) {
  g_assert_false(ok);
  g_assert_error(*error, TM_ERROR, TM_ERROR_FAILED);
  g_clear_error(error);
}

static void test_nothing(void) {
  float x[4] = {0};
  double sum;
  GError *error = NULL;
  expect_failure(tm_backend_alloc(NULL, 4, &error) != NULL, &error);
  expect_failure(tm_backend_sum_squares(NULL, x, 4, &sum, &error), &error);
  tm_backend_close(NULL);
  tm_backend_release(NULL, NULL, 0);
}

static void test_bad_arguments(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  GError *error = NULL;
  float x[12] = {0};
  double sum;
  const TmView good = {.data = x, .dtype = TM_F32, .shape = TM_SHAPE(1, 3, 2, 2), .ld = 3};
  TmView narrow = good, empty = good, nowhere = good;
  narrow.ld = 2;
  empty.shape.h = 0;
  nowhere.data = NULL;
  const TmView *bad[] = {NULL, &narrow, &empty, &nowhere};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    expect_failure(tm_backend_write(b, bad[i], x, TM_F32, &error), &error);
    expect_failure(tm_backend_read(b, bad[i], x, TM_F32, &error), &error);
  }
  const TmUpdate updates[] = {
      {.n = 4, .w = x, .g = x, .m = x},                                        /* step 0 */
      {.n = 4, .w = x, .m = x, .step = 1},                                     /* no gradient */
      {.kind = TM_OPTIMIZER_ADAM, .n = 4, .w = x, .g = x, .m = x, .step = 1}}; /* no second moment */
  for (guint i = 0; i < G_N_ELEMENTS(updates); i++) {
    expect_failure(tm_backend_update(b, &updates[i], &error), &error);
  }
  expect_failure(tm_backend_write(b, &good, NULL, TM_F32, &error), &error);
  expect_failure(tm_backend_read(b, &good, NULL, TM_F32, &error), &error);
  expect_failure(tm_backend_update(b, NULL, &error), &error);
  expect_failure(tm_backend_sum_squares(b, NULL, 4, &sum, &error), &error);
  expect_failure(tm_backend_axpby(b, 1, NULL, 1, x, 4, &error), &error);
  g_assert_true(tm_backend_axpby(b, 1, NULL, 1, NULL, 0, NULL)); /* nothing to do is no mistake */
  g_assert_true(tm_backend_sum_squares(b, NULL, 0, &sum, NULL) && sum == 0);
  g_assert_true(tm_backend_update(b, &(TmUpdate){.step = 1}, NULL));
  g_assert_true(tm_backend_synchronize(b, NULL));
}

static void test_no_memory(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_backend_alloc(b, (gsize)1 << 60, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
  g_clear_error(&error);
  g_assert_null(tm_backend_alloc(b, G_MAXSIZE, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
}

/* ---- what the slots do ---- */

static void test_info(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  TmBackendInfo info;
  tm_backend_info(b, &info);
  g_assert_true(info.name && *info.name && info.detail && *info.detail);
  g_assert_cmpint(info.threads, >=, 1);
  tm_backend_info_clear(&info);
  tm_backend_info_clear(&info);
}

static void test_alloc(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  const gsize sizes[] = {1, 100, 5 << 20};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autoptr(GError) error = NULL;
    guint8 *p = tm_backend_alloc(b, sizes[i], &error);
    g_assert_no_error(error);
    g_assert_cmpuint(GPOINTER_TO_SIZE(p) % 64, ==, 0);
    const TmView v = {.data = p, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, 1, (int)sizes[i]), .ld = 1};
    g_autofree guint8 *host = g_malloc(sizes[i]);
    memset(host, 1, sizes[i]);
    g_assert_true(tm_backend_read(b, &v, host, TM_U8, &error));
    for (gsize k = 0; k < sizes[i]; k++) g_assert_cmpint(host[k], ==, 0);
    tm_backend_release(b, p, sizes[i]);
  }
}

/* A slice in a wider buffer is written and read without its neighbours, in every type. */
static void test_transfer(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  static const TmDType types[] = {TM_F32, TM_BF16, TM_F16, TM_U8, TM_I32};
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
    const gsize elem = tm_dtype_size(types[t]), bytes = 6 * 4 * elem;
    g_autoptr(GError) error = NULL;
    char *p = tm_backend_alloc(b, bytes, &error);
    g_assert_no_error(error);
    const TmView all = {.data = p, .dtype = types[t], .shape = TM_SHAPE(1, 4, 2, 3), .ld = 4};
    const TmView part = {.data = p + elem, .dtype = types[t], .shape = TM_SHAPE(1, 2, 2, 3), .ld = 4};
    float back[24];
    g_assert_true(tm_backend_write(b, &part, values, TM_F32, &error));
    g_assert_true(tm_backend_read(b, &all, back, TM_F32, &error));
    for (int i = 0; i < 24; i++)
      g_assert_cmpfloat(back[i], ==, i % 4 == 1 || i % 4 == 2 ? values[i / 4 * 2 + i % 4 - 1] : 0);
    memset(back, 0, sizeof back);
    g_assert_true(tm_backend_read(b, &part, back, TM_F32, &error));
    g_assert_cmpmem(back, sizeof values, values, sizeof values);
    tm_backend_release(b, p, bytes);
  }
}

static float *device(TmBackend *b, gsize n, const float *values) {
  g_autoptr(GError) error = NULL;
  float *p = tm_backend_alloc(b, n * sizeof *p, &error);
  g_assert_no_error(error);
  const TmView v = {.data = p, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, (int)n), .ld = 1};
  if (values) g_assert_true(tm_backend_write(b, &v, values, TM_F32, &error));
  return p;
}

static void host(TmBackend *b, const float *p, gsize n, float *out) {
  const TmView v = {.data = (float *)p, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, (int)n), .ld = 1};
  g_assert_true(tm_backend_read(b, &v, out, TM_F32, NULL));
}

static void test_sum_squares(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  enum { COUNT = 100003 };
  g_autofree float *x = g_new(float, COUNT);
  double right = 0, got = 0, again = 0;
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)(i % 17) - 8 + (i == 7 ? 3000 : 0);
    right += (double)x[i] * (double)x[i];
  }
  float *p = device(b, COUNT, x);
  g_assert_true(tm_backend_sum_squares(b, p, COUNT, &got, NULL) &&
                tm_backend_sum_squares(b, p, COUNT, &again, NULL));
  g_assert_cmpfloat(fabs(got - right), <=, 1e-9 * right);
  g_assert_true(got == again);
  tm_backend_release(b, p, COUNT * sizeof *p);
  static const float sick[] = {NAN, INFINITY, 1e30f};
  for (int i = 0; i < 3; i++) {
    x[1000] = sick[i];
    p = device(b, COUNT, x);
    g_assert_true(tm_backend_sum_squares(b, p, COUNT, &got, NULL));
    g_assert_true(i == 2 ? isfinite(got) && got > 9e59
                         : !isfinite(got)); /* in double, 1e30 squared is a number */
    tm_backend_release(b, p, COUNT * sizeof *p);
  }
}

static void test_axpby(gconstpointer name) {
  g_autoptr(TmBackend) b = open_named(name);
  const float x[] = {1, 2, 3}, y[] = {10, 20, NAN};
  float out[3];
  float *dx = device(b, 3, x), *dy = device(b, 3, y);
  g_assert_true(tm_backend_axpby(b, 2, dx, 0.5f, dy, 2, NULL));
  host(b, dy, 3, out);
  g_assert_true(out[0] == 7 && out[1] == 14 && isnan(out[2]));
  g_assert_true(tm_backend_axpby(b, 3, dx, 0, dy, 3, NULL)); /* a copy does not look at what was there */
  host(b, dy, 3, out);
  g_assert_true(out[0] == 3 && out[1] == 6 && out[2] == 9);
  tm_backend_release(b, dx, sizeof x);
  tm_backend_release(b, dy, sizeof y);
}

/* Three steps of PyTorch's optimizers in double: gradient k is (k * {0.5, -1, 2, 0}) - w / 4, times 8 here to
 * be scaled back. */
static void test_optimizer(gconstpointer name, TmOptimizerKind kind, const double *right) {
  g_autoptr(TmBackend) b = open_named(name);
  const float start[] = {1, -2, 0.5f, 3}, base[] = {0.5f, -1, 2, 0};
  float *w = device(b, 4, start), *m = device(b, 4, NULL), *v = device(b, 4, NULL),
        *ema = device(b, 4, start);
  float now[4], average[4];
  double kept[4] = {1, -2, 0.5, 3};
  for (int step = 1; step <= 3; step++) {
    float gradient[4];
    host(b, w, 4, now);
    for (int i = 0; i < 4; i++) gradient[i] = 8 * (base[i] * (float)step - now[i] / 4);
    float *g = device(b, 4, gradient);
    const TmUpdate u = {.kind = kind,
                        .n = 4,
                        .w = w,
                        .m = m,
                        .v = kind == TM_OPTIMIZER_SGD ? NULL : v,
                        .g = g,
                        .grad_scale = 0.125f,
                        .lr = 0.1f,
                        .beta1 = 0.9f,
                        .beta2 = 0.99f,
                        .eps = 1e-8f,
                        .weight_decay = 0.01f,
                        .momentum = 0.9f,
                        .step = step,
                        .ema = ema,
                        .ema_decay = 0.75f};
    g_autoptr(GError) error = NULL;
    tm_backend_update(b, &u, &error);
    g_assert_no_error(error);
    host(b, w, 4, now);
    for (int i = 0; i < 4; i++) kept[i] = 0.75 * kept[i] + 0.25 * (double)now[i];
    tm_backend_release(b, g, sizeof gradient);
  }
  host(b, ema, 4, average);
  for (int i = 0; i < 4; i++) {
    g_assert_cmpfloat_with_epsilon((double)now[i], right[i], 4e-6);
    g_assert_cmpfloat_with_epsilon((double)average[i], kept[i], 1e-6);
  }
  float *all[] = {w, m, v, ema};
  for (int i = 0; i < 4; i++) tm_backend_release(b, all[i], sizeof start);
}

static void test_sgd(gconstpointer name) {
  test_optimizer(name, TM_OPTIMIZER_SGD,
                 (const double[]){0.654929824, -1.309859648, -1.361245888, 3.412255872});
}

static void test_adam(gconstpointer name) {
  test_optimizer(name, TM_OPTIMIZER_ADAM,
                 (const double[]){0.716853368, -1.716544919, 0.208865821, 3.300234418});
}

static void test_adamw(gconstpointer name) {
  test_optimizer(name, TM_OPTIMIZER_ADAMW,
                 (const double[]){0.714717215, -1.711399451, 0.207699145, 3.290937911});
}

/* A program that trains must be refused before it is built when a backend lacks an op; ref lacks none but has
 * no patterns. */
static void test_ref_supports(void) {
  g_autoptr(TmBackend) b = open_named("ref");
  const TmNode node = {.op = TM_OP_CONV};
  for (int op = 0; op < TM_N_OPS; op++) {
    const gboolean source = op == TM_OP_INPUT || op == TM_OP_PARAM || op == TM_OP_STATE;
    g_assert_true(tm_backend_supports(b, op, &node, TM_F32) == !source);
    g_assert_true(tm_backend_supports(b, op, &node, TM_BF16) == !source);
    g_assert_true(tm_backend_takes_slice(b, op, &node, 0, TM_F32) == !source);
    g_assert_false(tm_backend_supports(b, op, &node, TM_U8));
  }
  for (int op = TM_FUSED_NONE + 1; op < TM_FUSED_END; op++)
    g_assert_false(tm_backend_supports(b, op, &node, TM_F32));
  g_assert_false(tm_backend_supports(b, -1, &node, TM_F32));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const struct {
    const char *name;
    GTestDataFunc test;
  } each[] = {
      {"wrong-thread", test_wrong_thread},
      {"bad-arguments", test_bad_arguments},
      {"no-memory", test_no_memory},
      {"info", test_info},
      {"alloc", test_alloc},
      {"transfer", test_transfer},
      {"sum-squares", test_sum_squares},
      {"axpby", test_axpby},
      {"sgd", test_sgd},
      {"adam", test_adam},
      {"adamw", test_adamw},
  };
  g_test_add_func("/backend/names", test_names);
  g_test_add_func("/backend/unknown-name", test_unknown_name);
  g_test_add_func("/backend/auto", test_auto);
  g_test_add_func("/backend/nothing", test_nothing);
  g_test_add_func("/backend/ref-supports", test_ref_supports);
  for (const char *const *n = tm_backend_names(); *n; n++) {
    if (!tm_backend_available(*n, NULL)) continue;
    for (guint i = 0; i < G_N_ELEMENTS(each); i++) {
      g_autofree char *path = g_strdup_printf("/backend/%s/%s", *n, each[i].name);
      g_test_add_data_func(path, *n, each[i].test);
    }
  }
  return g_test_run();
}
