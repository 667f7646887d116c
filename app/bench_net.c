#include "app/bench_net.h"

#include <glib/gi18n.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"
#include "engine/predict/infer_graph.h"
#include "engine/predict/quantise.h"
#include "engine/train/losses.h"

struct _TmBenchNet {
  TmBackend *backend;
  TmBenchPlan plan;
  TmGraph *graph;
  TmNode *picture, *truth, *tick;
  TmNode *labels; /* inference: the answer */
  TmLoss loss;    /* training */
  TmParams *params;
  TmProgram *program;
  float *m, *v, *kept_state;
  guint8 *pixels, *classes, *answer; /* host */
  double flops;
  gint64 step;
};

static gsize pixels_of(const TmBenchNet *b) {
  return (gsize)b->plan.batch * (gsize)b->plan.height * (gsize)b->plan.width;
}

/* The labels are one more than there are classes, as CamVid's: one in twelve pixels is void. */
static gboolean fill(TmBenchNet *b, GError **error) {
  gsize n = pixels_of(b);
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
  return TRUE;
}

static gboolean compile(TmBenchNet *b, GPtrArray *outputs, guint n, TmNode **params, TmNode **grads,
                        GError **error) {
  if (!tm_graph_check(b->graph, error)) return FALSE;
  g_autoptr(GPtrArray) roots = g_ptr_array_new();
  for (guint i = 0; i < outputs->len; i++) g_ptr_array_add(roots, outputs->pdata[i]);
  for (guint i = 0; i < n; i++) g_ptr_array_add(roots, grads[i]);
  b->flops = tm_graph_flops(b->graph, roots->len, (TmNode *const *)roots->pdata);
  if (!(b->params = tm_params_new(b->backend, b->graph, error))) return FALSE;
  const TmProgramOptions options = {.precision = b->plan.precision,
                                    .n_outputs = outputs->len,
                                    .outputs = (TmNode *const *)outputs->pdata,
                                    .n_grads = n,
                                    .params = params,
                                    .grads = grads};
  b->program = tm_program_new(b->backend, b->params, b->graph, &options, error);
  return b->program != NULL;
}

static gboolean build_training(TmBenchNet *b, const TmSettings *s, const TmUNet *net, TmShape picture,
                               GError **error) {
  TmNode *x = tm_infer_input(b->graph, picture, &b->picture);
  b->truth = tm_graph_source(b->graph, TM_OP_INPUT, TM_KIND_LABEL,
                             TM_SHAPE(picture.n, 1, picture.h, picture.w), "truth");
  if (net->dropout > 0)
    b->tick = tm_graph_source(b->graph, TM_OP_INPUT, TM_KIND_COUNT, TM_SHAPE(1, 1, 1, 1), "tick");
  TmNode *weights = tm_graph_source(b->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, b->plan.classes, 1, 1),
                                    "class_weights");
  g_autoptr(GPtrArray) outputs = g_ptr_array_new(), params = g_ptr_array_new();
  TmNode *logits = tm_unet(b->graph, x, net, TRUE, b->tick, outputs);
  b->loss = tm_loss_build(b->graph, s, logits, b->truth, weights);
  if (!tm_graph_check(b->graph, error)) return FALSE;
  for (guint i = 0; i < b->loss.n; i++) g_ptr_array_add(outputs, b->loss.parts[i]);
  for (guint i = 0; i < tm_graph_n_nodes(b->graph); i++)
    if (tm_graph_node(b->graph, i)->op == TM_OP_PARAM) g_ptr_array_add(params, tm_graph_node(b->graph, i));
  g_autofree TmNode **grads = g_new0(TmNode *, params->len);
  tm_graph_gradients(b->graph, b->loss.root, NULL, params->len, (TmNode *const *)params->pdata, grads);
  return compile(b, outputs, params->len, (TmNode **)params->pdata, grads, error);
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

static gboolean build_inference(TmBenchNet *b, const TmUNet *net, TmShape picture, GError **error) {
  b->labels = tm_infer_graph(b->graph, net, picture, &b->picture, NULL);
  if (b->plan.int8 && !to_bytes(b, error)) return FALSE;
  g_autoptr(GPtrArray) outputs = g_ptr_array_new();
  g_ptr_array_add(outputs, b->labels);
  return compile(b, outputs, 0, NULL, NULL, error);
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
  gsize bytes = b->params->n_value * sizeof(float);
  return (b->m = tm_backend_alloc(b->backend, bytes, error)) &&
         (b->v = tm_backend_alloc(b->backend, bytes, error)) &&
         (b->kept_state = tm_backend_alloc(b->backend, MAX(b->params->n_state, 1) * sizeof(float), error));
}

TmBenchNet *tm_bench_net_new(TmBackend *backend, const TmSettings *s, const TmBenchPlan *plan,
                             GError **error) {
  g_autoptr(TmBenchNet) b = g_new0(TmBenchNet, 1);
  b->backend = backend;
  b->plan = *plan;
  b->graph = tm_graph_new();
  TmUNet net;
  tm_infer_net(s, (guint)plan->classes, &net);
  TmShape picture = TM_SHAPE(plan->batch, 3, plan->height, plan->width);
  gboolean built = fill(b, error) &&
                   (plan->training ? build_training(b, s, &net, picture, error)
                                   : build_inference(b, &net, picture, error)) &&
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
  if (!tm_program_write(b->program, b->picture, b->pixels, TM_U8, error) ||
      !tm_program_write(b->program, b->truth, b->classes, TM_U8, error) ||
      (b->tick && !tm_program_write(b->program, b->tick, &tick, TM_I32, error)) ||
      !tm_backend_axpby(b->backend, 1, b->params->state, 0, b->kept_state, b->params->n_state, error) ||
      !tm_program_run(b->program, error) ||
      !tm_program_read(b->program, b->loss.parts[0], &loss, TM_F32, error) ||
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
