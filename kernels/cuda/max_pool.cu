/* Maxima of windows of factor x factor, and the gradient: to the first maximum of each window. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

/* A NaN beats all, so that it is found. */
template <class T, int V>
static __device__ __forceinline__ void window_max(const TmView &x, gsize row, int w, int c, int factor,
                                                  float (&top)[V], int (&where)[V]) {
  tm_set(top, 0);
  for (int t = 0, i = 0; i < factor; i++)
    for (int j = 0; j < factor; j++, t++) {
      float f[V];
      tm_get(tm_data<T>(x) + tm_at(x, row + (gsize)i, w + j, c), f);
#pragma unroll
      for (int e = 0; e < V; e++)
        if (t == 0 || f[e] > top[e] || f[e] != f[e]) {
          top[e] = f[e];
          where[e] = t;
        }
    }
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS) max_pool(TmView x, int factor, TmView y, int shift) {
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / y.shape.h, h = (int)blockIdx.x % y.shape.h;
  if (c >= x.shape.c) return;
  for (int w = tm_row(shift); w < y.shape.w; w += tm_rows(shift)) {
    float top[V];
    int where[V];
    window_max<T, V>(x, (gsize)n * x.shape.h + (gsize)h * factor, w * factor, c, factor, top, where);
    tm_put(tm_data<T>(y) + tm_at(y, blockIdx.x, w, c), top);
  }
}

/* One block: the rows of one row of windows; those that pooling left out are the last ones. */
template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    max_pool_dx(TmView dy, TmView x, TmView d, int factor, TmView dx, int shift) {
  const int c = tm_channel<V>(shift), H = x.shape.h, W = x.shape.w, windows = (H + factor - 1) / factor;
  if (c >= x.shape.c) return;
  const int n = (int)blockIdx.x / windows, h = (int)blockIdx.x % windows;
  const gsize row = (gsize)n * H + (gsize)h * factor;
  for (int w = tm_row(shift); w < (W + factor - 1) / factor; w += tm_rows(shift)) {
    float top[V], g[V];
    int where[V];
    tm_set(g, 0);
#pragma unroll
    for (int e = 0; e < V; e++) where[e] = -1;
    if (h < dy.shape.h && w < dy.shape.w) {
      window_max<T, V>(x, row, w * factor, c, factor, top, where);
      tm_get(tm_data<T>(dy) + tm_at(dy, (gsize)n * dy.shape.h + h, w, c), g);
    }
    for (int t = 0, i = 0; i < factor; i++)
      for (int j = 0; j < factor; j++, t++) {
        if (h * factor + i >= H || w * factor + j >= W) continue;
        float f[V];
        if (d.data)
          tm_get(tm_data<T>(d) + tm_at(d, row + (gsize)i, w * factor + j, c), f);
        else
          tm_set(f, 0);
#pragma unroll
        for (int e = 0; e < V; e++)
          if (where[e] == t) f[e] += g[e];
        tm_put(tm_data<T>(dx) + tm_at(dx, row + (gsize)i, w * factor + j, c), f);
      }
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  return TM_LAUNCH((max_pool<T, V>), tm_row_grid(y->shape.n, y->shape.h, l), dim3(TM_THREADS), 0, q->stream,
                   *x, factor, *y, l.shift);
}
template <class T, int V>
static cudaError_t run_dx(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmView *d,
                          int factor, const TmView *dx) {
  const TmView none = {};
  const TmLanes l = tm_lanes(x->shape.c, V);
  return TM_LAUNCH((max_pool_dx<T, V>), tm_row_grid(x->shape.n, (x->shape.h + factor - 1) / factor, l),
                   dim3(TM_THREADS), 0, q->stream, *dy, *x, d ? *d : none, factor, *dx, l.shift);
}

cudaError_t tm_cuda_max_pool(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y){
    TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, factor, y))} cudaError_t
    tm_cuda_max_pool_dx(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmView *d, int factor,
                        const TmView *dx) {
  TM_SWITCH(x->dtype, tm_wide(dy) && tm_wide(x) && (!d || tm_wide(d)) && tm_wide(dx),
            run_dx<T, V>(q, dy, x, d, factor, dx))
}
