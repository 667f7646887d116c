/* train.c: a training step as one piece of work: the program, is its gradient sound, the update or what is
 * put back instead; and then the few numbers that the host wants to know. */
#include "engine/backend/cuda/programs.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

TmUpdateRule tm_cuda_rule(const TmUpdate *u) {
  static const TmRule rules[] = {[TM_OPTIMIZER_SGD] = TM_RULE_SGD,
                                 [TM_OPTIMIZER_ADAM] = TM_RULE_ADAM,
                                 [TM_OPTIMIZER_ADAMW] = TM_RULE_ADAMW};
  return (TmUpdateRule){
      .rule = rules[u->kind], .n = u->n, .w = u->w, .m = u->m, .v = u->v, .g = u->g, .ema = u->ema};
}

TmCudaRate tm_cuda_rate(const TmUpdate *u) {
  const double step = (double)u->step;
  return (TmCudaRate){.grad_scale = u->grad_scale,
                      .lr = u->lr,
                      .beta1 = u->beta1,
                      .beta2 = u->beta2,
                      .eps = u->eps,
                      .weight_decay = u->weight_decay,
                      .momentum = u->momentum,
                      .ema_decay = u->ema_decay,
                      .correct1 = (float)(1 / (1 - pow((double)u->beta1, step))),
                      .correct2 = (float)(1 / (1 - pow((double)u->beta2, step))),
                      .first = u->step == 1};
}

static cudaError_t after_program(CudaBackend *b, const TmTrainStep *s) {
  const TmCudaQueue *q = &b->queue;
  const TmUpdateRule rule = tm_cuda_rule(&s->update);
  const float *losses[TM_CUDA_LOSSES] = {NULL};
  for (guint i = 0; i < s->n_losses; i++) losses[i] = s->losses[i];
  cudaError_t e = tm_cuda_sum_squares(q, rule.g, rule.n, b->sum);
  if (e == cudaSuccess)
    e = tm_cuda_decide(q, (const TmCudaPlan *)b->device_slot, losses, b->sum, b->made, b->verdict);
  if (e == cudaSuccess) e = tm_cuda_update(q, &rule, b->made);
  if (e == cudaSuccess && s->n_state) e = tm_cuda_restore(q, b->made, s->kept, s->state, s->n_state);
  return e == cudaSuccess ? cudaMemcpyAsync(b->host_verdict, b->verdict, sizeof *b->verdict,
                                            cudaMemcpyDeviceToHost, q->stream)
                          : e;
}

static gboolean whole_step(CudaProgram *q, gpointer backend, GError **error) {
  CudaBackend *b = backend;
  const TmTrainStep *s = &q->trained;
  const cudaError_t e =
      s->n_state ? tm_cuda_axpby(&b->queue, 1, s->state, 0, s->kept, s->n_state) : cudaSuccess;
  return tm_cuda_ok(e, _("computing"), error) && tm_cuda_run_steps(q, NULL, error) &&
         tm_cuda_ok(after_program(b, s), _("updating the weights"), error);
}

/* Without its numbers: what a recording is good for. */
static TmTrainStep what_stays(const TmTrainStep *s) {
  TmTrainStep t = {.n_losses = s->n_losses, .state = s->state, .kept = s->kept, .n_state = s->n_state};
  for (guint i = 0; i < s->n_losses; i++) t.losses[i] = s->losses[i];
  t.update = (TmUpdate){.kind = s->update.kind,
                        .n = s->update.n,
                        .w = s->update.w,
                        .m = s->update.m,
                        .v = s->update.v,
                        .g = s->update.g,
                        .ema = s->update.ema};
  return t;
}

static gboolean same_work(const TmTrainStep *a, const TmTrainStep *b) {
  gboolean same = a->n_losses == b->n_losses && a->state == b->state && a->kept == b->kept &&
                  a->n_state == b->n_state && a->update.kind == b->update.kind &&
                  a->update.n == b->update.n && a->update.w == b->update.w && a->update.m == b->update.m &&
                  a->update.v == b->update.v && a->update.g == b->update.g && a->update.ema == b->update.ema;
  for (guint i = 0; i < a->n_losses && same; i++) same = a->losses[i] == b->losses[i];
  return same;
}

gboolean tm_cuda_train_begin(TmBackend *backend, TmProgram *p, const TmTrainStep *step, GError **error) {
  CudaBackend *b = (CudaBackend *)backend;
  CudaProgram *q = p->prepared;
  const TmTrainStep now = what_stays(step);
  if (!same_work(&now, &q->trained)) tm_cuda_forget(&q->step);
  q->trained = now;
  const TmCudaPlan plan = {
      .rate = tm_cuda_rate(&step->update), .clip = step->clip, .loss_scale = step->loss_scale};
  return tm_cuda_send(b, &plan, sizeof plan, error) && tm_cuda_replay(q, &q->step, whole_step, b, error);
}

gboolean tm_cuda_train_end(TmBackend *backend, TmTrained *out, GError **error) {
  const CudaBackend *b = (CudaBackend *)backend;
  if (!tm_cuda_ok(cudaStreamSynchronize(b->queue.stream), _("computing"), error)) return FALSE;
  *out = (TmTrained){.squares = b->host_verdict->squares, .skipped = b->host_verdict->skip != 0};
  for (int i = 0; i < TM_CUDA_LOSSES; i++) out->loss += (double)b->host_verdict->losses[i];
  return TRUE;
}
