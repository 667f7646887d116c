/* Sums of dz and of dz * xhat for each channel, where dz = dy, or dy where ReLU let bn_apply's value pass, else 0,
 * which is kept then. That is seen again from x, by the same arithmetic, instead of reading that value too. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/sums.cuh"

enum { AT_ONCE = 2 };

template <class T, int V, bool RELU>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    reduce_partial(TmView dy, TmView x, TmBatchNorm bn, TmView dz, TmWalk walk, float *partial) {
  TM_DYN_SHARED(float, shared);
  const int c = tm_channel<V>(walk.shift);
  float s[2][V], mean[V], r[V];
  tm_set(s[0], 0), tm_set(s[1], 0);
  if (c < x.shape.c) {
    const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
    TmNorm<V> norm;
    if (RELU) norm.load(bn, c);
    tm_vector(bn.mean, c, mean);
    tm_vector(bn.var, c, r);
#pragma unroll
    for (int i = 0; i < V; i++) r[i] = rsqrtf(r[i] + bn.eps);
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
        for (int i = 0; RELU && i < V; i++) d[i] = norm.of(f[i], i) > 0 ? d[i] : 0;
#pragma unroll
        for (int i = 0; i < V; i++) {
          s[0][i] += d[i];
          s[1][i] += d[i] * ((f[i] - mean[i]) * r[i]);
        }
        if (RELU) tm_put(tm_data<T>(dz) + at * (gsize)dz.ld + c, d);
      }
    }
  }
  tm_block_sums(s, walk.shift, x.shape.c, shared, partial);
}

static __global__ void __launch_bounds__(TM_THREADS)
    reduce_finish(const float *partial, int parts, int channels, float *r) {
  TM_DYN_SHARED(double, shared);
  int c;
  double s[2];
  if (!tm_finish_sums(partial, parts, channels, shared, c, s)) return;
  r[c] = (float)s[0];
  r[channels + c] = (float)s[1];
}

template <class T, int V, bool RELU>
static cudaError_t run(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                       const TmView *dz, float *r) {
  const TmView none = {};
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  const unsigned parts = tm_parts(walk.pixels, l, 2 * AT_ONCE);
  float *partial = (float *)q->work;
  const cudaError_t e = TM_LAUNCH((reduce_partial<T, V, RELU>), dim3(parts, (unsigned)l.tiles),
                                  dim3(TM_THREADS), tm_block_sums_bytes(l.shift, 2 * V), q->stream, *dy, *x,
                                  *bn, RELU ? *dz : none, walk, partial);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH(reduce_finish, tm_finish_grid(x->shape.c), dim3(TM_THREADS), tm_finish_bytes(2), q->stream,
                   partial, (int)parts, x->shape.c, r);
}

cudaError_t tm_cuda_bn_reduce(const TmCudaQueue *q, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                              gboolean relu, const TmView *dz, float *r) {
  if (relu)
    TM_SWITCH(x->dtype, tm_wide(dy) && tm_wide(x) && tm_wide(dz), run<T, V, true>(q, dy, x, bn, dz, r))
  TM_SWITCH(x->dtype, tm_wide(dy) && tm_wide(x), run<T, V, false>(q, dy, x, bn, dz, r))
}
