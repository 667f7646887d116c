/* dx = gamma / sqrt(var + eps) * (dy - (r0 + xhat * r1) / pixels). */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

enum { AT_ONCE = 2 };

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, sizeof(T) == 4 ? 2 : 3)
    bn_dx(TmView dy, TmView x, TmBatchNorm bn, const float *r, TmView dx, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= x.shape.c) return;
  const float share = 1.0f / (float)walk.pixels;
  float mean[V], scale[V], sum[V], dot[V];
  tm_vector(bn.mean, c, mean);
  tm_vector(bn.var, c, scale);
  tm_vector(r, c, sum);
  tm_vector(r + x.shape.c, c, dot);
#pragma unroll
  for (int i = 0; i < V; i++) {
    const float inv = rsqrtf(scale[i] + bn.eps);
    scale[i] = bn.gamma[c + i] * inv;
    sum[i] *= share;
    dot[i] *= share * inv;
  }
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += AT_ONCE * step) {
    TmPack<T, V> g[AT_ONCE], k[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      const gsize at = p + (gsize)u * step;
      if (at >= walk.pixels) continue;
      g[u].load(tm_data<T>(dy) + at * (gsize)dy.ld + c);
      k[u].load(tm_data<T>(x) + at * (gsize)x.ld + c);
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      const gsize at = p + (gsize)u * step;
      if (at >= walk.pixels) continue;
      float d[V], f[V];
      g[u].get(d);
      k[u].get(f);
#pragma unroll
      for (int i = 0; i < V; i++) d[i] = scale[i] * (d[i] - sum[i] - (f[i] - mean[i]) * dot[i]);
      tm_put(tm_data<T>(dx) + at * (gsize)dx.ld + c, d);
    }
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                       const float *r, const TmView *dx) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  return TM_LAUNCH((bn_dx<T, V>),
                   dim3(tm_blocks(walk.pixels, l.shift, 4 * AT_ONCE, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, *dy, *x, *bn, r, *dx, walk);
}

cudaError_t tm_cuda_bn_dx(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                          const float *r, const TmView *dx) {
  TM_SWITCH(x->dtype, tm_wide(dy) && tm_wide(x) && tm_wide(dx), run<T, V>(q, dy, x, bn, r, dx))
}
