/* y = (pixel - mean) / std; channels that only y has are 0, so that convolutions get a multiple of 8. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    normalize(TmView x, const float *mean, const float *std, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift), C = x.shape.c;
  if (c >= y.shape.c) return;
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step) {
    const guint8 *from = tm_data<guint8>(x) + p * (gsize)x.ld;
    float f[V];
#pragma unroll
    for (int i = 0; i < V; i++) f[i] = c + i < C ? ((float)from[c + i] - mean[c + i]) / std[c + i] : 0;
    tm_put(tm_data<T>(y) + p * (gsize)y.ld + c, f);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const float *mean, const float *std,
                       const TmView *y) {
  const TmLanes l = tm_lanes(y->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(y->shape), l.shift};
  return TM_LAUNCH((normalize<T, V>), dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, *x, mean, std, *y, walk);
}

cudaError_t tm_cuda_normalize(const TmCudaQueue *q, const TmView *pixels, const float *mean, const float *std,
                              const TmView *y) {
  TM_SWITCH(y->dtype, tm_wide(y), run<T, V>(q, pixels, mean, std, y))
}
