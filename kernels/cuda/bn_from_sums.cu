/* Mean and biased variance from the sums of x and of x^2 that came with a convolution. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

static __global__ void __launch_bounds__(TM_THREADS)
    from_sums(const float *sum, const float *squares, double pixels, int channels, float *stats) {
  const int c = (int)(blockIdx.x * TM_THREADS + threadIdx.x);
  if (c >= channels) return;
  const double mean = (double)sum[c] / pixels, var = (double)squares[c] / pixels - mean * mean;
  stats[c] = (float)mean;
  stats[channels + c] = var < 0 ? 0.0f : (float)var;
}

cudaError_t tm_cuda_bn_from_sums(const TmCudaQueue *q, const float *sum, const float *squares, gsize pixels,
                                 int channels, float *stats) {
  return TM_LAUNCH(from_sums, dim3((unsigned)(channels + TM_THREADS - 1) / TM_THREADS), dim3(TM_THREADS), 0,
                   q->stream, sum, squares, (double)pixels, channels, stats);
}
