/* The cpu backend's work on flat arrays against ref: optimizer steps, sums, averages, with each table of
 * kernels, at sizes around the vectors'. And what it says of itself, and reading and writing views. */
#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"
#include "tests/backend/cpu_bench.h"

static const gsize sizes[] = {1, 3, 15, 16, 17, 64, 65, 1000, 20011, 100003};
enum { ARRAYS = 4, GUARD = 16 };

/* w, m, v, ema (or y, x), each followed by a guard. */
typedef struct {
  gsize n;
  float *x[ARRAYS];
} Arrays;

static void arrays_init(Arrays *a, gsize n, guint64 seed) {
  TmRandom r;
  tm_random_seed(&r, seed);
  a->n = n;
  for (int k = 0; k < ARRAYS; k++) {
    a->x[k] = g_new(float, n + GUARD);
    for (gsize i = 0; i < n + GUARD; i++) a->x[k][i] = i < n ? tm_random_normal(&r) : 12345;
    for (gsize i = 0; k == 2 && i < n; i++) a->x[k][i] = fabsf(a->x[k][i]);
  }
}

static void arrays_clear(Arrays *a) {
  for (int k = 0; k < ARRAYS; k++) {
    for (int i = 0; i < GUARD; i++) g_assert_cmpfloat(a->x[k][a->n + (gsize)i], ==, 12345);
    g_free(a->x[k]);
  }
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arrays, arrays_clear)

static void test_update(gconstpointer table) {
  TmBackend *ref = cpu_bench_open(NULL, 1), *cpu = cpu_bench_open(table, 2);
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (int kind = TM_OPTIMIZER_SGD; kind <= TM_OPTIMIZER_ADAMW; kind++)
      for (int step = 1; step <= 7; step += 6) {
        const gsize n = sizes[s];
        g_auto(Arrays) a, b;
        g_autofree float *g = g_new(float, n);
        arrays_init(&a, n, 5);
        arrays_init(&b, n, 5);
        for (gsize i = 0; i < n; i++) g[i] = sinf((float)i);
        TmUpdate u = {.kind = (TmOptimizerKind)kind,
                      .n = n,
                      .g = g,
                      .grad_scale = 0.7f,
                      .lr = 0.01f,
                      .beta1 = 0.9f,
                      .beta2 = 0.999f,
                      .eps = 1e-8f,
                      .weight_decay = 0.02f,
                      .momentum = 0.9f,
                      .step = step,
                      .ema_decay = 0.99f};
        u.w = a.x[0], u.m = a.x[1], u.v = a.x[2], u.ema = step > 1 ? a.x[3] : NULL;
        g_assert_true(tm_backend_update(ref, &u, NULL));
        u.w = b.x[0], u.m = b.x[1], u.v = b.x[2], u.ema = step > 1 ? b.x[3] : NULL;
        g_assert_true(tm_backend_update(cpu, &u, NULL));
        for (int k = 0; k < ARRAYS; k++) cpu_bench_compare(b.x[k], a.x[k], n, 2e-6);
      }
  tm_backend_close(cpu);
  tm_backend_close(ref);
}

static void test_sums(gconstpointer table) {
  TmBackend *ref = cpu_bench_open(NULL, 1), *cpu = cpu_bench_open(table, 2);
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    g_auto(Arrays) a, b;
    arrays_init(&a, sizes[s], 9);
    arrays_init(&b, sizes[s], 9);
    double x, y, again;
    g_assert_true(tm_backend_sum_squares(ref, a.x[0], sizes[s], &x, NULL));
    g_assert_true(tm_backend_sum_squares(cpu, b.x[0], sizes[s], &y, NULL));
    g_assert_true(tm_backend_sum_squares(cpu, b.x[0], sizes[s], &again, NULL));
    g_assert_cmpfloat_with_epsilon(x, y, 1e-6 * x);
    g_assert_cmpfloat(y, ==, again);
    g_assert_true(tm_backend_axpby(ref, 0.3f, a.x[0], -1.5f, a.x[1], sizes[s], NULL));
    g_assert_true(tm_backend_axpby(cpu, 0.3f, b.x[0], -1.5f, b.x[1], sizes[s], NULL));
    cpu_bench_compare(b.x[1], a.x[1], sizes[s], 1e-6);
    b.x[1][0] = NAN; /* c = 0 must not read y */
    g_assert_true(tm_backend_axpby(cpu, 2, b.x[0], 0, b.x[1], sizes[s], NULL));
    g_assert_cmpfloat(b.x[1][0], ==, 2 * b.x[0][0]);
    b.x[0][sizes[s] - 1] = INFINITY;
    g_assert_true(tm_backend_sum_squares(cpu, b.x[0], sizes[s], &y, NULL));
    g_assert_true(isinf(y));
    b.x[0][sizes[s] / 2] = NAN;
    g_assert_true(tm_backend_sum_squares(cpu, b.x[0], sizes[s], &y, NULL));
    g_assert_true(isnan(y));
  }
  tm_backend_close(cpu);
  tm_backend_close(ref);
}

/* Every pair of types, dense and as a slice. */
static void test_transfers(gconstpointer table) {
  enum { PIXELS = 6, C = 5, LD = 7 };
  TmBackend *cpu = cpu_bench_open(table, 2);
  const float values[] = {0, 1, 2, 3, 250};
  for (int type = 0; type < TM_N_DTYPES; type++)
    for (int host = 0; host < TM_N_DTYPES; host++)
      for (int ld = C; ld <= LD; ld += LD - C) {
        g_autofree guint8 *memory = g_malloc(PIXELS * LD * 4);
        memset(memory, 0xee, PIXELS * LD * 4);
        const TmView v = {.data = memory, .dtype = (TmDType)type, .shape = TM_SHAPE(1, C, 2, 3), .ld = ld};
        float in[PIXELS * C], out[PIXELS * C];
        guint32 dense[PIXELS * C], back[PIXELS * C];
        for (int i = 0; i < PIXELS * C; i++) in[i] = values[i % C];
        tm_convert(dense, (TmDType)host, in, TM_F32, PIXELS * C);
        g_assert_true(tm_backend_write(cpu, &v, dense, (TmDType)host, NULL));
        g_assert_true(tm_backend_read(cpu, &v, back, (TmDType)host, NULL));
        tm_convert(out, TM_F32, back, (TmDType)host, PIXELS * C);
        g_assert_cmpint(memcmp(in, out, sizeof in), ==, 0);
        const gsize size = tm_dtype_size(v.dtype);
        for (int p = 0; ld > C && p < PIXELS; p++)
          for (gsize k = (gsize)C * size; k < (gsize)ld * size; k++)
            g_assert_cmpint(memory[(gsize)(p * ld) * size + k], ==, 0xee);
      }
  tm_backend_close(cpu);
}

static void test_info(void) {
  g_autoptr(TmBackend) b = tm_backend_open("cpu", &(TmBackendOptions){.threads = 2}, NULL);
  TmBackendInfo info;
  tm_backend_info(b, &info);
  g_assert_cmpint((int)strlen(info.name), >, 0);
  g_assert_nonnull(strstr(info.detail, "2 threads, "));
#ifdef TM_HAVE_ONEDNN
  g_assert_nonnull(strstr(info.detail, "oneDNN 3."));
#else
  g_assert_null(strstr(info.detail, "oneDNN"));
#endif
  g_assert_cmpint(info.threads, ==, 2);
  g_assert_cmpuint(info.memory, >, 0);
  tm_backend_info_clear(&info);
}

/* Asked for more memory than there is, it says so and goes on. */
static void test_no_memory(void) {
  g_autoptr(TmBackend) b = tm_backend_open("cpu", NULL, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_backend_alloc(b, G_MAXSIZE / 4, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
  void *p = tm_backend_alloc(b, 100, NULL);
  g_assert_nonnull(p);
  g_assert_cmpuint(GPOINTER_TO_SIZE(p) % 64, ==, 0);
  tm_backend_release(b, p, 100);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  guint n;
  const TmKernels *const *tables = tm_kernels_usable(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *update = g_strdup_printf("/backend/cpu/update/%u", i);
    g_autofree char *sums = g_strdup_printf("/backend/cpu/sums/%u", i);
    g_autofree char *transfers = g_strdup_printf("/backend/cpu/transfers/%u", i);
    g_test_add_data_func(update, tables[i], test_update);
    g_test_add_data_func(sums, tables[i], test_sums);
    g_test_add_data_func(transfers, tables[i], test_transfers);
  }
  g_test_add_func("/backend/cpu/info", test_info);
  g_test_add_func("/backend/cpu/no-memory", test_no_memory);
  return g_test_run();
}
