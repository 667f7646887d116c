/* What is not an op: optimizer steps, sums, averages and painting of the cuda backend on the host, against
 * ref, at lengths that divide by nothing and off their alignment; and the inf check and the replaced values
 * of an update. "between" as argument: as in test_ops.c. */
#include <math.h>
#include <string.h>
#include <tm_host.h>

#include "engine/backend/cuda/cuda.h"
#include "engine/core/random.h"
#include "tests/cuda-host/host_bench.h"

enum { LONGEST = 5000, ARRAYS = 5 };

/* The same arrays on both backends. */
typedef struct {
  TmBackend *b[2];
  gsize n, offset; /* elements, and where they begin in their memory */
  float *base[2][ARRAYS];
} Pair;

static TmView flat(float *p, gsize n) {
  return (TmView){.data = p, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, (int)n), .ld = 1};
}
static float *array(const Pair *p, int backend, int i) {
  return p->base[backend][i] + p->offset;
}

static void pair_init(Pair *p, gsize n, gsize offset) {
  *p = (Pair){.b = {tm_backend_open("ref", NULL, NULL), host_bench_open()}, .n = n, .offset = offset};
  TmRandom r;
  tm_random_seed(&r, n);
  for (int i = 0; i < ARRAYS; i++) {
    g_autofree float *x = g_new(float, n);
    for (gsize k = 0; k < n; k++) x[k] = i == 2 ? tm_random_range(&r, 0.01f, 1) : tm_random_normal(&r);
    for (int k = 0; k < 2; k++) {
      p->base[k][i] = tm_backend_alloc(p->b[k], (n + offset) * sizeof(float), NULL);
      const TmView v = flat(array(p, k, i), n);
      g_assert_true(tm_backend_write(p->b[k], &v, x, TM_F32, NULL));
    }
  }
}

static void pair_clear(Pair *p) {
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < ARRAYS; i++)
      tm_backend_release(p->b[k], p->base[k][i], (p->n + p->offset) * sizeof(float));
    tm_backend_close(p->b[k]);
  }
}

static void same(const Pair *p, const char *what, double bound) {
  for (int i = 0; i < ARRAYS; i++) {
    g_autofree float *x = g_new(float, p->n);
    g_autofree float *y = g_new(float, p->n);
    const TmView a = flat(array(p, 0, i), p->n), b = flat(array(p, 1, i), p->n);
    g_assert_true(tm_backend_read(p->b[0], &a, x, TM_F32, NULL) &&
                  tm_backend_read(p->b[1], &b, y, TM_F32, NULL));
    host_bench_compare(what, y, x, p->n, bound);
  }
}

static const struct {
  gsize n, offset;
} lengths[] = {{1, 0},    {2, 0},    {3, 1},    {4, 0},       {5, 0},
               {1023, 0}, {1024, 0}, {1027, 3}, {LONGEST, 0}, {LONGEST, 1}};

static void test_axpby(void) {
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++)
    for (int c = 0; c < 2; c++) {
      Pair p;
      pair_init(&p, lengths[i].n, lengths[i].offset);
      for (int k = 0; k < 2; k++)
        g_assert_true(
            tm_backend_axpby(p.b[k], 0.75f, array(&p, k, 0), c ? -0.5f : 0, array(&p, k, 1), p.n, NULL));
      same(&p, "axpby", 1e-6);
      pair_clear(&p);
    }
}

static void test_sum_squares(void) {
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    Pair p;
    double sum[2];
    pair_init(&p, lengths[i].n, lengths[i].offset);
    for (int k = 0; k < 2; k++)
      g_assert_true(tm_backend_sum_squares(p.b[k], array(&p, k, 0), p.n, &sum[k], NULL));
    g_assert_cmpfloat(fabs(sum[1] - sum[0]), <=, 1e-12 * sum[0]);
    pair_clear(&p);
  }
}

static void test_update(gconstpointer data) {
  const TmOptimizerKind kind = (TmOptimizerKind)GPOINTER_TO_INT(data);
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    Pair p;
    pair_init(&p, lengths[i].n, lengths[i].offset);
    for (int step = 1; step <= 3; step++)
      for (int k = 0; k < 2; k++) {
        const TmUpdate u = {.kind = kind,
                            .n = p.n,
                            .w = array(&p, k, 0),
                            .m = array(&p, k, 1),
                            .v = kind == TM_OPTIMIZER_SGD ? NULL : array(&p, k, 2),
                            .g = array(&p, k, 3),
                            .grad_scale = 0.25f,
                            .lr = 0.01f * (float)step,
                            .beta1 = 0.9f,
                            .beta2 = 0.999f,
                            .eps = 1e-8f,
                            .weight_decay = 0.05f,
                            .momentum = 0.9f,
                            .step = step,
                            .ema = i % 2 ? array(&p, k, 4) : NULL,
                            .ema_decay = 0.9f};
        g_assert_true(tm_backend_update(p.b[k], &u, NULL));
      }
    same(&p, "update", 2e-5);
    pair_clear(&p);
  }
}

/* A step whose gradients are not finite moves nothing, whatever the sum says it is not. */
static void test_inf_check(void) {
  static const double sums[] = {INFINITY, -INFINITY, NAN, 3.0};
  for (guint i = 0; i < G_N_ELEMENTS(sums); i++) {
    Pair p;
    pair_init(&p, 37, 0);
    CudaBackend *b = (CudaBackend *)p.b[1];
    const TmCudaPlan plan = {.rate = {.lr = 0.5f, .correct1 = 1, .correct2 = 1, .first = TRUE},
                             .loss_scale = 1};
    const float *const losses[TM_CUDA_LOSSES] = {array(&p, 1, 4)};
    const TmUpdateRule r = {
        .rule = TM_RULE_SGD, .n = p.n, .w = array(&p, 1, 0), .m = array(&p, 1, 1), .g = array(&p, 1, 3)};
    const TmCudaPlan *sent = tm_cuda_send(b, &plan, sizeof plan, NULL);
    g_assert_true(cudaMemcpyAsync(b->sum, &sums[i], sizeof *sums, cudaMemcpyHostToDevice, b->queue.stream) ==
                  cudaSuccess);
    g_assert_true(sent &&
                  tm_cuda_decide(&b->queue, sent, losses, b->sum, b->made, b->verdict) == cudaSuccess &&
                  tm_cuda_update(&b->queue, &r, b->made) == cudaSuccess);
    g_assert_true(tm_backend_synchronize(p.b[1], NULL));
    if (isfinite(sums[i])) /* the same step on ref */
      g_assert_true(tm_backend_update(p.b[0],
                                      &(TmUpdate){.n = p.n,
                                                  .w = array(&p, 0, 0),
                                                  .m = array(&p, 0, 1),
                                                  .g = array(&p, 0, 3),
                                                  .grad_scale = 1,
                                                  .lr = 0.5f,
                                                  .step = 1},
                                      NULL));
    same(&p, "a step with a bad sum", 1e-6);
    pair_clear(&p);
  }
}

/* ---- painting ---- */

enum { W = 37, H = 23, N = W * H, CLASSES = 11 };

typedef struct {
  guint8 rgb[3 * N], labels[N], truth[N];
} Scene;

static void scene_init(Scene *s) {
  TmRandom r;
  tm_random_seed(&r, 9);
  for (int i = 0; i < 3 * N; i++) s->rgb[i] = (guint8)tm_random_int(&r, 256);
  for (int i = 0; i < N; i++) { /* patches, so that there are edges and insides; some void */
    s->labels[i] = (guint8)((i % W / 5 + i / W / 4) % (CLASSES + 1));
    s->truth[i] = i % 5 == 0 ? 255 : (guint8)tm_random_int(&r, CLASSES);
  }
}

static guint8 *bytes(TmBackend *b, const guint8 *from, gsize n) {
  guint8 *p = tm_backend_alloc(b, n, NULL);
  const TmView v = {.data = p, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, 1, (int)n), .ld = 1};
  if (from) g_assert_true(tm_backend_write(b, &v, from, TM_U8, NULL));
  return p;
}

/* The GPU's drawing, beside the processor's from the same text. */
static void paint_one(TmBackend *b, TmCompose c) {
  const gsize n = (gsize)c.out_w * (gsize)c.out_h;
  g_autofree guint32 *got = g_new0(guint32, n);
  TmCompose d = c;
  guint8 *rgb = bytes(b, c.rgb, 3 * N), *labels = bytes(b, c.labels, N), *truth = bytes(b, c.truth, N),
         *out = bytes(b, NULL, 4 * n);
  d.rgb = rgb;
  d.labels = c.labels ? labels : NULL;
  d.truth = c.truth ? truth : NULL;
  const TmCudaQueue q = {.stream = ((CudaBackend *)b)->queue.stream};
  const TmView v = {.data = out, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, 1, (int)(4 * n)), .ld = 1};
  g_assert_cmpint(tm_cuda_paint(&q, &d, (guint32 *)(gpointer)out), ==, cudaSuccess);
  g_assert_true(tm_backend_read(b, &v, got, TM_U8, NULL));
  for (int y = 0; y < c.out_h; y++)
    for (int x = 0; x < c.out_w; x++)
      g_assert_cmphex(got[y * c.out_w + x], ==, tm_compose_pixel(&c, x, y));
  tm_backend_release(b, rgb, 3 * N);
  tm_backend_release(b, labels, N);
  tm_backend_release(b, truth, N);
  tm_backend_release(b, out, 4 * n);
}

static void test_paint(void) {
  g_autoptr(TmBackend) cuda = host_bench_open();
  static Scene s;
  scene_init(&s);
  static const int sizes[][2] = {{W, H}, {300, 40}, {11, 7}, {1, 1}};
  static const TmShow shows[] = {TM_SHOW_INPUT, TM_SHOW_MASK, TM_SHOW_ERRORS};
  for (guint k = 0; k < G_N_ELEMENTS(sizes) * G_N_ELEMENTS(shows) * 3; k++) {
    TmCompose c = {.show = shows[k % 3], .w = W, .h = H, .out_w = sizes[k / 9][0], .out_h = sizes[k / 9][1], .rgb = s.rgb,
                   .labels = s.labels, .truth = s.truth, .n_classes = CLASSES, .alpha = k / 3 % 3 == 0 ? 0 : 150};
    if (k / 3 % 3 == 2) c.truth = NULL;
    for (int i = 0; i < CLASSES; i++) c.colours[i] = (guint32)i * 0x123457u & 0xffffffu;
    c.colours[3] |= 0xff000000u; /* hidden */
    if (k % 2) c.colours[CLASSES] = 0xff000000u;
    paint_one(cuda, c);
  }
}

/* A slice larger than the staging memory goes through it in pieces. */
static void test_large_slice(void) {
  enum { C = 3, LD = 5, PIXELS = 700000 };
  g_autoptr(TmBackend) cuda = host_bench_open();
  const gsize size = (gsize)PIXELS * LD * sizeof(float);
  float *p = tm_backend_alloc(cuda, size, NULL);
  g_autofree float *x = g_new(float, (gsize)PIXELS *C);
  g_autofree float *y = g_new0(float, (gsize)PIXELS *C);
  for (gsize i = 0; i < (gsize)PIXELS * C; i++) x[i] = (float)i;
  const TmView v = {.data = p + 1, .dtype = TM_F32, .shape = TM_SHAPE(1, C, PIXELS / 1000, 1000), .ld = LD};
  g_assert_true(tm_backend_write(cuda, &v, x, TM_F32, NULL) && tm_backend_read(cuda, &v, y, TM_F32, NULL));
  g_assert_cmpint(memcmp(x, y, (gsize)PIXELS * C * sizeof(float)), ==, 0);
  tm_backend_release(cuda, p, size);
}

/* Batches that set out while others are used arrive whole and in order, whatever their sizes. */
static void test_stage(gconstpointer lazy) {
  enum { MOST = 5000 };
  static const gsize sizes[] = {100, 100, 1, MOST, 300, 257, 256};
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) cuda = host_bench_open();
  guint8 *p = bytes(cuda, NULL, 2 * MOST), from[2][MOST], got[MOST];
  tm_host_lazy(GPOINTER_TO_INT(lazy));
  for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
    const gsize n[] = {sizes[k], (sizes[k] + 1) / 2};
    const void *const src[] = {from[0], from[1]};
    TmView dst[2];
    for (int i = 0; i < 2; i++) {
      memset(from[i], (int)(2 * k) + i + 1, MOST);
      dst[i] = (TmView){.data = p + i * MOST, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, 1, (int)n[i]), .ld = 1};
    }
    g_assert_true(tm_backend_stage(cuda, 2, src, n, &error));
    for (int i = 0; i < 2; i++) memset(from[i], 0, MOST); /* the caller's again */
    g_assert_true(tm_backend_fill(cuda, 2, dst, &error));
    g_assert_no_error(error);
    for (int i = 0; i < 2; i++) {
      g_assert_true(tm_backend_read(cuda, &dst[i], got, TM_U8, NULL));
      for (gsize b = 0; b < n[i]; b++) g_assert_cmpint(got[b], ==, (int)(2 * k) + i + 1);
    }
  }
  const TmView one = {.data = p, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, 1, 1), .ld = 1};
  g_assert_false(tm_backend_fill(cuda, 1, &one, &error)); /* each once */
  g_assert_error(error, TM_ERROR, TM_ERROR_FAILED);
  tm_host_lazy(0);
  tm_backend_release(cuda, p, 2 * MOST);
}

static void test_no_leak(void) {
  g_assert_cmpint(tm_host_live(), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  tm_host_between_blocks(argc > 1 && strcmp(argv[1], "between") == 0);
  g_test_add_func("/cuda-host/axpby", test_axpby);
  g_test_add_func("/cuda-host/sum-squares", test_sum_squares);
  g_test_add_data_func("/cuda-host/update/sgd", GINT_TO_POINTER(TM_OPTIMIZER_SGD), test_update);
  g_test_add_data_func("/cuda-host/update/adam", GINT_TO_POINTER(TM_OPTIMIZER_ADAM), test_update);
  g_test_add_data_func("/cuda-host/update/adamw", GINT_TO_POINTER(TM_OPTIMIZER_ADAMW), test_update);
  g_test_add_func("/cuda-host/update/inf-check", test_inf_check);
  g_test_add_func("/cuda-host/paint", test_paint);
  if (argc < 2 || strcmp(argv[1], "sparse") == 0) g_test_add_func("/cuda-host/large-slice", test_large_slice);
  g_test_add_data_func("/cuda-host/stage/eager", GINT_TO_POINTER(0), test_stage);
  g_test_add_data_func("/cuda-host/stage/lazy", GINT_TO_POINTER(1), test_stage);
  g_test_add_func("/cuda-host/no-leak", test_no_leak);
  return g_test_run();
}
