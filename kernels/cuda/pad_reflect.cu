/* Borders that mirror the picture without repeating its edge, clamped where it is too small, and the
 * gradient: each pixel gathers what was mirrored from it, in one order. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

/* Which row of a picture of @extent rows is shown @i rows from its top. */
static __device__ __forceinline__ int shown(int i, int extent) {
  const long long at = i < 0 ? -(long long)i : i < extent ? i : 2 * ((long long)extent - 1) - i;
  return (int)(at < 0 ? 0 : at >= extent ? extent - 1 : at);
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    reflect(TmView x, int top, int left, TmView y, int shift) {
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / y.shape.h, i = (int)blockIdx.x % y.shape.h;
  if (c >= x.shape.c) return;
  const gsize row = (gsize)n * x.shape.h + shown(i - top, x.shape.h);
  for (int j = tm_row(shift); j < y.shape.w; j += tm_rows(shift)) {
    float f[V];
    tm_get(tm_data<T>(x) + tm_at(x, row, shown(j - left, x.shape.w), c), f);
    tm_put(tm_data<T>(y) + tm_at(y, blockIdx.x, j, c), f);
  }
}

/* The k-th row that may show row @p: its own for k = 0, then those of the border. */
static __device__ __forceinline__ int candidate(int k, int p, int before, int extent) {
  return k == 0 ? p + before : k <= before ? k - 1 : k - 1 + extent;
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    reflect_dx(TmView dy, int top, int left, TmView dx, int shift) {
  const int H = dx.shape.h, W = dx.shape.w, c = tm_channel<V>(shift);
  if (c >= dx.shape.c) return;
  const int n = (int)blockIdx.x / H, p = (int)blockIdx.x % H;
  for (int q = tm_row(shift); q < W; q += tm_rows(shift)) {
    float s[V];
    tm_set(s, 0);
    for (int k = 0; k <= dy.shape.h - H; k++) {
      const int i = candidate(k, p, top, H);
      if (shown(i - top, H) != p) continue;
      for (int m = 0; m <= dy.shape.w - W; m++) {
        const int j = candidate(m, q, left, W);
        if (shown(j - left, W) != q) continue;
        float f[V];
        tm_get(tm_data<T>(dy) + tm_at(dy, (gsize)n * dy.shape.h + i, j, c), f);
#pragma unroll
        for (int e = 0; e < V; e++) s[e] += f[e];
      }
    }
    tm_put(tm_data<T>(dx) + tm_at(dx, blockIdx.x, q, c), s);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, int top, int left, const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  return TM_LAUNCH((reflect<T, V>), tm_row_grid(y->shape.n, y->shape.h, l), dim3(TM_THREADS), 0, q->stream,
                   *x, top, left, *y, l.shift);
}
template <class T, int V>
static cudaError_t run_dx(const TmCudaQueue *q, const TmView *dy, int top, int left, const TmView *dx) {
  const TmLanes l = tm_lanes(dx->shape.c, V);
  return TM_LAUNCH((reflect_dx<T, V>), tm_row_grid(dx->shape.n, dx->shape.h, l), dim3(TM_THREADS), 0,
                   q->stream, *dy, top, left, *dx, l.shift);
}

cudaError_t tm_cuda_pad_reflect(const TmCudaQueue *q, const TmView *x, int top, int left, const TmView *y){
    TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, top, left, y))} cudaError_t
    tm_cuda_pad_reflect_dx(const TmCudaQueue *q, const TmView *dy, int top, int left, const TmView *dx) {
  TM_SWITCH(dx->dtype, tm_wide(dy) && tm_wide(dx), run_dx<T, V>(q, dy, top, left, dx))
}
