/* The fused patterns of the cpu backend against the same graph run op by op, and whole UNet steps: f32 and
 * bf16, odd sizes, slices. */
#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/graph/fused.h"
#include "engine/nets/unet.h"
#include "tests/backend/cpu_bench.h"

enum { MAX_NODES = 8, CLASSES = 5 };

typedef struct {
  TmGraph *graph;
  guint n_outputs;
  TmNode *outputs[MAX_NODES];
  GPtrArray *params, *grads; /* a training step: the parameters keep their initial values */
} Net;

typedef void (*Build)(Net *net);

typedef struct {
  const char *name;
  Build build;
  int pattern; /* the fused step that must be there */
  gboolean bf16_only;
  gboolean folded; /* other weights are rounded to bf16 than op by op: compared by the noise as a whole */
} Pattern;

static TmNode *input(Net *net, const char *name, int n, int c, int h, int w) {
  return tm_graph_source(net->graph, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(n, c, h, w), name);
}
static TmNode *param(Net *net, const char *name, int n, int c, int h, int w) {
  return tm_graph_source(net->graph, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(n, c, h, w), name);
}
static TmNode *state(Net *net, const char *name, int c) {
  return tm_graph_source(net->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, c, 1, 1), name);
}
static TmNode *labels(Net *net, int n, int h, int w) {
  return tm_graph_source(net->graph, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(n, 1, h, w), "labels");
}
static void give(Net *net, TmNode *n) {
  net->outputs[net->n_outputs++] = n;
}

#define EPS (&(TmAttrs){.value = 1e-5f})
#define POOL (&(TmAttrs){.factor = 2})
#define TIMES(k) (&(TmAttrs){.value = (k)})

static TmNode *bn_relu(Net *net, TmNode *x) {
  const int c = x->shape.c;
  TmNode *stats = tm_node(net->graph, TM_OP_BN_STATS, NULL, NULL, x);
  TmNode *y = tm_node(net->graph, TM_OP_BN_APPLY, NULL, EPS, x, stats, param(net, "g", 1, c, 1, 1),
                      param(net, "b", 1, c, 1, 1));
  return tm_node(net->graph, TM_OP_RELU, NULL, NULL, y);
}

static void build_bn_relu(Net *net) {
  give(net, bn_relu(net, input(net, "x", 2, 19, 7, 5)));
}

/* y goes into the left part of a concat, as in a UNet. */
static void build_bn_relu_pool(Net *net) {
  TmNode *x = input(net, "x", 2, 33, 9, 7), *y = bn_relu(net, x),
         *other = tm_node(net->graph, TM_OP_SCALE, NULL, TIMES(2), x);
  give(net, tm_node(net->graph, TM_OP_MAX_POOL, NULL, POOL, y));
  give(net, tm_node(net->graph, TM_OP_CONCAT, NULL, NULL, y, other));
}

static void build_bn_infer_relu(Net *net) {
  TmNode *x = input(net, "x", 1, 17, 6, 9), *mean = state(net, "mean", 17), *var = state(net, "var", 17);
  TmNode *y = tm_node(net->graph, TM_OP_BN_INFER, NULL, EPS, x, mean, var, param(net, "g", 1, 17, 1, 1),
                      param(net, "b", 1, 17, 1, 1));
  give(net, tm_node(net->graph, TM_OP_RELU, NULL, NULL, y));
}

static void build_relu_dx_reduce(Net *net) {
  TmNode *dy = input(net, "dy", 2, 21, 5, 8), *x = input(net, "x", 2, 21, 5, 8), *y = bn_relu(net, x);
  TmNode *stats = y->in[0]->in[1], *gamma = y->in[0]->in[2];
  TmNode *dz = tm_node(net->graph, TM_OP_RELU_DX, NULL, NULL, dy, y);
  TmNode *r = tm_node(net->graph, TM_OP_BN_REDUCE, NULL, EPS, dz, x, stats);
  give(net, r);
  give(net, tm_node(net->graph, TM_OP_BN_DX, NULL, EPS, dz, x, stats, gamma, r));
}

/* As in a UNet: the gradient to add to is a slice. */
static void build_pool_dx_add(Net *net) {
  TmNode *x = input(net, "x", 2, 18, 9, 7), *p = tm_node(net->graph, TM_OP_MAX_POOL, NULL, POOL, x),
         *dp = input(net, "dp", 2, 18, 4, 3);
  TmNode *wide = tm_node(net->graph, TM_OP_SCALE, NULL, TIMES(1), input(net, "wide", 2, 36, 9, 7));
  TmNode *d = tm_node(net->graph, TM_OP_SLICE, NULL, (&(TmAttrs){.from = 3, .count = 18}), wide);
  TmNode *dx = tm_node(net->graph, TM_OP_MAX_POOL_DX, NULL, POOL, dp, x, p);
  give(net, tm_node(net->graph, TM_OP_ADD, NULL, NULL, d, dx));
}

static void build_conv_stats(Net *net) {
  TmNode *x = input(net, "x", 2, 12, 21, 26), *w = param(net, "w", 40, 12, 3, 3);
  TmNode *y = tm_node(net->graph, TM_OP_CONV, NULL, (&(TmAttrs){.pad = 1}), x, w);
  give(net, y);
  give(net, tm_node(net->graph, TM_OP_BN_STATS, NULL, NULL, y));
}

static void build_winograd_stats(Net *net) {
  TmNode *x = input(net, "x", 2, 32, 21, 26), *w = param(net, "w", 48, 32, 3, 3);
  TmNode *y = tm_node(net->graph, TM_OP_CONV, NULL, (&(TmAttrs){.pad = 1}), x, w);
  give(net, y);
  give(net, tm_node(net->graph, TM_OP_BN_STATS, NULL, NULL, y));
}

static TmNode *bn_infer(Net *net, TmNode *y) {
  const int c = y->shape.c;
  return tm_node(net->graph, TM_OP_BN_INFER, NULL, EPS, y, state(net, "mean", c), state(net, "var", c),
                 param(net, "g", 1, c, 1, 1), param(net, "b", 1, c, 1, 1));
}

static TmNode *folded(Net *net, int in, int out, int side, int pad) {
  TmNode *x = input(net, "x", 2, in, 21, 26), *w = param(net, "w", out, in, side, side);
  return bn_infer(net, tm_node(net->graph, TM_OP_CONV, NULL, (&(TmAttrs){.pad = pad}), x, w));
}

static void build_conv_bn_infer(Net *net) {
  give(net, folded(net, 12, 40, 3, 1));
}
static void build_conv_bn_relu(Net *net) {
  give(net, tm_node(net->graph, TM_OP_RELU, NULL, NULL, folded(net, 12, 40, 3, 1)));
}
static void build_winograd_bn_infer(Net *net) {
  give(net, folded(net, 32, 64, 3, 1));
}
static void build_winograd_bn_relu(Net *net) {
  give(net, tm_node(net->graph, TM_OP_RELU, NULL, NULL, folded(net, 32, 64, 3, 1)));
}
/* Not a kernel of our own. */
static void build_strided_bn_relu(Net *net) {
  TmNode *x = input(net, "x", 2, 6, 21, 26), *w = param(net, "w", 9, 6, 5, 5);
  TmNode *y = tm_node(net->graph, TM_OP_CONV, NULL, (&(TmAttrs){.stride = 2, .pad = 1}), x, w);
  give(net, tm_node(net->graph, TM_OP_RELU, NULL, NULL, bn_infer(net, y)));
}

static TmNode *head(Net *net, int in, int classes, gboolean bias) {
  TmNode *x = input(net, "x", 2, in, 11, 37), *w = param(net, "w", classes, in, 1, 1);
  return bias ? tm_node(net->graph, TM_OP_CONV, NULL, NULL, x, w, param(net, "b", 1, classes, 1, 1))
              : tm_node(net->graph, TM_OP_CONV, NULL, NULL, x, w);
}
static void build_head(Net *net) {
  give(net, tm_node(net->graph, TM_OP_ARGMAX, NULL, NULL, head(net, 32, 11, TRUE)));
}
static void build_wide_head(Net *net) {
  give(net, tm_node(net->graph, TM_OP_ARGMAX, NULL, NULL, head(net, 5, 70, FALSE)));
}
static void build_cropped_head(Net *net) {
  const TmAttrs edge = {.top = 1, .left = 2, .bottom = 3, .right = 4};
  TmNode *cut = tm_node(net->graph, TM_OP_CROP, NULL, &edge, head(net, 33, 19, TRUE));
  give(net, tm_node(net->graph, TM_OP_ARGMAX, NULL, NULL, cut));
}

static void build_cross_entropy(Net *net) {
  TmNode *z = input(net, "z", 2, CLASSES, 9, 11), *l = labels(net, 2, 9, 11),
         *w = state(net, "weights", CLASSES), *d = state(net, "seed", 1);
  give(net, tm_node(net->graph, TM_OP_CROSS_ENTROPY, NULL, NULL, z, l, w));
  give(net, tm_node(net->graph, TM_OP_CROSS_ENTROPY_DX, NULL, NULL, d, z, l, w));
}

static void build_unet(Net *net) {
  const TmUNet unet = {.classes = CLASSES, .base = 8, .depth = 2, .batch_norm = TRUE, .bn_momentum = 0.1f};
  g_autoptr(GPtrArray) effects = g_ptr_array_new();
  TmNode *x = input(net, "x", 2, 3, 19, 30), *l = labels(net, 2, 19, 30), *w = state(net, "weights", CLASSES);
  TmNode *loss = tm_node(net->graph, TM_OP_CROSS_ENTROPY, NULL, NULL,
                         tm_unet(net->graph, x, &unet, TRUE, NULL, effects), l, w);
  for (guint i = 0; i < tm_graph_n_nodes(net->graph); i++)
    if (tm_graph_node(net->graph, i)->op == TM_OP_PARAM)
      g_ptr_array_add(net->params, tm_graph_node(net->graph, i));
  g_autofree TmNode **found = g_new0(TmNode *, net->params->len);
  tm_graph_gradients(net->graph, loss, NULL, net->params->len, (TmNode *const *)net->params->pdata, found);
  for (guint i = 0; i < net->params->len; i++) g_ptr_array_add(net->grads, found[i]);
  give(net, loss);
}

static void net_clear(Net *net) {
  tm_graph_free(net->graph);
  g_ptr_array_unref(net->params);
  g_ptr_array_unref(net->grads);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Net, net_clear)

static void net_init(Net *net, Build build) {
  *net = (Net){.graph = tm_graph_new(), .params = g_ptr_array_new(), .grads = g_ptr_array_new()};
  build(net);
  g_assert_true(tm_graph_check(net->graph, NULL));
}

static gboolean has_step(const TmProgram *p, int op) {
  for (guint i = 0; i < p->n_steps; i++)
    if (p->steps[i].op == op) return TRUE;
  return FALSE;
}

/* Every source gets values that depend on its name alone. */
static void fill(TmProgram *p, TmParams *params, const Net *net) {
  for (guint i = 0; i < tm_graph_n_nodes(net->graph); i++) {
    TmNode *n = tm_graph_node(net->graph, i);
    if (n->n_in || (n->op == TM_OP_PARAM && net->params->len)) continue;
    const gsize count = tm_shape_count(n->shape);
    g_autofree float *x = g_new(float, count);
    TmRandom r;
    tm_random_seed(&r, g_str_hash(n->name));
    for (gsize k = 0; k < count; k++)
      x[k] = n->kind == TM_KIND_LABEL ? (float)tm_random_int(&r, CLASSES + 2) : tm_random_normal(&r);
    for (gsize k = 0; n->kind == TM_KIND_STATE && k < count; k++) x[k] = 0.5f + fabsf(x[k]);
    if (n->kind == TM_KIND_ACT) cpu_bench_round(x, count);
    if (n->op == TM_OP_INPUT)
      g_assert_true(tm_program_write(p, n, x, TM_F32, NULL));
    else
      g_assert_true(tm_params_write(params, tm_params_find(params, n->name), x, NULL));
  }
}

static TmProgram *compile(TmBackend *b, TmParams *params, const Net *net, TmDType precision,
                          gboolean unfused) {
  g_autoptr(GError) error = NULL;
  const TmProgramOptions options = {.precision = precision,
                                    .n_outputs = net->n_outputs,
                                    .outputs = net->outputs,
                                    .n_grads = net->grads->len,
                                    .params = (TmNode *const *)net->params->pdata,
                                    .grads = (TmNode *const *)net->grads->pdata,
                                    .unfused = unfused};
  TmProgram *p = tm_program_new(b, params, net->graph, &options, &error);
  g_assert_no_error(error);
  return p;
}

/* Runs the net; returns all outputs and gradients one after another. */
static GArray *run_on(const char *backend, Build build, TmDType precision, gboolean unfused, int pattern,
                      int threads) {
  g_autoptr(GError) error = NULL;
  g_auto(Net) net;
  net_init(&net, build);
  g_autoptr(TmBackend) b =
      tm_backend_open(backend, &(TmBackendOptions){.threads = threads, .deterministic = TRUE}, &error);
  g_assert_no_error(error);
  g_autoptr(TmParams) params = tm_params_new(b, net.graph, &error);
  g_assert_no_error(error);
  g_autoptr(TmProgram) p = compile(b, params, &net, precision, unfused);
  if (pattern) g_assert_true(has_step(p, pattern) == !unfused);
  fill(p, params, &net);
  tm_program_run(p, &error);
  g_assert_no_error(error);
  GArray *all = g_array_new(FALSE, FALSE, sizeof(float));
  for (guint i = 0; i < net.n_outputs + net.params->len; i++) {
    const TmNode *n = i < net.n_outputs ? net.outputs[i] : net.params->pdata[i - net.n_outputs];
    const gsize count = tm_shape_count(n->shape);
    g_autofree float *x = g_new(float, count);
    if (i < net.n_outputs)
      g_assert_true(tm_program_read(p, n, x, TM_F32, NULL));
    else
      g_assert_true(tm_params_read(params, tm_params_find(params, n->name), TRUE, x, NULL));
    g_array_append_vals(all, x, (guint)count);
  }
  return all;
}

static GArray *run_net(Build build, TmDType precision, gboolean unfused, int pattern, int threads) {
  return run_on("cpu", build, precision, unfused, pattern, threads);
}

static const Pattern patterns[] = {
    {"bn_relu", build_bn_relu, TM_FUSED_BN_RELU, FALSE},
    {"bn_relu_pool", build_bn_relu_pool, TM_FUSED_BN_RELU_POOL, FALSE},
    {"bn_infer_relu", build_bn_infer_relu, TM_FUSED_BN_INFER_RELU, FALSE},
    {"relu_dx_reduce", build_relu_dx_reduce, TM_FUSED_RELU_DX_BN_REDUCE, FALSE},
    {"pool_dx_add", build_pool_dx_add, TM_FUSED_POOL_DX_ADD, FALSE},
    {"conv_stats", build_conv_stats, TM_FUSED_CONV_STATS, TRUE},
    {"winograd_stats", build_winograd_stats, TM_FUSED_CONV_STATS, TRUE},
    {"conv_bn_infer", build_conv_bn_infer, TM_FUSED_CONV_BN_INFER, FALSE, TRUE},
    {"conv_bn_infer_relu", build_conv_bn_relu, TM_FUSED_CONV_BN_INFER_RELU, FALSE, TRUE},
    {"winograd_bn_infer", build_winograd_bn_infer, TM_FUSED_CONV_BN_INFER, FALSE, TRUE},
    {"winograd_bn_infer_relu", build_winograd_bn_relu, TM_FUSED_CONV_BN_INFER_RELU, FALSE, TRUE},
    {"conv_argmax", build_head, TM_FUSED_CONV_ARGMAX, FALSE},
    {"conv_argmax_70", build_wide_head, TM_FUSED_CONV_ARGMAX, FALSE},
    {"conv_crop_argmax", build_cropped_head, TM_FUSED_CONV_ARGMAX, FALSE},
#ifdef TM_HAVE_ONEDNN
    {"strided_bn_infer_relu", build_strided_bn_relu, TM_FUSED_CONV_BN_INFER_RELU, FALSE, TRUE},
#endif
    {"cross_entropy_grad", build_cross_entropy, TM_FUSED_CROSS_ENTROPY_GRAD, FALSE},
};

static gboolean no_bf16(void) {
  g_autoptr(TmBackend) b = tm_backend_open("cpu", NULL, NULL);
  TmBackendInfo info;
  tm_backend_info(b, &info);
  const gboolean none = !info.bf16;
  tm_backend_info_clear(&info);
  if (none) g_test_skip("this processor does not multiply bf16");
  return none;
}

static double distance(const GArray *a, const GArray *b) {
  double d = 0, s = 0;
  for (guint i = 0; i < a->len; i++) {
    const double x = (double)g_array_index(a, float, i), y = (double)g_array_index(b, float, i);
    d += (x - y) * (x - y);
    s += y * y;
  }
  return sqrt(d / s);
}

/* Scores that bf16 rounds to the same number are not told apart op by op. */
static void compare_classes(const GArray *a, const GArray *b) {
  guint different = 0;
  for (guint i = 0; i < a->len; i++)
    different += g_array_index(a, float, i) != g_array_index(b, float, i) ? 1 : 0;
  g_assert_cmpuint(different * 50, <=, a->len);
}

static void test_pattern(const Pattern *one, TmDType precision) {
  g_autoptr(GArray) fused = run_net(one->build, precision, FALSE, one->pattern, 2);
  g_autoptr(GArray) plain = run_net(one->build, precision, TRUE, one->pattern, 2);
  g_assert_cmpuint(fused->len, ==, plain->len);
  if (precision == TM_BF16 && one->pattern == TM_FUSED_CONV_ARGMAX) {
    compare_classes(fused, plain);
    return;
  }
  if (precision == TM_BF16 && one->folded) {
    g_autoptr(GArray) exact = run_net(one->build, TM_F32, TRUE, 0, 2);
    g_assert_cmpfloat(distance(fused, exact), <, 1.2 * distance(plain, exact));
    return;
  }
  /* bf16: the plain graph rounds between its ops, each time by 2^-9 */
  cpu_bench_compare((float *)fused->data, (float *)plain->data, fused->len,
                    precision == TM_F32 ? 1e-5 : 0x1p-7);
}

static void test_pattern_f32(gconstpointer data) {
  test_pattern(data, TM_F32);
}
static void test_pattern_bf16(gconstpointer data) {
  if (!no_bf16()) test_pattern(data, TM_BF16);
}

static void test_unet_f32(void) {
  g_autoptr(GArray) fused = run_net(build_unet, TM_F32, FALSE, TM_FUSED_BN_RELU_POOL, 2);
  g_autoptr(GArray) plain = run_net(build_unet, TM_F32, TRUE, TM_FUSED_BN_RELU_POOL, 2);
  g_assert_cmpfloat(distance(fused, plain), <, 1e-5);
}

/* Random labels give small, noisy gradients, and every value stored in bf16 flips some ReLUs and maxima: the
 * measure of that noise is ref, which stores values in bf16 too but computes in double. cpu also rounds the
 * weights. A mistake, such as a part of a gradient left out, moves the whole by a large part of itself. */
static void test_unet_bf16(void) {
  if (no_bf16()) return;
  g_autoptr(GArray) exact = run_net(build_unet, TM_F32, TRUE, 0, 2);
  g_autoptr(GArray) ref = run_on("ref", build_unet, TM_BF16, TRUE, 0, 1);
  g_autoptr(GArray) fused = run_net(build_unet, TM_BF16, FALSE, TM_FUSED_CONV_STATS, 2);
  g_autoptr(GArray) plain = run_net(build_unet, TM_BF16, TRUE, TM_FUSED_CONV_STATS, 2);
  g_test_message("bf16 from f32: ref %.4f, cpu %.4f, op by op %.4f", distance(ref, exact),
                 distance(fused, exact), distance(plain, exact));
  g_assert_cmpfloat(distance(fused, exact), <, 1.5 * distance(ref, exact));
  g_assert_cmpfloat(distance(plain, exact), <, 1.5 * distance(ref, exact));
  g_assert_cmpfloat(distance(ref, exact), <, 0.25);
}

static void test_same_bits(void) {
  if (no_bf16()) return;
  for (int threads = 1; threads <= 3; threads++) {
    g_autoptr(GArray) a = run_net(build_unet, TM_BF16, FALSE, 0, threads);
    g_autoptr(GArray) b = run_net(build_unet, TM_BF16, FALSE, 0, threads);
    g_assert_cmpint(memcmp(a->data, b->data, a->len * sizeof(float)), ==, 0);
  }
}

/* Packed copies of the weights follow the master. */
static void test_weights_move(gconstpointer data) {
  const TmDType precision = (TmDType)GPOINTER_TO_INT(data);
  if (precision == TM_BF16 && no_bf16()) return;
  g_auto(Net) net;
  net_init(&net, build_conv_stats);
  g_autoptr(TmBackend) b = tm_backend_open("cpu", NULL, NULL);
  g_autoptr(TmParams) params = tm_params_new(b, net.graph, NULL);
  g_autoptr(TmProgram) p = compile(b, params, &net, precision, FALSE);
  fill(p, params, &net);
  const TmNode *y = net.outputs[0];
  const gsize n = tm_shape_count(y->shape);
  g_autofree float *before = g_new(float, n);
  g_autofree float *after = g_new(float, n);
  g_assert_true(tm_program_run(p, NULL) && tm_program_read(p, y, before, TM_F32, NULL));
  const TmParam *w = tm_params_find(params, "w");
  const gsize n_w = tm_shape_count(w->shape);
  g_autofree float *doubled = g_new(float, n_w);
  g_assert_true(tm_params_read(params, w, FALSE, doubled, NULL));
  for (gsize i = 0; i < n_w; i++) doubled[i] *= 2;
  g_assert_true(tm_params_write(params, w, doubled, NULL));
  g_assert_true(tm_program_run(p, NULL) && tm_program_read(p, y, after, TM_F32, NULL));
  for (gsize i = 0; i < n; i++) before[i] *= 2;
  cpu_bench_compare(after, before, n, 1e-6);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_setenv("TARMAC_CONVOLUTIONS", "winograd", TRUE); /* narrow layers are direct all the same */
  for (guint i = 0; i < G_N_ELEMENTS(patterns); i++) {
    g_autofree char *f32 = g_strdup_printf("/backend/cpu/fused/f32/%s", patterns[i].name);
    g_autofree char *bf16 = g_strdup_printf("/backend/cpu/fused/bf16/%s", patterns[i].name);
    if (!patterns[i].bf16_only) g_test_add_data_func(f32, &patterns[i], test_pattern_f32);
    g_test_add_data_func(bf16, &patterns[i], test_pattern_bf16);
  }
  g_test_add_func("/backend/cpu/unet/f32", test_unet_f32);
  g_test_add_func("/backend/cpu/unet/bf16", test_unet_bf16);
  g_test_add_func("/backend/cpu/unet/same-bits", test_same_bits);
  g_test_add_data_func("/backend/cpu/weights-move/f32", GINT_TO_POINTER(TM_F32), test_weights_move);
  g_test_add_data_func("/backend/cpu/weights-move/bf16", GINT_TO_POINTER(TM_BF16), test_weights_move);
  return g_test_run();
}
