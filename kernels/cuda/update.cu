/* One optimizer step over all parameters in one launch: SGD with momentum, Adam, AdamW (the forms are
 * PyTorch's, engine/backend/backend.h), and the running average of the weights. All numbers come from device
 * memory; one of them says that nothing is to move. */
#include "kernels/cuda/flat.cuh"

struct Update {
  TmUpdateRule rule;
  bool wide;
};

static __device__ __forceinline__ float sgd(const TmCudaRate &r, float w, float g, float &m) {
  g += r.weight_decay * w;
  m = r.first ? g : fmaf(r.momentum, m, g);
  return w - r.lr * m;
}

static __device__ __forceinline__ float adam(TmRule rule, const TmCudaRate &r, float w, float g, float &m,
                                             float &v) {
  if (rule == TM_RULE_ADAMW)
    w *= 1 - r.lr * r.weight_decay;
  else
    g += r.weight_decay * w;
  m = r.beta1 * m + (1 - r.beta1) * g;
  v = r.beta2 * v + (1 - r.beta2) * g * g;
  return w - r.lr * (m * r.correct1) / (sqrtf(v * r.correct2) + r.eps);
}

static __global__ void __launch_bounds__(TM_FLAT_THREADS, 4) update(Update all, const TmCudaRate *rate) {
  const TmUpdateRule &u = all.rule;
  const gsize at = ((gsize)blockIdx.x * TM_FLAT_THREADS + threadIdx.x) * 4;
  const TmCudaRate r = *rate;
  if (at >= u.n || r.skip) return;
  TmFour w, g, m, v, e;
  w.load(u.w, at, u.n, all.wide);
  g.load(u.g, at, u.n, all.wide);
  m.load(u.m, at, u.n, all.wide);
  if (u.rule != TM_RULE_SGD) v.load(u.v, at, u.n, all.wide);
  if (u.ema) e.load(u.ema, at, u.n, all.wide);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float scaled = g.x[i] * r.grad_scale;
    w.x[i] = u.rule == TM_RULE_SGD ? sgd(r, w.x[i], scaled, m.x[i])
                                   : adam(u.rule, r, w.x[i], scaled, m.x[i], v.x[i]);
    if (u.ema) e.x[i] = r.ema_decay * e.x[i] + (1 - r.ema_decay) * w.x[i];
  }
  w.store(u.w, at, u.n, all.wide);
  m.store(u.m, at, u.n, all.wide);
  if (u.rule != TM_RULE_SGD) v.store(u.v, at, u.n, all.wide);
  if (u.ema) e.store(u.ema, at, u.n, all.wide);
}

cudaError_t tm_cuda_update(const TmCudaQueue *q, const TmUpdateRule *u, const TmCudaRate *rate) {
  const Update all = {*u, tm_flat_wide(u->w) && tm_flat_wide(u->g) && tm_flat_wide(u->m) &&
                              tm_flat_wide(u->v) && tm_flat_wide(u->ema)};
  return TM_LAUNCH(update, tm_flat_grid(u->n), dim3(TM_FLAT_THREADS), 0, q->stream, all, rate);
}
