#include "app/bench_net.h"

#include <glib/gi18n.h>

#include "engine/core/free_memory.h"
#include "engine/core/random.h"
#include "engine/core/tensor.h"
#include "engine/predict/infer_graph.h"
#include "engine/predict/quantise.h"
#include "engine/train/recompute.h"

struct _TmBenchNet {
  TmBackend *backend;
  TmBenchPlan plan;
  TmTrainGraph train;       /* training */
  TmGraph *graph;           /* inference, */
  TmNode *picture, *labels; /* its question and answer */
  TmParams *params;
  TmProgram *program;
  float *m, *v, *kept_state;
  guint8 *pixels, *classes, *answer; /* host */
  TmBenchMemory took;                /* but for the process's growth */
  double flops;
  gint64 step;
};

/* What is in memory, less @before. */
static gsize more_than(gsize before) {
  const gsize now = tm_resident_memory();
  return now > before ? now - before : 0;
}

static gsize pixels_of(const TmBenchNet *b) {
  return (gsize)b->plan.batch * (gsize)b->plan.height * (gsize)b->plan.width;
}

/* The labels are one more than there are classes, as CamVid's: one in twelve pixels is void. */
static gboolean fill(TmBenchNet *b, GError **error) {
  const gsize n = pixels_of(b), before = tm_resident_memory();
  b->pixels = tm_host_alloc(n * 3);
  b->classes = tm_host_alloc(n);
  b->answer = tm_host_alloc(n);
  if (!b->pixels || !b->classes || !b->answer) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                _("There is no memory for a batch of %" G_GSIZE_FORMAT " bytes; a smaller one needs less."),
                n * 5);
    return FALSE;
  }
  TmRandom r;
  tm_random_seed(&r, 1);
  for (gsize i = 0; i < n * 3; i++) b->pixels[i] = (guint8)tm_random_int(&r, 256);
  for (gsize i = 0; i < n; i++) {
    guint label = tm_random_int(&r, (guint)b->plan.classes + 1);
    b->classes[i] = label == (guint)b->plan.classes ? TM_VOID : (guint8)label;
  }
  b->took.batch = more_than(before);
  return TRUE;
}

static gboolean compile(TmBenchNet *b, const TmGraph *g, const TmProgramOptions *o, GError **error) {
  if (!tm_graph_check(g, error)) return FALSE;
  g_autoptr(GPtrArray) roots = g_ptr_array_new();
  for (guint i = 0; i < o->n_outputs; i++) g_ptr_array_add(roots, o->outputs[i]);
  for (guint i = 0; i < o->n_grads; i++) g_ptr_array_add(roots, o->grads[i]);
  b->flops = tm_graph_flops(g, roots->len, (TmNode *const *)roots->pdata);
  gsize before = tm_resident_memory();
  if (!(b->params = tm_params_new(b->backend, g, error))) return FALSE;
  b->took.weights = more_than(before);
  before = tm_resident_memory();
  b->program = tm_program_new(b->backend, b->params, g, o, error);
  b->took.values = more_than(before);
  return b->program != NULL;
}

/* What the step needs beside its values. */
static TmBenchMemory beside(const TmBenchNet *b) {
  gsize floats = 0;
  for (guint i = 0; i < b->train.n_forward; i++) {
    const TmNode *n = tm_graph_node(b->train.graph, i);
    floats += tm_shape_count(n->shape) * (n->op == TM_OP_PARAM ? 4 : n->op == TM_OP_STATE ? 2 : 0);
  }
  return (TmBenchMemory){.process = tm_process_memory() + TM_PROCESS_GROWS,
                         .batch = pixels_of(b) * 5,
                         .weights = floats * sizeof(float)};
}

static gboolean fit(TmBenchNet *b, const TmSettings *s, GError **error) {
  const TmBenchPlan *p = &b->plan;
  const TmTrainShape shape = {s, (guint)p->classes, p->batch, p->width, p->height, p->precision};
  TmRates *rates = tm_rates_new(b->backend, s->convolutions);
  const TmBenchMemory others = beside(b);
  tm_train_graph_clear(&b->train);
  const gboolean fits =
      tm_recompute_fit(&b->train, &shape, b->backend, rates, (gsize)s->memory_limit * 1000000,
                       others.process + others.batch + others.weights, error);
  tm_rates_free(rates);
  return fits;
}

static gboolean build_training(TmBenchNet *b, const TmSettings *s, GError **error) {
  const TmBenchPlan *p = &b->plan;
  if (!tm_train_graph_build(&b->train, s, (guint)p->classes, p->batch, p->width, p->height, NULL, error) ||
      (s->memory_limit > 0 && !fit(b, s, error)))
    return FALSE;
  const TmProgramOptions options = tm_train_graph_options(&b->train, p->precision);
  return compile(b, b->train.graph, &options, error);
}

static gboolean to_bytes(TmBenchNet *b, GError **error) {
  if (!tm_graph_check(b->graph, error)) return FALSE;
  g_autoptr(TmQuantised) q = tm_quantised_new(b->graph, b->labels, error);
  if (!q) return FALSE;
  tm_graph_free(b->graph);
  b->graph = g_steal_pointer(&q->graph);
  b->picture = q->picture;
  b->labels = q->labels;
  return TRUE;
}

static gboolean build_inference(TmBenchNet *b, const TmSettings *s, GError **error) {
  TmUNet net;
  tm_infer_net(s, (guint)b->plan.classes, &net);
  b->graph = tm_graph_new();
  b->labels = tm_infer_graph(b->graph, &net, TM_SHAPE(b->plan.batch, 3, b->plan.height, b->plan.width),
                             &b->picture, NULL);
  if (b->plan.int8 && !to_bytes(b, error)) return FALSE;
  const TmProgramOptions options = {.precision = b->plan.precision, .n_outputs = 1, .outputs = &b->labels};
  return compile(b, b->graph, &options, error);
}

static gboolean write_state(TmBenchNet *b, const char *name, guint n, float value, GError **error) {
  const TmParam *p = tm_params_find(b->params, name);
  if (!p) return TRUE;
  g_autofree float *values = g_new(float, n);
  for (guint i = 0; i < n; i++) values[i] = value;
  return tm_params_write(b->params, p, values, error);
}

/* Whole weights, and factors that bring their sums to bytes. */
static gboolean write_bytes(TmBenchNet *b, GError **error) {
  TmRandom r;
  tm_random_seed(&r, 2);
  for (guint i = 0; i < b->params->list->len; i++) {
    const TmParam *p = &g_array_index(b->params->list, TmParam, i);
    const gsize n = tm_shape_count(p->shape);
    const gboolean weights = g_str_has_suffix(p->name, ".bytes"), scale = g_str_has_suffix(p->name, ".scale");
    g_autofree float *x = g_new(float, n);
    for (gsize k = 0; k < n; k++) x[k] = weights ? (float)tm_random_int(&r, 255) - 127 : scale ? 2e-4f : 64;
    if (!tm_params_write(b->params, p, x, error)) return FALSE;
  }
  return TRUE;
}

static gboolean open_weights(TmBenchNet *b, GError **error) {
  if (b->plan.int8) return write_bytes(b, error);
  if (!tm_params_init(b->params, 1, error) || !write_state(b, "input.mean", 3, 127.5f, error) ||
      !write_state(b, "input.std", 3, 73.9f, error) ||
      !write_state(b, "class_weights", (guint)b->plan.classes, 1, error))
    return FALSE;
  if (!b->plan.training) return TRUE;
  const gsize bytes = b->params->n_value * sizeof(float), before = tm_resident_memory();
  const gboolean there =
      (b->m = tm_backend_alloc(b->backend, bytes, error)) &&
      (b->v = tm_backend_alloc(b->backend, bytes, error)) &&
      (b->kept_state = tm_backend_alloc(b->backend, MAX(b->params->n_state, 1) * sizeof(float), error));
  b->took.weights += more_than(before);
  return there;
}

TmBenchNet *tm_bench_net_new(TmBackend *backend, const TmSettings *s, const TmBenchPlan *plan,
                             GError **error) {
  g_autoptr(TmBenchNet) b = g_new0(TmBenchNet, 1);
  b->backend = backend;
  b->plan = *plan;
  const gboolean built = fill(b, error) &&
                         (plan->training ? build_training(b, s, error) : build_inference(b, s, error)) &&
                         open_weights(b, error);
  return built ? g_steal_pointer(&b) : NULL;
}

static void release(TmBenchNet *b, float *p, gsize n) {
  if (p) tm_backend_release(b->backend, p, n * sizeof(float));
}

void tm_bench_net_free(TmBenchNet *b) {
  if (!b) return;
  tm_program_free(b->program);
  if (b->params) {
    release(b, b->m, b->params->n_value);
    release(b, b->v, b->params->n_value);
    release(b, b->kept_state, MAX(b->params->n_state, 1));
  }
  tm_params_free(b->params);
  tm_train_graph_clear(&b->train);
  tm_graph_free(b->graph);
  gsize n = pixels_of(b);
  tm_host_free(b->pixels, n * 3);
  tm_host_free(b->classes, n);
  tm_host_free(b->answer, n);
  g_free(b);
}

static gboolean infer(TmBenchNet *b, GError **error) {
  return tm_program_write(b->program, b->picture, b->pixels, TM_U8, error) &&
         tm_program_run(b->program, error) && tm_program_read(b->program, b->labels, b->answer, TM_U8, error);
}

/* All that the trainer does in a step, but for decoding: see engine/train/step.c. */
static gboolean train(TmBenchNet *b, GError **error) {
  gint32 tick = (gint32)b->step;
  double squares;
  float loss;
  if (!tm_program_write(b->program, b->train.picture, b->pixels, TM_U8, error) ||
      !tm_program_write(b->program, b->train.labels, b->classes, TM_U8, error) ||
      (b->train.tick && !tm_program_write(b->program, b->train.tick, &tick, TM_I32, error)) ||
      !tm_backend_axpby(b->backend, 1, b->params->state, 0, b->kept_state, b->params->n_state, error) ||
      !tm_program_run(b->program, error) ||
      !tm_program_read(b->program, b->train.loss.parts[0], &loss, TM_F32, error) ||
      !tm_backend_sum_squares(b->backend, b->params->grad, b->params->n_value, &squares, error))
    return FALSE;
  TmUpdate u = {.kind = TM_OPTIMIZER_ADAMW,
                .n = b->params->n_value,
                .w = b->params->value,
                .m = b->m,
                .v = b->v,
                .g = b->params->grad,
                .grad_scale = 1,
                .lr = 1e-3f,
                .beta1 = 0.9f,
                .beta2 = 0.999f,
                .eps = 1e-8f,
                .weight_decay = 0.01f,
                .step = ++b->step};
  if (!tm_backend_update(b->backend, &u, error)) return FALSE;
  b->params->version++;
  return tm_backend_synchronize(b->backend, error);
}

gboolean tm_bench_net_run(TmBenchNet *b, GError **error) {
  return b->plan.training ? train(b, error) : infer(b, error);
}

double tm_bench_net_flops(const TmBenchNet *b) {
  return b->flops;
}

TmProgram *tm_bench_net_program(TmBenchNet *b) {
  return b->program;
}

gsize tm_bench_net_memory(const TmBenchNet *b) {
  gsize arrays =
      b->params->n_value * (b->plan.training ? 4 : 1) + b->params->n_state * (b->plan.training ? 2 : 1);
  return b->program->arena_bytes + arrays * sizeof(float);
}

const TmTrainGraph *tm_bench_net_graph(const TmBenchNet *b) {
  return &b->train;
}

gboolean tm_bench_net_parts(const TmBenchNet *b, TmBenchMemory *predicted, TmBenchMemory *actual, GError **error) {
  const gsize now = tm_resident_memory(), known = b->took.batch + b->took.weights + b->took.values;
  gsize engine;
  if (!tm_backend_needs(b->backend, b->program, &engine, error)) return FALSE;
  *predicted = beside(b);
  predicted->values = b->program->arena_bytes + engine;
  *actual = b->took;
  actual->process = now > known ? now - known : 0;
  return TRUE;
}
