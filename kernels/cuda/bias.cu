/* y = x + bias of its channel. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    add_bias(TmView x, const float *bias, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= x.shape.c) return;
  float b[V];
  tm_vector(bias, c, b);
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step) {
    float f[V];
    tm_get(tm_data<T>(x) + p * (gsize)x.ld + c, f);
#pragma unroll
    for (int i = 0; i < V; i++) f[i] += b[i];
    tm_put(tm_data<T>(y) + p * (gsize)y.ld + c, f);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const float *bias, const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  return TM_LAUNCH((add_bias<T, V>), dim3(tm_blocks(walk.pixels, l.shift, 4, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, *x, bias, *y, walk);
}

cudaError_t tm_cuda_bias(const TmCudaQueue *q, const TmView *x, const float *bias, const TmView *y) {
  TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, bias, y))
}
