/* Enlarging by repeating pixels, and the gradient: the sum over the copies. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

/* One block: one row of x, each pixel of which is read once. */
template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS) nearest(TmView x, int factor, TmView y, int shift) {
  const int c = tm_channel<V>(shift);
  if (c >= x.shape.c) return;
  for (int w = tm_row(shift); w < x.shape.w; w += tm_rows(shift)) {
    float f[V];
    tm_get(tm_data<T>(x) + tm_at(x, blockIdx.x, w, c), f);
    for (int i = 0; i < factor; i++)
      for (int j = 0; j < factor; j++)
        tm_put(tm_data<T>(y) + tm_at(y, (gsize)blockIdx.x * factor + (gsize)i, w * factor + j, c), f);
  }
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS) nearest_dx(TmView dy, int factor, TmView dx, int shift) {
  const int c = tm_channel<V>(shift);
  if (c >= dx.shape.c) return;
  for (int w = tm_row(shift); w < dx.shape.w; w += tm_rows(shift)) {
    float s[V];
    tm_set(s, 0);
    for (int i = 0; i < factor; i++)
      for (int j = 0; j < factor; j++) {
        float f[V];
        tm_get(tm_data<T>(dy) + tm_at(dy, (gsize)blockIdx.x * factor + (gsize)i, w * factor + j, c), f);
#pragma unroll
        for (int e = 0; e < V; e++) s[e] += f[e];
      }
    tm_put(tm_data<T>(dx) + tm_at(dx, blockIdx.x, w, c), s);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  return TM_LAUNCH((nearest<T, V>), tm_row_grid(x->shape.n, x->shape.h, l), dim3(TM_THREADS), 0, q->stream,
                   *x, factor, *y, l.shift);
}
template <class T, int V>
static cudaError_t run_dx(const TmCudaQueue *q, const TmView *dy, int factor, const TmView *dx) {
  const TmLanes l = tm_lanes(dx->shape.c, V);
  return TM_LAUNCH((nearest_dx<T, V>), tm_row_grid(dx->shape.n, dx->shape.h, l), dim3(TM_THREADS), 0,
                   q->stream, *dy, factor, *dx, l.shift);
}

cudaError_t tm_cuda_upsample_nearest(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y){
    TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, factor, y))} cudaError_t
    tm_cuda_upsample_nearest_dx(const TmCudaQueue *q, const TmView *dy, int factor, const TmView *dx) {
  TM_SWITCH(dx->dtype, tm_wide(dy) && tm_wide(dx), run_dx<T, V>(q, dy, factor, dx))
}
