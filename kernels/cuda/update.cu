/* One optimizer step over all parameters in one launch: SGD with momentum, Adam, AdamW (the forms are
 * PyTorch's, engine/backend/backend.h), and the running average of the weights. When the gradients' sum of
 * squares is not finite nothing moves. */
#include "kernels/cuda/flat.cuh"

struct Update {
  TmUpdateRule rule;
  bool wide;
};

static __device__ __forceinline__ float sgd(const TmUpdateRule &u, const TmCudaRate &r, float w, float g,
                                            float &m) {
  g += u.weight_decay * w;
  m = r.first ? g : fmaf(u.momentum, m, g);
  return w - r.lr * m;
}

static __device__ __forceinline__ float adam(const TmUpdateRule &u, const TmCudaRate &r, float w, float g,
                                             float &m, float &v) {
  if (u.rule == TM_RULE_ADAMW)
    w *= 1 - r.lr * u.weight_decay;
  else
    g += u.weight_decay * w;
  m = u.beta1 * m + (1 - u.beta1) * g;
  v = u.beta2 * v + (1 - u.beta2) * g * g;
  return w - r.lr * (m * r.correct1) / (sqrtf(v * r.correct2) + u.eps);
}

static __global__ void __launch_bounds__(TM_FLAT_THREADS, 4)
    update(Update all, const TmCudaRate *rate, const double *sum_squares) {
  const TmUpdateRule &u = all.rule;
  const gsize at = ((gsize)blockIdx.x * TM_FLAT_THREADS + threadIdx.x) * 4;
  if (at >= u.n) return;
  if (sum_squares && !(*sum_squares - *sum_squares == 0)) return; /* infinite or NaN */
  const TmCudaRate r = *rate;
  TmFour w, g, m, v, e;
  w.load(u.w, at, u.n, all.wide);
  g.load(u.g, at, u.n, all.wide);
  m.load(u.m, at, u.n, all.wide);
  if (u.rule != TM_RULE_SGD) v.load(u.v, at, u.n, all.wide);
  if (u.ema) e.load(u.ema, at, u.n, all.wide);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float scaled = g.x[i] * r.grad_scale;
    w.x[i] = u.rule == TM_RULE_SGD ? sgd(u, r, w.x[i], scaled, m.x[i])
                                   : adam(u, r, w.x[i], scaled, m.x[i], v.x[i]);
    if (u.ema) e.x[i] = u.ema_decay * e.x[i] + (1 - u.ema_decay) * w.x[i];
  }
  w.store(u.w, at, u.n, all.wide);
  m.store(u.m, at, u.n, all.wide);
  if (u.rule != TM_RULE_SGD) v.store(u.v, at, u.n, all.wide);
  if (u.ema) e.store(u.ema, at, u.n, all.wide);
}

cudaError_t tm_cuda_update(const TmCudaQueue *q, const TmUpdateRule *u, const TmCudaRate *rate,
                           const double *sum_squares) {
  const Update all = {*u, tm_flat_wide(u->w) && tm_flat_wide(u->g) && tm_flat_wide(u->m) &&
                              tm_flat_wide(u->v) && tm_flat_wide(u->ema)};
  return TM_LAUNCH(update, tm_flat_grid(u->n), dim3(TM_FLAT_THREADS), 0, q->stream, all, rate, sum_squares);
}
