/* Running averages of the statistics, for inference. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.cuh"

enum { THREADS = 128 };

static __global__ void __launch_bounds__(THREADS)
    bn_running(const float *stats, int channels, float momentum, float unbias, float *mean, float *var,
               float *zero) {
  const int c = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (c == 0) *zero = 0;
  if (c >= channels) return;
  mean[c] += momentum * (stats[c] - mean[c]);
  var[c] += momentum * (stats[channels + c] * unbias - var[c]);
}

cudaError_t tm_cuda_bn_running(const TmCudaQueue *q, const float *stats, int channels, float momentum,
                               int count, float *mean, float *var, float *zero) {
  const float unbias = count > 1 ? (float)(count / (count - 1.0)) : 1;
  return TM_LAUNCH(bn_running, dim3((unsigned)((channels + THREADS - 1) / THREADS)), dim3(THREADS), 0,
                   q->stream, stats, channels, momentum, unbias, mean, var, zero);
}
