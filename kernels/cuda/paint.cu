/* Draws a picture and its masks for the screen, where they are: the arithmetic is engine/core/compose.h's. */
#include "engine/core/compose.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS) paint(const __grid_constant__ TmCompose c, guint32 *rgba) {
  const int x = (int)(blockIdx.x * THREADS + threadIdx.x), y = (int)blockIdx.y;
  if (x < c.out_w) rgba[(gsize)y * (gsize)c.out_w + (gsize)x] = tm_compose_pixel(&c, x, y);
}

cudaError_t tm_cuda_paint(const TmCudaQueue *q, const TmCompose *c, guint32 *rgba) {
  if (c->out_w < 1 || c->out_h < 1 || c->out_h > 65535) return cudaErrorInvalidValue;
  return TM_LAUNCH(paint, dim3((unsigned)((c->out_w + THREADS - 1) / THREADS), (unsigned)c->out_h),
                   dim3(THREADS), 0, q->stream, *c, rgba);
}
