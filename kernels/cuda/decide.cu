/* Whether a training step's gradient is sound, and by what it is to be multiplied; and what is to be put back
 * when it is not. So that the whole step can be one graph, which the host need not look into. */
#include "kernels/cuda/flat.cuh"

/* Infinite or NaN? */
template <class T> static __device__ __forceinline__ bool sound(T x) {
  return x - x == 0;
}

struct Losses {
  const float *p[TM_CUDA_LOSSES];
};

static __global__ void decide(const TmCudaPlan *plan, Losses losses, const double *squares, TmCudaRate *made,
                              TmCudaVerdict *verdict) {
  const double norm = sqrt(*squares) / plan->loss_scale;
  bool fine = sound(*squares);
#pragma unroll
  for (int i = 0; i < TM_CUDA_LOSSES; i++) {
    const float loss = losses.p[i] ? *losses.p[i] : 0;
    fine = fine && sound(loss);
    verdict->losses[i] = loss;
  }
  double factor = plan->clip > 0 ? plan->clip / (norm + 1e-6) : 1;
  if (!(factor < 1)) factor = 1;
  TmCudaRate r = plan->rate;
  r.grad_scale = (float)(factor / plan->loss_scale);
  r.skip = !fine;
  *made = r;
  verdict->squares = *squares;
  verdict->skip = r.skip;
}

cudaError_t tm_cuda_decide(const TmCudaQueue *q, const TmCudaPlan *plan,
                           const float *const losses[TM_CUDA_LOSSES], const double *squares, TmCudaRate *made,
                           TmCudaVerdict *verdict) {
  Losses all;
  for (int i = 0; i < TM_CUDA_LOSSES; i++) all.p[i] = losses[i];
  return TM_LAUNCH(decide, dim3(1), dim3(1), 0, q->stream, plan, all, squares, made, verdict);
}

static __global__ void __launch_bounds__(TM_FLAT_THREADS)
    restore(const TmCudaRate *rate, const float *from, float *to, gsize n, bool wide) {
  const gsize at = ((gsize)blockIdx.x * TM_FLAT_THREADS + threadIdx.x) * 4;
  if (at >= n || !rate->skip) return;
  TmFour f;
  f.load(from, at, n, wide);
  f.store(to, at, n, wide);
}

cudaError_t tm_cuda_restore(const TmCudaQueue *q, const TmCudaRate *rate, const float *from, float *to,
                            gsize n) {
  return TM_LAUNCH(restore, tm_flat_grid(n), dim3(TM_FLAT_THREADS), 0, q->stream, rate, from, to, n,
                   tm_flat_wide(from) && tm_flat_wide(to));
}
