/* y = a x + c y: gradient accumulation, averages, copies (c = 0 does not read y). */
#include "kernels/cuda/flat.cuh"

static __global__ void __launch_bounds__(TM_FLAT_THREADS)
    axpby(float a, const float *x, float c, float *y, gsize n, bool wide) {
  const gsize at = ((gsize)blockIdx.x * TM_FLAT_THREADS + threadIdx.x) * 4;
  if (at >= n) return;
  TmFour f, g;
  f.load(x, at, n, wide);
  if (c != 0) g.load(y, at, n, wide);
#pragma unroll
  for (int i = 0; i < 4; i++) g.x[i] = c != 0 ? fmaf(a, f.x[i], c * g.x[i]) : a * f.x[i];
  g.store(y, at, n, wide);
}

cudaError_t tm_cuda_axpby(const TmCudaQueue *q, float a, const float *x, float c, float *y, gsize n) {
  return TM_LAUNCH(axpby, tm_flat_grid(n), dim3(TM_FLAT_THREADS), 0, q->stream, a, x, c, y, n,
                   tm_flat_wide(x) && tm_flat_wide(y));
}
