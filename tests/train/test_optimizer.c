/* The update rules against torch.optim (2.x, float32), on every backend that can be used here. */
#include <math.h>

#include "engine/train/schedule.h"
#include "fixture.h"

enum { N = 4 };

static const float start[N] = {0.5f, -1.25f, 2.0f, -0.03125f};
static const float gradients[3][N] = {
    {0.1f, -0.2f, 0.3f, 4.0f}, {-0.5f, 0.25f, 0.0f, 1.0f}, {0.05f, 0.05f, -0.7f, -2.0f}};

typedef struct {
  const char *backend, *name;
  TmOptimizerKind kind;
  float lr, weight_decay, momentum;
  float want[3][N];
} Case;

/* SGD(lr=0.05, momentum=0.9, weight_decay=0.01); Adam(lr=0.01, weight_decay=0.1); AdamW(lr=0.01,
 * weight_decay=0.1) */
static const Case cases[] = {
    {NULL,
     "sgd",
     TM_OPTIMIZER_SGD,
     0.05f,
     0.01f,
     0.9f,
     {{0.494749993f, -1.239375f, 1.98399997f, -0.231234372f},
      {0.514777601f, -1.24169278f, 1.96860802f, -0.461104691f},
      {0.530045092f, -1.24565792f, 1.98877096f, -0.567757428f}}},
    {NULL,
     "adam",
     TM_OPTIMIZER_ADAM,
     0.01f,
     0.1f,
     0,
     {{0.49000001f, -1.24000001f, 1.99000001f, -0.0412499979f},
      {0.494947702f, -1.236444f, 1.98102188f, -0.0495515615f},
      {0.497381479f, -1.23243296f, 1.98030794f, -0.0525223985f}}},
    {NULL,
     "adamw",
     TM_OPTIMIZER_ADAMW,
     0.01f,
     0.1f,
     0,
     {{0.489500016f, -1.23874998f, 1.98800004f, -0.0412187502f},
      {0.494994044f, -1.2391386f, 1.97931147f, -0.0494835079f},
      {0.498478502f, -1.24012864f, 1.98116612f, -0.0524195433f}}},
};

static TmBackend *open_backend(const char *name) {
  const TmBackendOptions o = {.threads = 1, .deterministic = TRUE};
  g_autoptr(GError) e = NULL;
  TmBackend *b = tm_backend_open(name, &o, &e);
  g_assert_no_error(e);
  return b;
}

static void put(TmBackend *b, float *to, const float *from) {
  const TmView v = {.data = to, .dtype = TM_F32, .shape = TM_SHAPE(1, N, 1, 1), .ld = N};
  g_assert_true(tm_backend_write(b, &v, from, TM_F32, NULL));
}

static void get(TmBackend *b, float *from, float *to) {
  const TmView v = {.data = from, .dtype = TM_F32, .shape = TM_SHAPE(1, N, 1, 1), .ld = N};
  g_assert_true(tm_backend_read(b, &v, to, TM_F32, NULL));
}

static void run_case(const Case *c, float grad_scale, float ema_decay) {
  g_autoptr(TmBackend) b = open_backend(c->backend);
  float *a[5], now[N], average[N], want_average[N];
  for (guint i = 0; i < 5; i++) g_assert_nonnull(a[i] = tm_backend_alloc(b, sizeof start, NULL));
  put(b, a[0], start);
  put(b, a[4], start);
  for (guint i = 0; i < N; i++) want_average[i] = start[i];
  for (guint step = 0; step < 3; step++) {
    float g[N];
    for (guint i = 0; i < N; i++) g[i] = gradients[step][i] / grad_scale;
    put(b, a[3], g);
    const TmUpdate u = {.kind = c->kind,
                        .n = N,
                        .w = a[0],
                        .m = a[1],
                        .v = c->kind == TM_OPTIMIZER_SGD ? NULL : a[2],
                        .g = a[3],
                        .grad_scale = grad_scale,
                        .lr = c->lr,
                        .beta1 = 0.9f,
                        .beta2 = 0.999f,
                        .eps = 1e-8f,
                        .weight_decay = c->weight_decay,
                        .momentum = c->momentum,
                        .step = step + 1,
                        .ema = a[4],
                        .ema_decay = ema_decay};
    g_assert_true(tm_backend_update(b, &u, NULL));
    get(b, a[0], now);
    get(b, a[4], average);
    for (guint i = 0; i < N; i++) {
      g_assert_cmpfloat_with_epsilon(now[i], c->want[step][i], 1e-6);
      want_average[i] = ema_decay * want_average[i] + (1 - ema_decay) * now[i];
      g_assert_cmpfloat_with_epsilon(average[i], want_average[i], 1e-6);
    }
  }
  for (guint i = 0; i < 5; i++) tm_backend_release(b, a[i], sizeof start);
}

static void test_pytorch(gconstpointer data) {
  run_case(data, 1, 0.5f);
}

/* What clipping multiplies with comes before everything else of the rule. */
static void test_scaled(gconstpointer data) {
  run_case(data, 0.25f, 0.9f);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const char *const backends[] = {"ref", "cpu"};
  static Case all[G_N_ELEMENTS(backends)][G_N_ELEMENTS(cases)];
  for (guint k = 0; k < G_N_ELEMENTS(backends); k++) {
    if (!tm_backend_available(backends[k], NULL)) continue;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      all[k][i] = cases[i];
      all[k][i].backend = backends[k];
      g_autofree char *plain = g_strdup_printf("/optimizer/%s/%s/pytorch", backends[k], cases[i].name);
      g_autofree char *scaled = g_strdup_printf("/optimizer/%s/%s/scaled", backends[k], cases[i].name);
      g_test_add_data_func(plain, &all[k][i], test_pytorch);
      g_test_add_data_func(scaled, &all[k][i], test_scaled);
    }
  }
  return g_test_run();
}
