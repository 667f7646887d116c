/* y = (x - mean) / sqrt(var + eps) * gamma + beta, then max(0, .), and the 2x2 maxima of that: batch
 * normalisation, ReLU, pooling and the write into the skip's slice in one pass. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/norm.cuh"

enum { AT_ONCE = 4 };

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, sizeof(T) == 4 ? 2 : 3)
    bn_apply(TmView x, TmBatchNorm bn, bool relu, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= x.shape.c) return;
  TmNorm<V> norm;
  norm.load(bn, c);
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += AT_ONCE * step) {
    TmPack<T, V> k[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (p + (gsize)u * step < walk.pixels)
        k[u].load(tm_data<T>(x) + (p + (gsize)u * step) * (gsize)x.ld + c);
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      if (p + (gsize)u * step >= walk.pixels) continue;
      float f[V];
      k[u].get(f);
      norm.apply(f, relu);
      tm_put(tm_data<T>(y) + (p + (gsize)u * step) * (gsize)y.ld + c, f);
    }
  }
}

/* One block: two rows of a picture. Rows and columns that odd sizes leave over are not pooled. */
template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, sizeof(T) == 4 ? 2 : 3)
    bn_apply_pool(TmView x, TmBatchNorm bn, bool relu, TmView y, TmView p, int shift) {
  const int c = tm_channel<V>(shift), H = x.shape.h, W = x.shape.w, h2 = (H + 1) / 2;
  if (c >= x.shape.c) return;
  const int n = (int)blockIdx.x / h2, i = (int)blockIdx.x % h2;
  TmNorm<V> norm;
  norm.load(bn, c);
  for (int j = tm_row(shift); j < (W + 1) / 2; j += tm_rows(shift)) {
    TmPack<T, V> k[4];
#pragma unroll
    for (int u = 0; u < 4; u++) {
      const int h = 2 * i + (u >> 1), w = 2 * j + (u & 1);
      if (h < H && w < W) k[u].load(tm_data<T>(x) + tm_at(x, (gsize)n * H + h, w, c));
    }
    float top[V];
    tm_set(top, 0);
#pragma unroll
    for (int u = 0; u < 4; u++) {
      const int h = 2 * i + (u >> 1), w = 2 * j + (u & 1);
      if (h >= H || w >= W) continue;
      float f[V];
      k[u].get(f);
      norm.apply(f, relu);
      tm_put(tm_data<T>(y) + tm_at(y, (gsize)n * H + h, w, c), f);
#pragma unroll
      for (int e = 0; e < V; e++)
        if (u == 0 || f[e] > top[e] || f[e] != f[e]) top[e] = f[e];
    }
    if (i < p.shape.h && j < p.shape.w) tm_put(tm_data<T>(p) + tm_at(p, (gsize)n * p.shape.h + i, j, c), top);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const TmBatchNorm *bn, gboolean relu,
                       const TmView *y, const TmView *p) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  if (p)
    return TM_LAUNCH((bn_apply_pool<T, V>), tm_row_grid(x->shape.n, (x->shape.h + 1) / 2, l),
                     dim3(TM_THREADS), 0, q->stream, *x, *bn, relu != FALSE, *y, *p, l.shift);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  return TM_LAUNCH((bn_apply<T, V>),
                   dim3(tm_blocks(walk.pixels, l.shift, 2 * AT_ONCE, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, *x, *bn, relu != FALSE, *y, walk);
}

cudaError_t tm_cuda_bn_apply(const TmCudaQueue *q, const TmView *x, const TmBatchNorm *bn, gboolean relu,
                             const TmView *y, const TmView *p) {
  TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y) && (!p || tm_wide(p)), run<T, V>(q, x, bn, relu, y, p))
}
