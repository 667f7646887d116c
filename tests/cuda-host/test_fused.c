/* Patterns that begin with a convolution, in both of their ways: with cuDNN's epilogue and with own kernels
 * after it. Against ref, op by op. */
#include <math.h>
#include <string.h>
#include <tm_host.h>

#include "engine/core/random.h"
#include "engine/graph/fused.h"
#include "tests/cuda-host/host_bench.h"

typedef struct {
  TmGraph *graph;
  guint n;
  TmNode *outputs[2];
} Net;

typedef struct {
  const char *name;
  int pattern;
  TmShape x, w;
  int pad, stride;
  gboolean bias, crop;
} Case;

static const Case cases[] = {
    {"bn", TM_FUSED_CONV_BN_INFER, {2, 5, 7, 6}, {9, 5, 3, 3}, 1, 1, FALSE, FALSE},
    {"bn-relu", TM_FUSED_CONV_BN_INFER_RELU, {1, 16, 6, 9}, {24, 16, 3, 3}, 1, 1, FALSE, FALSE},
    {"bn-relu-strided", TM_FUSED_CONV_BN_INFER_RELU, {2, 3, 9, 8}, {8, 3, 5, 3}, 1, 2, FALSE, FALSE},
    {"stats", TM_FUSED_CONV_STATS, {2, 5, 11, 9}, {13, 5, 3, 3}, 1, 1, FALSE, FALSE},
    {"stats-whole", TM_FUSED_CONV_STATS, {1, 8, 5, 7}, {16, 8, 1, 1}, 0, 1, FALSE, FALSE},
    {"argmax", TM_FUSED_CONV_ARGMAX, {2, 16, 9, 300}, {11, 16, 1, 1}, 0, 1, TRUE, FALSE},
    {"argmax-odd", TM_FUSED_CONV_ARGMAX, {1, 7, 5, 9}, {2, 7, 1, 1}, 0, 1, FALSE, FALSE},
    {"argmax-70", TM_FUSED_CONV_ARGMAX, {1, 24, 6, 7}, {70, 24, 1, 1}, 0, 1, TRUE, FALSE},
    {"argmax-crop", TM_FUSED_CONV_ARGMAX, {2, 8, 9, 8}, {16, 8, 1, 1}, 0, 1, TRUE, TRUE},
};

static TmNode *source(Net *net, TmOp op, const char *name, TmShape s) {
  const TmKind kind = op == TM_OP_INPUT ? TM_KIND_ACT : op == TM_OP_PARAM ? TM_KIND_PARAM : TM_KIND_STATE;
  return tm_graph_source(net->graph, op, kind, s, name);
}

/* @scores: without the argmax. */
static void build(const Case *c, Net *net, gboolean scores) {
  g_autoptr(GError) error = NULL;
  const TmShape vector = TM_SHAPE(1, c->w.n, 1, 1);
  const TmAttrs attrs = {.pad = c->pad, .stride = c->stride}, eps = {.value = 1e-3f};
  TmGraph *g = tm_graph_new();
  *net = (Net){.graph = g};
  TmNode *x = source(net, TM_OP_INPUT, "x", c->x), *w = source(net, TM_OP_PARAM, "w", c->w);
  TmNode *y = c->bias ? tm_node(g, TM_OP_CONV, NULL, &attrs, x, w, source(net, TM_OP_PARAM, "b", vector))
                      : tm_node(g, TM_OP_CONV, NULL, &attrs, x, w);
  if (c->crop)
    y = tm_node(g, TM_OP_CROP, NULL, (&(TmAttrs){.top = 1, .left = 2, .bottom = 3, .right = 1}), y);
  if (c->pattern == TM_FUSED_CONV_STATS) {
    net->outputs[net->n++] = y;
    y = tm_node(g, TM_OP_BN_STATS, NULL, NULL, y);
  } else if (c->pattern == TM_FUSED_CONV_ARGMAX) {
    if (!scores) y = tm_node(g, TM_OP_ARGMAX, NULL, NULL, y);
  } else {
    y = tm_node(g, TM_OP_BN_INFER, NULL, &eps, y, source(net, TM_OP_STATE, "mean", vector),
                source(net, TM_OP_STATE, "var", vector), source(net, TM_OP_PARAM, "gamma", vector),
                source(net, TM_OP_PARAM, "beta", vector));
    if (c->pattern == TM_FUSED_CONV_BN_INFER_RELU) y = tm_node(g, TM_OP_RELU, NULL, NULL, y);
  }
  net->outputs[net->n++] = y;
  g_assert_true(tm_graph_check(g, &error));
  g_assert_no_error(error);
}

static void load(TmProgram *p, TmParams *params, const Net *net, TmDType type) {
  for (guint i = 0; i < tm_graph_n_nodes(net->graph); i++) {
    const TmNode *n = tm_graph_node(net->graph, i);
    if (n->n_in || !n->name) continue;
    const gsize count = tm_shape_count(n->shape);
    g_autofree float *x = g_new(float, count);
    TmRandom r;
    tm_random_seed(&r, g_str_hash(n->name));
    for (gsize k = 0; k < count; k++)
      x[k] = g_str_equal(n->name, "var") ? tm_random_range(&r, 0.5f, 2) : tm_random_normal(&r);
    host_bench_round(x, count, type); /* weights too: what the two differ in is not how they are rounded */
    if (n->op == TM_OP_INPUT)
      g_assert_true(tm_program_write(p, n, x, TM_F32, NULL));
    else
      g_assert_true(tm_params_write(params, tm_params_find(params, n->name), x, NULL));
  }
}

/* All outputs one after the other; run twice, so that a captured run is seen too. */
static GArray *run_in(TmBackend *b, const Case *c, TmDType type, gboolean unfused, gboolean scores) {
  g_autoptr(GError) error = NULL;
  Net net;
  build(c, &net, scores);
  TmParams *params = tm_params_new(b, net.graph, &error);
  const TmProgramOptions options = {
      .precision = type, .n_outputs = net.n, .outputs = net.outputs, .unfused = unfused};
  TmProgram *p = tm_program_new(b, params, net.graph, &options, &error);
  g_assert_no_error(error);
  gboolean there = FALSE;
  for (guint i = 0; i < p->n_steps; i++) there |= p->steps[i].op == c->pattern;
  g_assert_true(there != unfused || scores);
  load(p, params, &net, type);
  g_assert_true(tm_program_run(p, NULL) && tm_program_run(p, NULL));
  GArray *all = g_array_new(FALSE, FALSE, sizeof(float));
  for (guint i = 0; i < net.n; i++) {
    const gsize count = tm_shape_count(net.outputs[i]->shape);
    g_autofree float *x = g_new(float, count);
    g_assert_true(tm_program_read(p, net.outputs[i], x, TM_F32, NULL));
    g_array_append_vals(all, x, (guint)count);
  }
  tm_program_free(p);
  tm_params_free(params);
  tm_graph_free(net.graph);
  return all;
}

static GArray *run(TmBackend *b, const Case *c, TmDType type, gboolean unfused) {
  return run_in(b, c, type, unfused, unfused && c->pattern == TM_FUSED_CONV_ARGMAX);
}

/* As if it had been measured that cuDNN's epilogues take no time, or very much. */
static void pretend(gboolean quick) {
  g_autofree char *file = g_build_filename(g_get_user_cache_dir(), "tarmac", "cudnn.ini", NULL);
  g_autoptr(GKeyFile) keys = g_key_file_new();
  if (!g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, NULL)) return;
  g_auto(GStrv) machine = g_key_file_get_groups(keys, NULL);
  g_auto(GStrv) key = g_key_file_get_keys(keys, machine[0], NULL, NULL);
  for (guint i = 0; key[i]; i++) {
    g_autofree char *value = g_key_file_get_string(keys, machine[0], key[i], NULL);
    const char *engine = strchr(value, ' ');
    const gboolean epilogue = strstr(key[i], " and ") && engine;
    g_autofree char *other = g_strconcat(!epilogue ? "1" : quick ? "0" : "1000", engine ? engine : "", NULL);
    g_key_file_set_string(keys, machine[0], key[i], other);
  }
  g_assert_true(g_key_file_save_to_file(keys, file, NULL));
}

/* The score of each label is the highest, or as near to it as rounding may take it. */
static void check_labels(const Case *c, const GArray *labels, const GArray *scores, double bound) {
  const guint classes = (guint)c->w.n;
  g_assert_cmpuint(labels->len * classes, ==, scores->len);
  for (guint i = 0; i < labels->len; i++) {
    const float *z = &g_array_index(scores, float, i *classes);
    const guint label = (guint)g_array_index(labels, float, i);
    float top = z[0], largest = 0;
    for (guint k = 0; k < classes; k++) top = MAX(top, z[k]), largest = MAX(largest, fabsf(z[k]));
    g_assert_cmpuint(label, <, classes);
    g_assert_cmpfloat((double)(top - z[label]), <=, bound * (double)largest);
  }
}

static void compare(const Case *c, const GArray *got, const GArray *right, double bound, const char *what) {
  if (c->pattern == TM_FUSED_CONV_ARGMAX)
    check_labels(c, got, right, bound);
  else
    host_bench_compare(what, (float *)got->data, (float *)right->data, right->len, bound);
}

static void test_case(gconstpointer data) {
  const Case *c = data;
  static const struct {
    TmDType type;
    double bound; /* folding rounds the weights once more */
  } types[] = {{TM_F32, 1e-5}, {TM_BF16, 0x1p-6}, {TM_F16, 0x1p-8}};
  for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
    if (c->pattern == TM_FUSED_CONV_STATS && types[t].type != TM_F16) continue;
    g_autoptr(TmBackend) ref = tm_backend_open("ref", NULL, NULL);
    g_autoptr(GArray) right = run(ref, c, types[t].type, TRUE);
    for (int way = 0; way < 3; way++) {
      if (way) pretend(way == 1);
      g_autoptr(TmBackend) cuda = host_bench_open();
      g_autoptr(GArray) got = run(cuda, c, types[t].type, FALSE);
      compare(c, got, right, types[t].bound,
              way == 0   ? "as measured"
              : way == 1 ? "epilogue"
                         : "own kernels");
    }
    host_bench_forget();
  }
  g_assert_cmpint(tm_host_live(), ==, 0);
}

/* Without any engine for the epilogue the convolution still runs. */
static void test_no_engine(void) {
  g_autoptr(TmBackend) ref = tm_backend_open("ref", NULL, NULL);
  g_autoptr(GArray) right = run(ref, &cases[1], TM_BF16, TRUE);
  host_bench_forget();
  g_autoptr(TmBackend) cuda = host_bench_open();
  tm_host_fail("cudnnBackendFinalize", 4, cudaErrorUnknown); /* a descriptor of the first graph */
  g_autoptr(GArray) got = run(cuda, &cases[1], TM_BF16, FALSE);
  g_assert_true(tm_host_fault_fired());
  tm_host_fail(NULL, 0, cudaSuccess);
  compare(&cases[1], got, right, 0x1p-6, "without the epilogue");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  host_bench_own_cache();
  tm_host_between_blocks(argc > 1 && strcmp(argv[1], "between") == 0);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/cuda-host/fused/", cases[i].name, NULL);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  g_test_add_func("/cuda-host/fused/no-engine", test_no_engine);
  return g_test_run();
}
