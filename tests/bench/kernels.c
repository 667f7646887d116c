/* kernels.c: where the time of a training step, or of a prediction, goes on this machine, step by step. Built
 * with the tests, run by hand:
 *
 *   bench_kernels [-v] [-c] [-i] [base 32] [batch 4] [height 352] [width 480] [f32|bf16|int8] [cpu] [repeats
 * 3]
 *
 * Prints what the cores copy, then for each kind of step its share of the time, GFLOP/s and GB/s; -v also
 * each step. -c: one thread, measured in its own seconds, which other programs disturb less. -i: a
 * prediction, without packing weights; int8 is for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/graph/fused.h"
#include "engine/graph/op.h"
#include "engine/nets/unet.h"
#include "engine/predict/infer_graph.h"
#include "engine/predict/quantise.h"
#include "engine/program/program.h"

typedef struct {
  double seconds, flops, bytes;
  int calls;
} Cost;

static gboolean own_seconds, inference;

static double now(void) {
  struct timespec t;
  clock_gettime(own_seconds ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(gboolean ok, GError *error) {
  if (ok) return;
  fprintf(stderr, "%s\n", error ? error->message : "failed");
  exit(1);
}

/* A step of the classifier: loss and all gradients. */
typedef struct {
  TmGraph *graph;
  TmNode *x, *labels, *loss;
  GPtrArray *outputs, *params, *grads;
} Step;

static void build(Step *s, int base, int batch, int h, int w) {
  const TmUNet net = {.classes = 11, .base = base, .depth = 4, .batch_norm = TRUE, .bn_momentum = 0.1f};
  s->graph = tm_graph_new();
  s->outputs = g_ptr_array_new();
  s->params = g_ptr_array_new();
  s->grads = g_ptr_array_new();
  s->x = tm_graph_source(s->graph, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(batch, 3, h, w), "x");
  s->labels = tm_graph_source(s->graph, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(batch, 1, h, w), "labels");
  TmNode *weights = tm_graph_source(s->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 11, 1, 1), "weights");
  weights->attrs.value = 1;
  TmNode *logits = tm_unet(s->graph, s->x, &net, TRUE, NULL, s->outputs);
  s->loss = tm_node(s->graph, TM_OP_CROSS_ENTROPY, "loss", NULL, logits, s->labels, weights);
  g_ptr_array_add(s->outputs, s->loss);
  for (guint i = 0; i < tm_graph_n_nodes(s->graph); i++) {
    TmNode *n = tm_graph_node(s->graph, i);
    if (n->op == TM_OP_PARAM) g_ptr_array_add(s->params, n);
  }
  g_autofree TmNode **found = g_new0(TmNode *, s->params->len);
  tm_graph_gradients(s->graph, s->loss, NULL, s->params->len, (TmNode *const *)s->params->pdata, found);
  for (guint i = 0; i < s->params->len; i++) g_ptr_array_add(s->grads, found[i]);
}

static void fill(TmProgram *p, const Step *s) {
  const gsize nx = tm_shape_count(s->x->shape), nl = tm_shape_count(s->labels->shape);
  g_autofree float *x = g_new(float, nx);
  g_autofree guint8 *l = g_new(guint8, nl);
  for (gsize i = 0; i < nx; i++) x[i] = (float)g_random_double_range(-1.7, 1.7);
  for (gsize i = 0; i < nl; i++) l[i] = (guint8)g_random_int_range(0, 12);
  GError *error = NULL;
  check(tm_program_write(p, s->x, x, TM_F32, &error) && tm_program_write(p, s->labels, l, TM_U8, &error),
        error);
}

static double step_bytes(const TmProgram *p, const TmStep *s) {
  double sum = 0;
  for (guint i = 0; i < s->n_in + s->n_out; i++) {
    const TmView *v = &p->values[i < s->n_in ? s->in[i] : s->out[i - s->n_in]].view;
    sum += (double)tm_shape_count(v->shape) * (double)tm_dtype_size(v->dtype);
  }
  return sum;
}

static void name_of(const TmStep *s, char *room, gsize size) {
  const TmNode *n = s->node;
  const gboolean conv = n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE || n->op == TM_OP_CONV_DW ||
                        n->op == TM_OP_CONV_U8;
  const int k = !conv ? 0 : n->op == TM_OP_CONV_DW ? n->attrs.kernel_h : n->in[1]->shape.h;
  if (conv)
    g_snprintf(room, size, "%s %dx%d", tm_step_op_name(s->op), k, k);
  else
    g_snprintf(room, size, "%s", tm_step_op_name(s->op));
}

/* Times step @i alone; in training weights are packed every time. */
static double time_step(TmBackend *b, const TmProgram *p, guint i, int repeats) {
  GError *error = NULL;
  TmProgram one = *p;
  one.steps = &p->steps[i];
  one.n_steps = 1;
  one.prepared = b->api->prepare(b, &one, &error);
  check(one.prepared != NULL, error);
  double best = 1e9;
  for (int r = 0; r <= repeats; r++) {
    if (!inference) p->params->version++;
    const double t = now();
    check(b->api->run(b, &one, &error), error);
    if (r > 0) best = MIN(best, now() - t);
  }
  b->api->discard(b, one.prepared);
  return best;
}

static void profile(TmBackend *b, const TmProgram *p, int repeats, gboolean verbose) {
  g_autoptr(GHashTable) kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  double sum = 0;
  for (guint i = 0; i < p->n_steps; i++) {
    const TmStep *s = &p->steps[i];
    char name[64];
    name_of(s, name, sizeof name);
    Cost *c = g_hash_table_lookup(kinds, name);
    if (!c) g_hash_table_insert(kinds, g_strdup(name), c = g_new0(Cost, 1));
    const double t = time_step(b, p, i, repeats), flops = tm_node_flops(s->node), bytes = step_bytes(p, s);
    sum += t;
    c->seconds += t;
    c->flops += flops;
    c->bytes += bytes;
    c->calls++;
    if (!verbose) continue;
    const TmShape x = p->values[s->in[0]].view.shape, y = p->values[s->out[0]].view.shape;
    printf("%-24s %dx%dx%dx%d -> %dx%dx%dx%d  %8.3f ms %8.1f GFLOP/s %6.1f GB/s\n", name, x.n, x.c, x.h, x.w,
           y.n, y.c, y.h, y.w, t * 1e3, flops / t / 1e9, bytes / t / 1e9);
  }
  GHashTableIter it;
  gpointer key, value;
  g_hash_table_iter_init(&it, kinds);
  while (g_hash_table_iter_next(&it, &key, &value)) {
    const Cost *c = value;
    printf("%-30s %3d calls %9.2f ms %5.1f %% %8.1f GFLOP/s %6.1f GB/s\n", (char *)key, c->calls,
           c->seconds * 1e3, 100 * c->seconds / sum, c->flops / c->seconds / 1e9,
           c->bytes / c->seconds / 1e9);
  }
  printf("sum of all steps alone: %.1f ms\n", sum * 1e3);
}

static void measure_copy(void) {
  const gsize n = (gsize)256 << 20;
  g_autofree char *a = g_malloc(n);
  g_autofree char *b = g_malloc(n);
  memset(a, 1, n);
  memset(b, 2, n);
  double best = 1e9;
  for (int r = 0; r < 5; r++) {
    const double t = now();
#pragma omp parallel for if (!own_seconds)
    for (int k = 0; k < 64; k++) memcpy(b + (gsize)k * n / 64, a + (gsize)k * n / 64, n / 64);
    best = MIN(best, now() - t);
  }
  printf("memcpy: %.1f GB/s read and written\n", 2 * (double)n / best / 1e9);
}

/* Whole weights that are not all 0, for nets of bytes. */
static void fill_bytes(TmParams *params) {
  for (guint i = 0; i < params->list->len; i++) {
    const TmParam *p = &g_array_index(params->list, TmParam, i);
    const gsize n = tm_shape_count(p->shape);
    g_autofree float *x = g_new(float, n);
    const gboolean weights = g_str_has_suffix(p->name, ".bytes"), scale = g_str_has_suffix(p->name, ".scale");
    for (gsize k = 0; k < n; k++) x[k] = weights ? (float)g_random_int_range(-127, 128) : scale ? 2e-4f : 64;
    check(tm_params_write(params, p, x, NULL), NULL);
  }
}

static void predict(TmBackend *b, int base, TmShape picture, TmDType type, gboolean int8, int repeats,
                    gboolean verbose) {
  const TmUNet net = {.classes = 11, .base = base, .depth = 4, .batch_norm = TRUE};
  TmGraph *g = tm_graph_new();
  TmNode *in, *labels = tm_infer_graph(g, &net, picture, &in, NULL);
  GError *error = NULL;
  g_autoptr(TmQuantised) q = int8 ? tm_quantised_new(g, labels, &error) : NULL;
  check(!int8 || q, error);
  if (q) labels = q->labels;
  TmParams *params = tm_params_new(b, q ? q->graph : g, &error);
  check(params && tm_params_init(params, 1, &error), error);
  if (q) fill_bytes(params);
  const TmProgramOptions options = {.precision = int8 ? TM_F32 : type, .n_outputs = 1, .outputs = &labels};
  TmProgram *p = tm_program_new(b, params, q ? q->graph : g, &options, &error);
  check(p != NULL, error);
  for (int r = 0; r <= 2 * repeats; r++) {
    const double t = now();
    check(tm_program_run(p, &error), error);
    printf("prediction %.4f s\n", now() - t);
  }
  profile(b, p, repeats, verbose);
  tm_program_free(p);
  tm_params_free(params);
  tm_graph_free(g);
}

int main(int argc, char **argv) {
  gboolean verbose = FALSE;
  for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
    if (argv[1][1] == 'v')
      verbose = TRUE;
    else if (argv[1][1] == 'i')
      inference = TRUE;
    else
      own_seconds = TRUE;
  }
  const int base = argc > 1 ? atoi(argv[1]) : 32, batch = argc > 2 ? atoi(argv[2]) : 4,
            h = argc > 3 ? atoi(argv[3]) : 352, w = argc > 4 ? atoi(argv[4]) : 480;
  const TmDType type = argc > 5 && strcmp(argv[5], "f32") == 0 ? TM_F32 : TM_BF16;
  const int repeats = argc > 7 ? atoi(argv[7]) : 3;
  GError *error = NULL;
  TmBackend *b = tm_backend_open(argc > 6 ? argv[6] : "cpu",
                                 &(TmBackendOptions){.threads = own_seconds ? 1 : 0}, &error);
  check(b != NULL, error);
  TmBackendInfo info;
  tm_backend_info(b, &info);
  printf("%s, %s\n", info.name, info.detail);
  tm_backend_info_clear(&info);
  measure_copy();
  if (inference) {
    predict(b, base, TM_SHAPE(batch, 3, h, w), type, argc > 5 && strcmp(argv[5], "int8") == 0, repeats,
            verbose);
    tm_backend_close(b);
    return 0;
  }
  Step s;
  build(&s, base, batch, h, w);
  TmParams *params = tm_params_new(b, s.graph, &error);
  check(params && tm_params_init(params, 1, &error), error);
  const TmProgramOptions options = {.precision = type,
                                    .n_outputs = s.outputs->len,
                                    .outputs = (TmNode *const *)s.outputs->pdata,
                                    .n_grads = s.grads->len,
                                    .params = (TmNode *const *)s.params->pdata,
                                    .grads = (TmNode *const *)s.grads->pdata};
  TmProgram *p = tm_program_new(b, params, s.graph, &options, &error);
  check(p != NULL, error);
  fill(p, &s);
  printf("%u steps, arena %.0f MB\n", p->n_steps, (double)p->arena_bytes / 1e6);
  g_autofree float *m = g_new0(float, params->n_value);
  g_autofree float *v = g_new0(float, params->n_value);
  const TmUpdate u = {.kind = TM_OPTIMIZER_ADAMW,
                      .n = params->n_value,
                      .w = params->value,
                      .m = m,
                      .v = v,
                      .g = params->grad,
                      .grad_scale = 1,
                      .lr = 1e-3f,
                      .beta1 = 0.9f,
                      .beta2 = 0.999f,
                      .eps = 1e-8f,
                      .weight_decay = 0.01f,
                      .step = 1};
  for (int r = 0; r <= 2 * repeats; r++) {
    const double t = now();
    check(tm_program_run(p, &error), error);
    const double ran = now();
    check(tm_backend_update(b, &u, &error), error);
    params->version++;
    float loss;
    check(tm_program_read(p, s.loss, &loss, TM_F32, &error), error);
    printf("step %.4f s (run %.4f, update %.4f) loss %.5f\n", now() - t, ran - t, now() - ran, (double)loss);
  }
  profile(b, p, repeats, verbose);
  tm_program_free(p);
  tm_params_free(params);
  tm_graph_free(s.graph);
  tm_backend_close(b);
  return 0;
}
