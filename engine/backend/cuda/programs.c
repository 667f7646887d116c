#include "engine/backend/cuda/programs.h"

#include <glib/gi18n.h>

/* Work space an engine may take: a share of the device's memory, within these. */
enum { WORKSPACE_SHARE = 64 };
static const gsize least_workspace = (gsize)256 << 20, most_workspace = (gsize)4 << 30;

void tm_cuda_discard(TmBackend *b, gpointer prepared) {
  (void)b;
  CudaProgram *q = prepared;
  tm_cuda_forget(&q->alone);
  tm_cuda_forget(&q->step);
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
static CudaConv *packed_before(const CudaProgram *q, const TmProgram *p, guint i) {
  if (p->values[p->steps[i].in[1]].home != TM_HOME_VALUE) return NULL;
  for (guint k = 0; k < i; k++)
    if (q->steps[k].conv && tm_cuda_conv_same_weights(q->steps[k].conv, &q->steps[i].call, p->precision))
      return q->steps[k].conv;
  return NULL;
}

static gboolean prepare_convs(CudaBackend *b, const TmProgram *p, CudaProgram *q, GError **error) {
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
    CudaStep *s = &q->steps[i];
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

gpointer tm_cuda_prepare(TmBackend *backend, TmProgram *p, GError **error) {
  CudaBackend *b = (CudaBackend *)backend;
  CudaProgram *q = g_new0(CudaProgram, 1);
  int widest = 1;
  q->steps = g_new0(CudaStep, p->n_steps);
  q->n_steps = p->n_steps;
  for (guint i = 0; i < p->n_steps; i++)
    q->steps[i] =
        (CudaStep){.run = tm_cuda_step_run(p->steps[i].op), .call = tm_cuda_call(p, &p->steps[i], &q->queue)};
  for (guint i = 0; i < p->n_values; i++) widest = MAX(widest, p->values[i].view.shape.c);
  q->queue.stream = b->queue.stream;
  if (tm_cuda_ok(cudaMalloc(&q->queue.work, tm_cuda_work(widest)), _("reserving memory"), error) &&
      prepare_convs(b, p, q, error))
    return q;
  tm_cuda_discard(backend, q);
  return NULL;
}

gboolean tm_cuda_run_steps(CudaProgram *q, gpointer unused, GError **error) {
  (void)unused;
  for (guint i = 0; i < q->n_steps; i++) {
    const CudaStep *s = &q->steps[i];
    if (s->conv ? !tm_cuda_conv_run(s->conv, &s->call, error)
                : !tm_cuda_ok(s->run(&s->call), _("computing"), error))
      return FALSE;
  }
  return TRUE;
}

/* ---- recordings ---- */

void tm_cuda_forget(CudaRecording *r) {
  if (r->graph) cudaGraphExecDestroy(r->graph);
  *r = (CudaRecording){0};
}

/* Records the work instead of doing it. */
static gboolean record(CudaProgram *q, CudaRecording *r, CudaWork work, gpointer data, GError **error) {
  cudaGraph_t graph = NULL;
  if (!tm_cuda_ok(cudaStreamBeginCapture(q->queue.stream, cudaStreamCaptureModeThreadLocal),
                  _("recording a step"), error))
    return FALSE;
  const gboolean recorded = work(q, data, error);
  cudaError_t e = cudaStreamEndCapture(q->queue.stream, &graph);
  if (e == cudaSuccess && recorded) e = cudaGraphInstantiate(&r->graph, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  if (recorded) return tm_cuda_ok(e, _("recording a step"), error);
  cudaGetLastError();
  return FALSE;
}

gboolean tm_cuda_replay(CudaProgram *q, CudaRecording *r, CudaWork work, gpointer data, GError **error) {
  if (r->warm && !r->graph && !record(q, r, work, data, error)) return FALSE;
  r->warm = r->graph ? tm_cuda_ok(cudaGraphLaunch(r->graph, q->queue.stream), _("computing"), error)
                     : work(q, data, error);
  return r->warm;
}

gboolean tm_cuda_run(TmBackend *backend, TmProgram *p, GError **error) {
  (void)backend;
  CudaProgram *q = p->prepared;
  return q->n_steps == 0 || tm_cuda_replay(q, &q->alone, tm_cuda_run_steps, NULL, error);
}
