/* Sums of dz and of dz * xhat for each channel, where dz = dy where act > 0, else 0; dz can be kept. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/sums.cuh"

enum { AT_ONCE = 2 };

struct Stats {
  const float *mean, *var;
  float eps;
};

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    reduce_partial(TmView dy, TmView act, TmView x, Stats st, TmView dz, TmWalk walk, float *partial) {
  TM_DYN_SHARED(float, shared);
  const int c = tm_channel<V>(walk.shift);
  float s[2][V], mean[V], r[V];
  tm_set(s[0], 0), tm_set(s[1], 0);
  if (c < x.shape.c) {
    const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
    tm_vector(st.mean, c, mean);
    tm_vector(st.var, c, r);
#pragma unroll
    for (int i = 0; i < V; i++) r[i] = rsqrtf(r[i] + st.eps);
    for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += AT_ONCE * step) {
      TmPack<T, V> g[AT_ONCE], a[AT_ONCE], k[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const gsize at = p + (gsize)u * step;
        if (at >= walk.pixels) continue;
        g[u].load(tm_data<T>(dy) + at * (gsize)dy.ld + c);
        k[u].load(tm_data<T>(x) + at * (gsize)x.ld + c);
        if (act.data) a[u].load(tm_data<T>(act) + at * (gsize)act.ld + c);
      }
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const gsize at = p + (gsize)u * step;
        if (at >= walk.pixels) continue;
        float d[V], f[V];
        g[u].get(d);
        if (act.data) {
          a[u].get(f);
#pragma unroll
          for (int i = 0; i < V; i++) d[i] = f[i] > 0 ? d[i] : 0;
        }
        k[u].get(f);
#pragma unroll
        for (int i = 0; i < V; i++) {
          s[0][i] += d[i];
          s[1][i] += d[i] * ((f[i] - mean[i]) * r[i]);
        }
        if (dz.data) tm_put(tm_data<T>(dz) + at * (gsize)dz.ld + c, d);
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

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *dy, const TmView *act, const TmView *x, Stats st,
                       const TmView *dz, float *r) {
  const TmView none = {};
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  const unsigned parts = tm_parts(walk.pixels, l, 2 * AT_ONCE);
  float *partial = (float *)q->work;
  const cudaError_t e = TM_LAUNCH((reduce_partial<T, V>), dim3(parts, (unsigned)l.tiles), dim3(TM_THREADS),
                                  tm_block_sums_bytes(l.shift, 2 * V), q->stream, *dy, act ? *act : none, *x,
                                  st, dz ? *dz : none, walk, partial);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH(reduce_finish, tm_finish_grid(x->shape.c), dim3(TM_THREADS), tm_finish_bytes(2), q->stream,
                   partial, (int)parts, x->shape.c, r);
}

cudaError_t tm_cuda_bn_reduce(const TmCudaQueue *q, const TmView *dy, const TmView *act, const TmView *x,
                              const float *stats, float eps, const TmView *dz, float *r) {
  const Stats st = {stats, stats + x->shape.c, eps};
  TM_SWITCH(x->dtype, tm_wide(dy) && (!act || tm_wide(act)) && tm_wide(x) && (!dz || tm_wide(dz)),
            run<T, V>(q, dy, act, x, st, dz, r))
}
