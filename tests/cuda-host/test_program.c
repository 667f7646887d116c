/* Whole programs on the cuda backend's host code and kernels: the fused patterns
 * against the same graph on ref, a small training loop that is eager, lazy and replayed from a graph, and
 * what happens when any call of the runtime fails: an error in words, nothing lost, nothing leaked. */
#include <math.h>
#include <string.h>
#include <tm_host.h>

#include "engine/backend/cuda/cuda.h"
#include "engine/core/random.h"
#include "engine/graph/fused.h"
#include "tests/cuda-host/host_bench.h"

enum { CLASSES = 5, STEPS = 4, SPARSE = 5 };

#define EPS (&(TmAttrs){.value = 1e-5f})
#define POOL (&(TmAttrs){.factor = 2})

/* x -> bn, relu, pool -> enlarged beside the skip -> bn, relu -> loss, with the gradients of both bns: every
 * pattern but bn_infer+relu, and a concat that is written in place. */
enum { PARAMS = 9 };

typedef struct {
  TmGraph *graph;
  TmNode *loss, *shown;
  guint n_params;
  TmNode *params[PARAMS], *grads[PARAMS];
} Net;

static TmNode *param(Net *net, const char *name, int n, int c, int h, int w) {
  return net->params[net->n_params++] =
             tm_graph_source(net->graph, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(n, c, h, w), name);
}
static TmNode *source(Net *net, TmOp op, TmKind kind, const char *name, int n, int c, int h, int w) {
  return tm_graph_source(net->graph, op, kind, TM_SHAPE(n, c, h, w), name);
}

static TmNode *norm(Net *net, TmNode *x, const char *gamma, const char *beta) {
  const int c = x->shape.c;
  TmNode *stats = tm_node(net->graph, TM_OP_BN_STATS, NULL, NULL, x);
  TmNode *y = tm_node(net->graph, TM_OP_BN_APPLY, NULL, EPS, x, stats, param(net, gamma, 1, c, 1, 1),
                      param(net, beta, 1, c, 1, 1));
  return tm_node(net->graph, TM_OP_RELU, NULL, NULL, y);
}

static void net_init(Net *net) {
  enum { WIDE = 12 };
  g_autoptr(GError) error = NULL;
  TmGraph *g = tm_graph_new();
  *net = (Net){.graph = g};
  TmNode *x = source(net, TM_OP_INPUT, TM_KIND_ACT, "x", 2, 3, 9, 14),
         *labels = source(net, TM_OP_INPUT, TM_KIND_LABEL, "labels", 2, 1, 8, 14),
         *weights = source(net, TM_OP_STATE, TM_KIND_STATE, "weights", 1, CLASSES, 1, 1),
         *mean = source(net, TM_OP_STATE, TM_KIND_STATE, "mean", 1, WIDE, 1, 1),
         *var = source(net, TM_OP_STATE, TM_KIND_STATE, "var", 1, WIDE, 1, 1);
  TmNode *first = tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.pad = 1}), x, param(net, "w0", WIDE, 3, 3, 3));
  TmNode *skip = norm(net, first, "g0", "b0");
  TmNode *pooled = tm_node(g, TM_OP_MAX_POOL, NULL, POOL, skip);
  TmNode *up = tm_node(g, TM_OP_CONV_TRANSPOSE, NULL, (&(TmAttrs){.stride = 2}), pooled,
                       param(net, "w1", WIDE, 8, 2, 2), param(net, "c1", 1, 8, 1, 1));
  TmNode *both =
      tm_node(g, TM_OP_CONCAT, NULL, NULL, tm_node(g, TM_OP_CROP, NULL, (&(TmAttrs){.bottom = 1}), skip), up);
  TmNode *head = tm_node(g, TM_OP_CONV, NULL, NULL, both, param(net, "w2", CLASSES, WIDE + 8, 1, 1),
                         param(net, "c2", 1, CLASSES, 1, 1));
  TmNode *logits = norm(net, head, "g2", "b2");
  net->loss = tm_node(g, TM_OP_CROSS_ENTROPY, NULL, NULL, logits, labels, weights);
  TmNode *still = tm_node(g, TM_OP_BN_INFER, NULL, EPS, first, mean, var, net->params[1], net->params[2]);
  net->shown = tm_node(g, TM_OP_RELU, NULL, NULL, still);
  tm_graph_gradients(g, net->loss, NULL, net->n_params, net->params, net->grads);
  tm_graph_check(g, &error);
  g_assert_no_error(error);
}

static float value_of(const TmNode *n, TmRandom *r) {
  if (n->kind == TM_KIND_LABEL) return (float)tm_random_int(r, 2 * CLASSES + 2);
  return n->kind == TM_KIND_STATE ? tm_random_range(r, 0.5f, 2) : tm_random_normal(r);
}

/* Every source gets values that depend on its name alone. */
static gboolean load(TmProgram *p, TmParams *params, const Net *net, TmDType precision, GError **error) {
  for (guint i = 0; i < tm_graph_n_nodes(net->graph); i++) {
    const TmNode *n = tm_graph_node(net->graph, i);
    if (n->n_in || !n->name) continue;
    const gsize count = tm_shape_count(n->shape);
    g_autofree float *x = g_new(float, count);
    TmRandom r;
    tm_random_seed(&r, g_str_hash(n->name));
    for (gsize k = 0; k < count; k++) x[k] = value_of(n, &r);
    if (n->kind == TM_KIND_ACT) host_bench_round(x, count, precision);
    if (n->op == TM_OP_INPUT ? !tm_program_write(p, n, x, TM_F32, error)
                             : !tm_params_write(params, tm_params_find(params, n->name), x, error))
      return FALSE;
  }
  return TRUE;
}

/* Trains STEPS steps; @numbers receives the losses and the weights at the end. Leaves nothing behind,
 * whatever fails. */
static gboolean train(TmBackend *b, TmDType precision, gboolean unfused, GArray *numbers, GError **error) {
  Net net;
  net_init(&net);
  gboolean ok = FALSE;
  float *m = NULL;
  TmNode *const outputs[] = {net.loss, net.shown};
  const TmProgramOptions options = {.precision = precision,
                                    .n_outputs = 2,
                                    .outputs = outputs,
                                    .n_grads = net.n_params,
                                    .params = net.params,
                                    .grads = net.grads,
                                    .unfused = unfused};
  TmParams *params = tm_params_new(b, net.graph, error);
  TmProgram *p = params ? tm_program_new(b, params, net.graph, &options, error) : NULL;
  if (!p || !load(p, params, &net, precision, error)) goto out;
  m = tm_backend_alloc(b, params->n_value * sizeof *m, error);
  for (int step = 1; m && step <= STEPS; step++) {
    float loss;
    double squares;
    if (!tm_program_run(p, error) || !tm_program_read(p, net.loss, &loss, TM_F32, error) ||
        !tm_backend_sum_squares(b, params->grad, params->n_value, &squares, error))
      goto out;
    const TmUpdate u = {.n = params->n_value,
                        .w = params->value,
                        .m = m,
                        .g = params->grad,
                        .grad_scale = squares > 1 ? (float)(1 / sqrt(squares)) : 1,
                        .lr = 0.1f,
                        .momentum = 0.9f,
                        .step = step};
    if (!tm_backend_update(b, &u, error)) goto out;
    g_array_append_val(numbers, loss);
  }
  for (int i = 0; (guint)i < net.n_params && m; i++) {
    g_autofree float *w = g_new(float, tm_shape_count(net.params[i]->shape));
    if (!tm_params_read(params, tm_params_find(params, net.params[i]->name), FALSE, w, error)) goto out;
    g_array_append_vals(numbers, w, (guint)tm_shape_count(net.params[i]->shape));
  }
  if (m) {
    g_autofree float *shown = g_new(float, tm_shape_count(net.shown->shape));
    if (!tm_program_read(p, net.shown, shown, TM_F32, error)) goto out;
    g_array_append_vals(numbers, shown, (guint)tm_shape_count(net.shown->shape));
    ok = TRUE;
  }
out:
  if (m) tm_backend_release(b, m, params->n_value * sizeof *m);
  if (p) tm_program_free(p);
  if (params) tm_params_free(params);
  tm_graph_free(net.graph);
  return ok;
}

static GArray *trained(TmBackend *b, TmDType precision, gboolean unfused) {
  g_autoptr(GError) error = NULL;
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(float));
  train(b, precision, unfused, numbers, &error);
  g_assert_no_error(error);
  return numbers;
}

static void same_bits(const GArray *a, const GArray *b) {
  g_assert_cmpuint(a->len, ==, b->len);
  g_assert_cmpint(memcmp(a->data, b->data, a->len * sizeof(float)), ==, 0);
}

/* ref stores values in the same type but rounds between the ops that a pattern joins. */
static void test_against_ref(gconstpointer data) {
  const TmDType precision = (TmDType)GPOINTER_TO_INT(data);
  const double bound = precision == TM_F32 ? 1e-4 : precision == TM_F16 ? 0x1p-6 : 0x1p-3;
  g_autoptr(TmBackend) ref = tm_backend_open("ref", NULL, NULL);
  g_autoptr(TmBackend) cuda = host_bench_open();
  g_autoptr(GArray) right = trained(ref, precision, TRUE);
  g_autoptr(GArray) fused = trained(cuda, precision, FALSE);
  g_autoptr(GArray) plain = trained(cuda, precision, TRUE);
  host_bench_compare("fused", (float *)fused->data, (float *)right->data, right->len, bound);
  host_bench_compare("op by op", (float *)plain->data, (float *)right->data, right->len, bound);
}

/* All patterns that the backend has are in that net. */
static void test_patterns(void) {
  static const int wanted[] = {TM_FUSED_BN_RELU,       TM_FUSED_BN_RELU_POOL,
                               TM_FUSED_BN_INFER_RELU, TM_FUSED_RELU_DX_BN_REDUCE,
                               TM_FUSED_POOL_DX_ADD,   TM_FUSED_CROSS_ENTROPY_GRAD};
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) cuda = host_bench_open();
  Net net;
  net_init(&net);
  TmNode *const outputs[] = {net.loss, net.shown};
  TmParams *params = tm_params_new(cuda, net.graph, &error);
  const TmProgramOptions options = {.precision = TM_BF16,
                                    .n_outputs = 2,
                                    .outputs = outputs,
                                    .n_grads = net.n_params,
                                    .params = net.params,
                                    .grads = net.grads};
  TmProgram *p = tm_program_new(cuda, params, net.graph, &options, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    gboolean there = FALSE;
    for (guint k = 0; k < p->n_steps; k++) there |= p->steps[k].op == wanted[i];
    if (!there) g_test_fail_printf("%s is not in the program", tm_step_op_name(wanted[i]));
  }
  tm_program_free(p);
  tm_params_free(params);
  tm_graph_free(net.graph);
}

/* A forgotten wait reads poison when nothing runs before it must. */
static void test_lazy(void) {
  g_autoptr(TmBackend) cuda = host_bench_open();
  g_autoptr(GArray) eager = trained(cuda, TM_BF16, FALSE);
  tm_host_lazy(1);
  g_autoptr(GArray) lazy = trained(cuda, TM_BF16, FALSE);
  g_clear_pointer(&cuda, tm_backend_close);
  tm_host_lazy(0);
  same_bits(eager, lazy);
}

/* ---- a step as one piece of work ---- */

enum { WHOLE_STEPS = 6, BAD_STEP = 3 };

typedef struct {
  Net net;
  TmParams *params;
  TmProgram *p;
  float *m, *v, *kept;
} Whole;

static void whole_init(Whole *w, TmBackend *b, TmDType precision) {
  g_autoptr(GError) error = NULL;
  net_init(&w->net);
  TmNode *const outputs[] = {w->net.loss, w->net.shown};
  const TmProgramOptions options = {.precision = precision,
                                    .n_outputs = 2,
                                    .outputs = outputs,
                                    .n_grads = w->net.n_params,
                                    .params = w->net.params,
                                    .grads = w->net.grads};
  w->params = tm_params_new(b, w->net.graph, &error);
  w->p = tm_program_new(b, w->params, w->net.graph, &options, &error);
  g_assert_no_error(error);
  g_assert_true(load(w->p, w->params, &w->net, precision, NULL));
  float **all[] = {&w->m, &w->v};
  for (guint i = 0; i < 2; i++) *all[i] = tm_backend_alloc(b, w->params->n_value * sizeof(float), NULL);
  w->kept = tm_backend_alloc(b, w->params->n_state * sizeof(float), NULL);
}

static void whole_clear(Whole *w, TmBackend *b) {
  float *all[] = {w->m, w->v};
  for (guint i = 0; i < 2; i++) tm_backend_release(b, all[i], w->params->n_value * sizeof(float));
  tm_backend_release(b, w->kept, w->params->n_state * sizeof(float));
  tm_program_free(w->p);
  tm_params_free(w->params);
  tm_graph_free(w->net.graph);
}

static TmUpdate whole_update(const Whole *w, int step) {
  return (TmUpdate){.kind = TM_OPTIMIZER_ADAMW,
                    .n = w->params->n_value,
                    .w = w->params->value,
                    .m = w->m,
                    .v = w->v,
                    .g = w->params->grad,
                    .lr = 0.01f * (float)step,
                    .beta1 = 0.9f - 0.01f * (float)step,
                    .beta2 = 0.999f,
                    .eps = 1e-8f,
                    .weight_decay = 0.01f,
                    .step = step};
}

/* The loss of one step is not a number: its picture is not. */
static void spoil(const Whole *w, gboolean bad) {
  float x[2 * 3 * 9 * 14];
  const TmNode *input = tm_graph_node(w->net.graph, 0);
  TmRandom r;
  tm_random_seed(&r, 5);
  g_assert_cmpuint(tm_shape_count(input->shape), ==, G_N_ELEMENTS(x));
  for (guint i = 0; i < G_N_ELEMENTS(x); i++) x[i] = bad ? NAN : tm_random_normal(&r);
  g_assert_true(tm_program_write(w->p, input, x, TM_F32, NULL));
}

static void one_whole(Whole *w, TmBackend *b, int step, GArray *numbers) {
  TmTrained done;
  const TmTrainStep t = {.update = whole_update(w, step),
                         .clip = 0.5,
                         .loss_scale = 1,
                         .n_losses = 1,
                         .losses = {tm_program_value(w->p, w->net.loss)->view.data},
                         .state = w->params->state,
                         .kept = w->kept,
                         .n_state = w->params->n_state};
  g_assert_true(tm_backend_train_begin(b, w->p, &t, NULL) && tm_backend_train_end(b, &done, NULL));
  g_assert_true(done.skipped == (step == BAD_STEP));
  const float loss = (float)done.loss;
  if (!done.skipped) g_array_append_val(numbers, loss);
}

static void one_by_parts(Whole *w, TmBackend *b, int step, GArray *numbers) {
  float loss;
  double squares;
  TmUpdate u = whole_update(w, step);
  g_assert_true(tm_program_run(w->p, NULL) && tm_program_read(w->p, w->net.loss, &loss, TM_F32, NULL) &&
                tm_backend_sum_squares(b, u.g, u.n, &squares, NULL));
  if (step == BAD_STEP) return;
  u.grad_scale = (float)MIN(1.0, 0.5 / (sqrt(squares) + 1e-6));
  g_assert_true(tm_backend_update(b, &u, NULL));
  g_array_append_val(numbers, loss);
}

/* Losses and, at the end, all weights. */
static GArray *course(TmBackend *b, void (*one)(Whole *, TmBackend *, int, GArray *)) {
  Whole w;
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(float));
  whole_init(&w, b, TM_BF16);
  for (int step = 1; step <= WHOLE_STEPS; step++) {
    spoil(&w, step == BAD_STEP);
    one(&w, b, step, numbers);
  }
  const TmView v = {
      .data = w.params->value, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, (int)w.params->n_value), .ld = 1};
  g_autofree float *x = g_new(float, w.params->n_value);
  g_assert_true(tm_backend_read(b, &v, x, TM_F32, NULL));
  g_array_append_vals(numbers, x, (guint)w.params->n_value);
  whole_clear(&w, b);
  return numbers;
}

static void test_whole(void) {
  g_autoptr(TmBackend) b = host_bench_open();
  g_autoptr(GArray) parts = course(b, one_by_parts);
  g_autoptr(GArray) whole = course(b, one_whole);
  same_bits(parts, whole);
  tm_host_lazy(1);
  g_autoptr(GArray) lazy = course(b, one_whole);
  tm_host_lazy(0);
  same_bits(parts, lazy);
}

/* What runs away in a skipped step comes back: the state that the program changes itself. */
static void test_whole_restores(void) {
  enum { N = 37 };
  g_autoptr(TmBackend) b = host_bench_open();
  CudaBackend *cuda = (CudaBackend *)b;
  float *from = tm_backend_alloc(b, N * sizeof(float), NULL),
        *to = tm_backend_alloc(b, N * sizeof(float), NULL);
  for (int skip = 0; skip < 2; skip++) {
    const TmCudaRate rate = {.skip = skip}, *sent = tm_cuda_send(cuda, &rate, sizeof rate, NULL);
    const TmView a = {.data = from, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, N), .ld = 1},
                 z = {.data = to, .dtype = TM_F32, .shape = TM_SHAPE(1, 1, 1, N), .ld = 1};
    float x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = -1;
    g_assert_true(tm_backend_write(b, &a, x, TM_F32, NULL) && tm_backend_write(b, &z, y, TM_F32, NULL));
    g_assert_true(tm_cuda_restore(&cuda->queue, sent, from, to, N) == cudaSuccess);
    g_assert_true(tm_backend_read(b, &z, y, TM_F32, NULL));
    for (int i = 0; i < N; i++) g_assert_true(y[i] == (skip ? x[i] : -1));
  }
  tm_backend_release(b, from, N * sizeof(float));
  tm_backend_release(b, to, N * sizeof(float));
}

/* Is a step recorded anew? */
static gboolean records(Whole *w, TmBackend *b, int step) {
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(float));
  tm_host_count("cudaGraphInstantiate");
  one_whole(w, b, step, numbers);
  return tm_host_counted() > 0;
}

/* Once, on the second run; again after the work has changed, and never for other numbers. */
static void test_whole_recorded(void) {
  g_autoptr(TmBackend) b = host_bench_open();
  Whole w;
  whole_init(&w, b, TM_BF16);
  g_assert_false(records(&w, b, 1));
  g_assert_true(records(&w, b, 2));
  g_assert_false(records(&w, b, 4));
  g_assert_false(records(&w, b, 5));
  float *m = w.m;
  w.m = tm_backend_alloc(b, w.params->n_value * sizeof(float), NULL);
  g_assert_false(records(&w, b, 6)); /* eager again */
  g_assert_true(records(&w, b, 7));
  g_assert_false(records(&w, b, 8));
  tm_backend_release(b, m, w.params->n_value * sizeof(float));
  whole_clear(&w, b);
}

/* ---- failures ---- */

static gboolean all_of_it(GArray *numbers, GError **error) {
  extern const TmBackendApi tm_backend_module;
  if (!tm_backend_module.available(error)) return FALSE;
  TmBackend *b = tm_backend_module.open(&(TmBackendOptions){.deterministic = TRUE}, error);
  if (!b) return FALSE;
  b->api = &tm_backend_module;
  b->owner = g_thread_self();
  g_array_set_size(numbers, 0);
  const gboolean ok = train(b, TM_BF16, FALSE, numbers, error);
  tm_backend_close(b);
  return ok;
}

/* Whichever call fails: the work ends with an error in words, or, where it could do without (a convolution's
 * engine, a measurement), as if nothing had been. */
typedef struct {
  cudaError_t error;
  int code;
  gboolean forget; /* engines are timed anew each time: many more calls */
  int step;        /* not every call's failure is tried in one run */
  long told;       /* failures that at least come to the surface */
} Fault;

static int sparse = 1;

static void check_told(const Fault *f, const char *where, const GError *error) {
  g_assert_nonnull(error);
  g_assert_true(error->code == f->code || error->code == TM_ERROR_UNSUPPORTED ||
                (error->code == TM_ERROR_DEVICE &&
                 (g_str_has_prefix(where, "cudnn") || g_str_equal(where, "execute"))));
  g_assert_true(g_str_has_suffix(error->message, "."));
}

static void test_faults(gconstpointer data) {
  const Fault *f = data;
  g_autoptr(GArray) right = g_array_new(FALSE, FALSE, sizeof(float));
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(float));
  g_assert_true(all_of_it(right, NULL));
  long n = 1, told = 0;
  for (;; n += f->step * sparse) {
    g_autoptr(GError) error = NULL;
    if (f->forget) host_bench_forget();
    tm_host_fail(NULL, n, f->error);
    const gboolean ok = all_of_it(numbers, &error), fired = tm_host_fault_fired() != 0;
    g_autofree char *where = g_strdup(fired ? tm_host_fault_name() : "nothing");
    tm_host_fail(NULL, 0, cudaSuccess);
    if (tm_host_live()) g_error("after call %ld, %s, failed %ld objects were left", n, where, tm_host_live());
    if (ok) {
      same_bits(numbers, right);
    } else {
      told++;
      check_told(f, where, error);
    }
    if (!fired) break;
  }
  g_test_message("%ld calls, %ld failures told", n, told);
  g_assert_cmpint(told, >, f->told / (f->step * sparse));
}

/* What was timed once is not timed again. */
static void test_engines_kept(void) {
  g_autoptr(GArray) first = g_array_new(FALSE, FALSE, sizeof(float));
  g_autoptr(GArray) again = g_array_new(FALSE, FALSE, sizeof(float));
  host_bench_forget();
  tm_host_fail(NULL, 0, cudaSuccess);
  g_assert_true(all_of_it(first, NULL));
  const long before = tm_host_calls();
  tm_host_fail(NULL, 0, cudaSuccess);
  g_assert_true(all_of_it(again, NULL));
  g_test_message("%ld calls, then %ld", before, tm_host_calls());
  g_assert_cmpint(tm_host_calls(), <, before / 2);
  same_bits(first, again);
}

static void test_out_of_memory(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(float));
  tm_host_device_memory(11 << 19); /* opens, but holds no program's work */
  g_assert_false(all_of_it(numbers, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_NO_MEMORY);
  tm_host_device_memory((gsize)8 << 30);
  g_assert_cmpint(tm_host_live(), ==, 0);
  g_clear_error(&error);
  g_assert_true(all_of_it(numbers, &error));
}

/* Each reason a machine can have, and the word by which a person is helped. */
static void test_reasons(void) {
  static const struct {
    cudaError_t error;
    const char *says;
  } rows[] = {{cudaErrorInsufficientDriver, "newer driver"},
              {cudaErrorNoDevice, "CUDA_VISIBLE_DEVICES"},
              {cudaErrorUnknown, "nvidia-uvm"},
              {cudaErrorInitializationError, "cannot be used"}};
  extern const TmBackendApi tm_backend_module;
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    tm_host_fail("cudaGetDeviceCount", 1, rows[i].error);
    g_assert_false(tm_backend_module.available(&error));
    tm_host_fail(NULL, 0, cudaSuccess);
    g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
    if (!strstr(error->message, rows[i].says))
      g_test_fail_printf("“%s” does not say “%s”", error->message, rows[i].says);
  }
  g_assert_true(tm_backend_module.available(NULL));
}

static void test_device_by_uuid(void) {
  extern const TmBackendApi tm_backend_module;
  g_autoptr(GError) error = NULL;
  const TmBackendOptions there = {.device = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"}, short_form = {.device = "gpu-0001"},
                         nowhere = {.device = "GPU-ff010203-0405-0607-0809-0a0b0c0d0e0f"};
  TmBackend *b = tm_backend_module.open(&there, &error);
  g_assert_no_error(error);
  tm_backend_module.close(b);
  g_assert_nonnull(b = tm_backend_module.open(&short_form, &error));
  TmBackendInfo info;
  tm_backend_module.info(b, &info);
  g_assert_cmpstr(info.uuid, ==, there.device);
  tm_backend_info_clear(&info);
  tm_backend_module.close(b);
  g_assert_null(tm_backend_module.open(&nowhere, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(error->message, "There are: GPU-00010203")); /* what may be said instead */
  g_assert_cmpint(tm_host_live(), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  host_bench_own_cache();
  tm_host_between_blocks(argc > 1 && strcmp(argv[1], "between") == 0);
  g_test_add_data_func("/cuda-host/program/f32", GINT_TO_POINTER(TM_F32), test_against_ref);
  g_test_add_data_func("/cuda-host/program/bf16", GINT_TO_POINTER(TM_BF16), test_against_ref);
  g_test_add_data_func("/cuda-host/program/f16", GINT_TO_POINTER(TM_F16), test_against_ref);
  g_test_add_func("/cuda-host/program/patterns", test_patterns);
  g_test_add_func("/cuda-host/program/lazy", test_lazy);
  g_test_add_func("/cuda-host/program/whole", test_whole);
  g_test_add_func("/cuda-host/program/whole/restores", test_whole_restores);
  g_test_add_func("/cuda-host/program/whole/recorded", test_whole_recorded);
  g_test_add_func("/cuda-host/program/engines-kept", test_engines_kept);
  g_test_add_func("/cuda-host/program/out-of-memory", test_out_of_memory);
  g_test_add_func("/cuda-host/reasons", test_reasons);
  g_test_add_func("/cuda-host/device-by-uuid", test_device_by_uuid);
  static const Fault faults[] = {{cudaErrorMemoryAllocation, TM_ERROR_NO_MEMORY, FALSE, 3, 200},
                                 {cudaErrorIllegalAddress, TM_ERROR_DEVICE, FALSE, 15, 200},
                                 {cudaErrorMemoryAllocation, TM_ERROR_NO_MEMORY, TRUE, 41, 200}};
  if (argc > 1 && strcmp(argv[1], "sparse") == 0) sparse = SPARSE;
  for (guint i = 0; i < G_N_ELEMENTS(faults) && (argc < 2 || sparse > 1); i++) {
    g_autofree char *path = g_strdup_printf("/cuda-host/program/faults/%u", i);
    g_test_add_data_func(path, &faults[i], test_faults);
  }
  return g_test_run();
}
