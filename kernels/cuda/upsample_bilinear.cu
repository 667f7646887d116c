/* Enlarging smoothly, with half-pixel centres (engine/ops/upsample.c), and the gradient as a gather: each sum
 * is one thread's. Positions are counted in halves of an enlarged pixel, so that they are exact. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

/* What row @i of the enlargement is made of: (1 - t) of row low, t of row high. */
struct Mix {
  int low, high;
  float t;
};

static __device__ __forceinline__ Mix mix(int i, int factor, int extent) {
  const int at = max(2 * i + 1 - factor, 0), low = at / (2 * factor);
  return Mix{low, min(low + 1, extent - 1), (float)(at - low * 2 * factor) / (float)(2 * factor)};
}
/* The share that row @p has in it. */
static __device__ __forceinline__ float share(const Mix &m, int p) {
  return (m.low == p ? 1 - m.t : 0) + (m.high == p ? m.t : 0);
}
/* The first enlarged row that row @p may have a share in, and the one after the last. */
static __device__ __forceinline__ int first_of(int p, int factor) {
  return max((p - 1) * factor + factor / 2, 0);
}
static __device__ __forceinline__ int after_of(int p, int factor, int extent) {
  return p + 1 >= extent ? extent * factor : (p + 1) * factor + (factor + 1) / 2;
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS) bilinear(TmView x, int factor, TmView y, int shift) {
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / y.shape.h, h = (int)blockIdx.x % y.shape.h;
  if (c >= x.shape.c) return;
  const Mix up = mix(h, factor, x.shape.h);
  const gsize low = (gsize)n * x.shape.h + up.low, high = (gsize)n * x.shape.h + up.high;
  for (int w = tm_row(shift); w < y.shape.w; w += tm_rows(shift)) {
    const Mix side = mix(w, factor, x.shape.w);
    TmPack<T, V> k[4];
    k[0].load(tm_data<T>(x) + tm_at(x, low, side.low, c));
    k[1].load(tm_data<T>(x) + tm_at(x, low, side.high, c));
    k[2].load(tm_data<T>(x) + tm_at(x, high, side.low, c));
    k[3].load(tm_data<T>(x) + tm_at(x, high, side.high, c));
    float f[V], g[V], s[V];
    k[0].get(f), k[1].get(g);
#pragma unroll
    for (int e = 0; e < V; e++) s[e] = (1 - up.t) * ((1 - side.t) * f[e] + side.t * g[e]);
    k[2].get(f), k[3].get(g);
#pragma unroll
    for (int e = 0; e < V; e++) s[e] += up.t * ((1 - side.t) * f[e] + side.t * g[e]);
    tm_put(tm_data<T>(y) + tm_at(y, blockIdx.x, w, c), s);
  }
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    bilinear_dx(TmView dy, int factor, TmView dx, int shift) {
  const int H = dx.shape.h, W = dx.shape.w;
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / H, p = (int)blockIdx.x % H;
  if (c >= dx.shape.c) return;
  for (int q = tm_row(shift); q < W; q += tm_rows(shift)) {
    float s[V];
    tm_set(s, 0);
    for (int i = first_of(p, factor); i < after_of(p, factor, H); i++) {
      const float up = share(mix(i, factor, H), p);
      for (int j = first_of(q, factor); j < after_of(q, factor, W); j++) {
        const float part = up * share(mix(j, factor, W), q);
        if (part == 0) continue; /* an infinity there is none of its */
        float f[V];
        tm_get(tm_data<T>(dy) + tm_at(dy, (gsize)n * dy.shape.h + i, j, c), f);
#pragma unroll
        for (int e = 0; e < V; e++) s[e] += part * f[e];
      }
    }
    tm_put(tm_data<T>(dx) + tm_at(dx, blockIdx.x, q, c), s);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  return TM_LAUNCH((bilinear<T, V>), tm_row_grid(y->shape.n, y->shape.h, l), dim3(TM_THREADS), 0, q->stream,
                   *x, factor, *y, l.shift);
}
template <class T, int V>
static cudaError_t run_dx(const TmCudaQueue *q, const TmView *dy, int factor, const TmView *dx) {
  const TmLanes l = tm_lanes(dx->shape.c, V);
  return TM_LAUNCH((bilinear_dx<T, V>), tm_row_grid(dx->shape.n, dx->shape.h, l), dim3(TM_THREADS), 0,
                   q->stream, *dy, factor, *dx, l.shift);
}

cudaError_t tm_cuda_upsample_bilinear(const TmCudaQueue *q, const TmView *x, int factor, const TmView *y){
    TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, factor, y))} cudaError_t
    tm_cuda_upsample_bilinear_dx(const TmCudaQueue *q, const TmView *dy, int factor, const TmView *dx) {
  TM_SWITCH(dx->dtype, tm_wide(dy) && tm_wide(dx), run_dx<T, V>(q, dy, factor, dx))
}
