/* cuda.c: the slots of the cuda backend, which is a module: tm_backend_module is what the program looks for.
 *
 * A program runs eagerly once and is captured as a CUDA graph the second time; from then on a run is one
 * launch. All that changes from run to run lies in device memory. */
#include "engine/backend/cuda/conv.h"

#include <glib/gi18n.h>
#include <gmodule.h>
#include <math.h>
#include <string.h>

/* Work space an engine may take: a share of the device's memory, within these. */
enum { WORKSPACE_SHARE = 64 };
static const gsize least_workspace = (gsize)256 << 20, most_workspace = (gsize)4 << 30;

typedef struct {
  CudaRun run; /* NULL: conv */
  CudaConv *conv;
  CudaCall call; /* points to the program's queue */
} Prepared1;

/* What a program was made ready with. */
typedef struct {
  guint n_steps;
  Prepared1 *steps;
  TmCudaQueue queue; /* its own work space */
  void *scratch;     /* of whichever convolution is running */
  gboolean warm;     /* ran once */
  cudaGraphExec_t graph;
} Prepared;

static CudaBackend *of(TmBackend *b) {
  return (CudaBackend *)b;
}

/* ---- opening and closing ---- */

static void close_cuda(TmBackend *backend) {
  CudaBackend *b = of(backend);
  if (b->handle) b->cudnn->cudnnDestroy(b->handle);
  cudaFree(b->queue.work); /* waits for what still uses it */
  cudaFree(b->landing);
  cudaFree(b->device_slot);
  cudaFree(b->sum);
  cudaFreeHost(b->staging);
  cudaFreeHost(b->slots);
  cudaFreeHost(b->host_sum);
  if (b->queue.stream) cudaStreamDestroy(b->queue.stream);
  tm_machine_cache_free(b->plans);
  g_free(b->name);
  g_free(b);
}

static gboolean open_memory(CudaBackend *b, GError **error) {
  const struct {
    void **p;
    gsize bytes;
    gboolean pinned;
  } all[] = {{&b->queue.work, tm_cuda_work(1), FALSE},
             {&b->landing, CUDA_STAGING_BYTES, FALSE},
             {(void **)&b->device_slot, CUDA_SLOT_BYTES, FALSE},
             {(void **)&b->sum, sizeof(double), FALSE},
             {&b->staging, CUDA_STAGING_BYTES, TRUE},
             {(void **)&b->slots, CUDA_SLOTS * CUDA_SLOT_BYTES, TRUE},
             {(void **)&b->host_sum, sizeof(double), TRUE}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    const cudaError_t e = all[i].pinned ? cudaHostAlloc(all[i].p, all[i].bytes, cudaHostAllocDefault)
                                        : cudaMalloc(all[i].p, all[i].bytes);
    if (!tm_cuda_ok(e, _("opening the GPU"), error)) return FALSE;
  }
  return TRUE;
}

static gboolean open_cudnn(CudaBackend *b, GError **error) {
  cudnnStatus_t s = b->cudnn->cudnnCreate(&b->handle);
  if (s == CUDNN_STATUS_SUCCESS) s = b->cudnn->cudnnSetStream(b->handle, b->queue.stream);
  if (s == CUDNN_STATUS_SUCCESS) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("cuDNN does not start on this GPU: %s."),
              b->cudnn->cudnnGetErrorString(s));
  return FALSE;
}

/* All that the times of engines depend on, but the convolution. */
static void open_plans(CudaBackend *b) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  g_autofree char *machine =
      g_strdup_printf("%s, sm_%d%d, driver %d, cuDNN %" G_GSIZE_FORMAT ", %s", b->name, b->major, b->minor,
                      driver, (gsize)b->cudnn->cudnnGetVersion(), TM_VERSION);
  b->plans = tm_machine_cache_new("cudnn.ini", machine);
}

static TmBackend *open_cuda(const TmBackendOptions *options, GError **error) {
  CudaBackend *b = g_new0(CudaBackend, 1);
  b->deterministic = options->deterministic;
  b->tf32 = options->tf32;
  b->cudnn = tm_cudnn(error);
  if (b->cudnn && tm_cuda_choose(b, options->device, error) &&
      tm_cuda_ok(cudaStreamCreateWithFlags(&b->queue.stream, cudaStreamNonBlocking), _("opening the GPU"),
                 error) &&
      open_memory(b, error) && open_cudnn(b, error)) {
    open_plans(b);
    return &b->base;
  }
  close_cuda(&b->base);
  return NULL;
}

static void info(TmBackend *backend, TmBackendInfo *out) {
  const CudaBackend *b = of(backend);
  *out = (TmBackendInfo){.name = g_strdup(b->name),
                         .memory = b->memory,
                         .threads = 1,
                         .bf16 = b->major >= 8,
                         .tf32 = b->major >= 8};
  const int cudnn = (int)b->cudnn->cudnnGetVersion();
  out->detail =
      g_strdup_printf(_("CUDA %d.%d, cuDNN %d.%d, compute capability %d.%d"), CUDART_VERSION / 1000,
                      CUDART_VERSION % 1000 / 10, cudnn / 10000, cudnn % 10000 / 100, b->major, b->minor);
}

/* ---- memory ---- */

static void *alloc(TmBackend *backend, gsize bytes, GError **error) {
  const CudaBackend *b = of(backend);
  void *p = NULL;
  cudaError_t e = cudaMalloc(&p, bytes);
  if (e == cudaSuccess) e = cudaMemsetAsync(p, 0, bytes, b->queue.stream);
  if (tm_cuda_ok(e, _("reserving memory"), error)) return p;
  cudaFree(p);
  return NULL;
}

static void release(TmBackend *backend, void *p, gsize bytes) {
  (void)backend;
  (void)bytes;
  cudaFree(p); /* waits for what still uses it */
}

/* ---- programs ---- */

/* Nets of bytes are for processors. */
static gboolean supports(TmBackend *b, int op, const TmNode *node, TmDType precision) {
  (void)b;
  if (node->kind == TM_KIND_PIXEL || (precision != TM_F32 && precision != TM_BF16 && precision != TM_F16))
    return FALSE;
  if (tm_cuda_is_conv(op)) return tm_cuda_conv_supports(op, node, precision);
  return tm_cuda_step_run(op) != NULL && tm_cuda_step_supports(op, node);
}

static gboolean takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  (void)b;
  (void)node;
  (void)precision;
  return tm_cuda_is_conv(op) ? tm_cuda_conv_takes_slice(op, operand) : tm_cuda_step_takes_slice(op, operand);
}

static void discard(TmBackend *b, gpointer prepared) {
  (void)b;
  Prepared *q = prepared;
  if (q->graph) cudaGraphExecDestroy(q->graph);
  for (guint i = 0; i < q->n_steps; i++) tm_cuda_conv_free(q->steps[i].conv);
  cudaFree(q->scratch);
  cudaFree(q->queue.work);
  g_free(q->steps);
  g_free(q);
}

CudaCall tm_cuda_call(const TmProgram *p, const TmStep *s, const TmCudaQueue *queue) {
  CudaCall c = {.q = queue, .op = s->op, .node = s->node, .n_in = s->n_in};
  for (guint i = 0; i < s->n_in; i++) c.in[i] = p->values[s->in[i]].view;
  for (guint i = 0; i < s->n_out; i++) {
    c.out[i] = p->values[s->out[i]].view;
    c.made[i] = p->values[s->out[i]].node;
  }
  return c;
}

/* A convolution before step @i that packs the same parameter: a parameter stands still while a program runs.
 */
static CudaConv *packed_before(const Prepared *q, const TmProgram *p, guint i) {
  if (p->values[p->steps[i].in[1]].home != TM_HOME_VALUE) return NULL;
  for (guint k = 0; k < i; k++)
    if (q->steps[k].conv && tm_cuda_conv_same_weights(q->steps[k].conv, &q->steps[i].call, p->precision))
      return q->steps[k].conv;
  return NULL;
}

static gboolean prepare_convs(CudaBackend *b, const TmProgram *p, Prepared *q, GError **error) {
  const CudnnTarget target = {.api = b->cudnn,
                              .handle = b->handle,
                              .deterministic = b->deterministic,
                              .tf32 = b->tf32,
                              .most_workspace =
                                  CLAMP(b->memory / WORKSPACE_SHARE, least_workspace, most_workspace),
                              .stream = b->queue.stream,
                              .cache = b->plans};
  gsize scratch = 0;
  for (guint i = 0; i < p->n_steps; i++) {
    Prepared1 *s = &q->steps[i];
    if (!tm_cuda_is_conv(p->steps[i].op)) continue;
    s->conv = tm_cuda_conv_new(&target, &s->call, p->precision, packed_before(q, p, i), error);
    if (!s->conv) return FALSE;
    scratch = MAX(scratch, tm_cuda_conv_scratch(s->conv));
  }
  if (scratch == 0) return TRUE;
  if (!tm_cuda_ok(cudaMalloc(&q->scratch, scratch), _("reserving memory"), error)) return FALSE;
  for (guint i = 0; i < q->n_steps; i++)
    if (q->steps[i].conv && !tm_cuda_conv_bind(q->steps[i].conv, q->scratch, error)) return FALSE;
  return TRUE;
}

static gpointer prepare(TmBackend *backend, TmProgram *p, GError **error) {
  CudaBackend *b = of(backend);
  Prepared *q = g_new0(Prepared, 1);
  int widest = 1;
  q->steps = g_new0(Prepared1, p->n_steps);
  q->n_steps = p->n_steps;
  for (guint i = 0; i < p->n_steps; i++)
    q->steps[i] = (Prepared1){.run = tm_cuda_step_run(p->steps[i].op),
                              .call = tm_cuda_call(p, &p->steps[i], &q->queue)};
  for (guint i = 0; i < p->n_values; i++) widest = MAX(widest, p->values[i].view.shape.c);
  q->queue.stream = b->queue.stream;
  if (tm_cuda_ok(cudaMalloc(&q->queue.work, tm_cuda_work(widest)), _("reserving memory"), error) &&
      prepare_convs(b, p, q, error))
    return q;
  discard(backend, q);
  return NULL;
}

static gboolean run_steps(const Prepared *q, GError **error) {
  for (guint i = 0; i < q->n_steps; i++) {
    const Prepared1 *s = &q->steps[i];
    if (s->conv ? !tm_cuda_conv_run(s->conv, &s->call, error)
                : !tm_cuda_ok(s->run(&s->call), _("computing"), error))
      return FALSE;
  }
  return TRUE;
}

/* Records the steps instead of running them. */
static gboolean capture(Prepared *q, GError **error) {
  cudaGraph_t graph = NULL;
  if (!tm_cuda_ok(cudaStreamBeginCapture(q->queue.stream, cudaStreamCaptureModeThreadLocal),
                  _("recording a step"), error))
    return FALSE;
  const gboolean recorded = run_steps(q, error);
  cudaError_t e = cudaStreamEndCapture(q->queue.stream, &graph);
  if (e == cudaSuccess && recorded) e = cudaGraphInstantiate(&q->graph, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  if (recorded) return tm_cuda_ok(e, _("recording a step"), error);
  cudaGetLastError();
  return FALSE;
}

static gboolean run(TmBackend *backend, TmProgram *p, GError **error) {
  (void)backend;
  Prepared *q = p->prepared;
  if (q->n_steps == 0) return TRUE;
  if (q->warm && !q->graph && !capture(q, error)) return FALSE;
  q->warm = q->graph ? tm_cuda_ok(cudaGraphLaunch(q->graph, q->queue.stream), _("computing"), error)
                     : run_steps(q, error);
  return q->warm;
}

/* ---- flat arrays ---- */

static gboolean sum_squares(TmBackend *backend, const float *x, gsize n, double *out, GError **error) {
  CudaBackend *b = of(backend);
  cudaError_t e = tm_cuda_sum_squares(&b->queue, x, n, b->sum);
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(b->host_sum, b->sum, sizeof *b->sum, cudaMemcpyDeviceToHost, b->queue.stream);
  if (e == cudaSuccess) e = cudaStreamSynchronize(b->queue.stream);
  if (!tm_cuda_ok(e, _("summing the gradients"), error)) return FALSE;
  *out = *b->host_sum;
  return TRUE;
}

static gboolean update(TmBackend *backend, const TmUpdate *u, GError **error) {
  CudaBackend *b = of(backend);
  const TmRule rules[] = {[TM_OPTIMIZER_SGD] = TM_RULE_SGD,
                          [TM_OPTIMIZER_ADAM] = TM_RULE_ADAM,
                          [TM_OPTIMIZER_ADAMW] = TM_RULE_ADAMW};
  const double step = (double)u->step;
  const TmUpdateRule r = {.rule = rules[u->kind],
                          .n = u->n,
                          .w = u->w,
                          .m = u->m,
                          .v = u->v,
                          .g = u->g,
                          .beta1 = u->beta1,
                          .beta2 = u->beta2,
                          .eps = u->eps,
                          .weight_decay = u->weight_decay,
                          .momentum = u->momentum,
                          .ema = u->ema,
                          .ema_decay = u->ema_decay};
  const TmCudaRate rate = {.grad_scale = u->grad_scale,
                           .lr = u->lr,
                           .correct1 = (float)(1 / (1 - pow((double)u->beta1, step))),
                           .correct2 = (float)(1 / (1 - pow((double)u->beta2, step))),
                           .first = u->step == 1};
  const TmCudaRate *sent = tm_cuda_send(b, &rate, sizeof rate, error);
  return sent && tm_cuda_ok(tm_cuda_update(&b->queue, &r, sent, NULL), _("updating the weights"), error);
}

static gboolean axpby(TmBackend *backend, float a, const float *x, float c, float *y, gsize n,
                      GError **error) {
  return tm_cuda_ok(tm_cuda_axpby(&of(backend)->queue, a, x, c, y, n), _("adding"), error);
}

static gboolean synchronize(TmBackend *backend, GError **error) {
  return tm_cuda_ok(cudaStreamSynchronize(of(backend)->queue.stream), _("computing"), error);
}

/* ---- pictures and marks ---- */

static gboolean paint(TmBackend *backend, const TmPaint *p, guint8 *rgba, GError **error) {
  CudaBackend *b = of(backend);
  const guint32 *palette = tm_cuda_send(b, p->palette, sizeof p->palette, error);
  const TmCudaPaint job = {.w = p->w,
                           .h = p->h,
                           .pixels = p->pixels,
                           .labels = p->labels,
                           .truth = p->truth,
                           .palette = palette,
                           .opacity = p->opacity};
  return palette && tm_cuda_ok(tm_cuda_paint(&b->queue, &job, rgba), _("painting"), error);
}

static gpointer mark(TmBackend *backend, GError **error) {
  cudaEvent_t event = NULL;
  cudaError_t e = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (e == cudaSuccess) e = cudaEventRecord(event, of(backend)->queue.stream);
  if (tm_cuda_ok(e, _("marking the work"), error)) return event;
  if (event) cudaEventDestroy(event);
  return NULL;
}

static gboolean marked(gpointer event) {
  return cudaEventQuery(event) != cudaErrorNotReady; /* after a failure nothing more is to be waited for */
}

static void unmark(gpointer event) {
  cudaEventDestroy(event);
}

G_MODULE_EXPORT const TmBackendApi tm_backend_module = {
    .version = TM_BACKEND_VERSION,
    .name = "cuda",
    .available = tm_cuda_available,
    .open = open_cuda,
    .close = close_cuda,
    .info = info,
    .supports = supports,
    .takes_slice = takes_slice,
    .alloc = alloc,
    .release = release,
    .write = tm_cuda_write,
    .read = tm_cuda_read,
    .prepare = prepare,
    .run = run,
    .discard = discard,
    .sum_squares = sum_squares,
    .update = update,
    .axpby = axpby,
    .synchronize = synchronize,
    .paint = paint,
    .mark = mark,
    .marked = marked,
    .unmark = unmark,
};
