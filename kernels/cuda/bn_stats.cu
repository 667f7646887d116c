/* Mean and biased variance of each channel. Sums are taken of what a value differs from its channel's first
 * one, so that a large mean does not swallow the variance. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/sums.cuh"

enum { AT_ONCE = 4 };

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, sizeof(T) == 4 ? 3 : 4)
    bn_partial(TmView x, TmWalk walk, float *partial) {
  TM_DYN_SHARED(float, shared);
  const int c = tm_channel<V>(walk.shift);
  const T *data = tm_data<T>(x);
  float s[2][V], first[V];
  tm_set(s[0], 0), tm_set(s[1], 0);
  if (c < x.shape.c) {
    const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
    tm_get(data + c, first);
    for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += AT_ONCE * step) {
      TmPack<T, V> k[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++)
        if (p + (gsize)u * step < walk.pixels) k[u].load(data + (p + (gsize)u * step) * (gsize)x.ld + c);
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        if (p + (gsize)u * step >= walk.pixels) continue;
        float f[V];
        k[u].get(f);
#pragma unroll
        for (int i = 0; i < V; i++) {
          const float d = f[i] - first[i];
          s[0][i] += d;
          s[1][i] += d * d;
        }
      }
    }
  }
  tm_block_sums(s, walk.shift, x.shape.c, shared, partial);
}

template <class T>
static __global__ void __launch_bounds__(TM_THREADS)
    bn_finish(TmView x, const float *partial, int parts, double pixels, float *stats) {
  TM_DYN_SHARED(double, shared);
  int c;
  double s[2];
  if (!tm_finish_sums(partial, parts, x.shape.c, shared, c, s)) return;
  const double mean = s[0] / pixels, var = s[1] / pixels - mean * mean;
  stats[c] = (float)((double)tm_float(tm_data<T>(x)[c]) + mean);
  stats[x.shape.c + c] = var < 0 ? 0.0f : (float)var;
}

template <class T, int V> static cudaError_t run(const TmCudaQueue *q, const TmView *x, float *stats) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  const unsigned parts = tm_parts(walk.pixels, l, 2 * AT_ONCE);
  float *partial = (float *)q->work;
  const cudaError_t e = TM_LAUNCH((bn_partial<T, V>), dim3(parts, (unsigned)l.tiles), dim3(TM_THREADS),
                                  tm_block_sums_bytes(l.shift, 2 * V), q->stream, *x, walk, partial);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH((bn_finish<T>), tm_finish_grid(x->shape.c), dim3(TM_THREADS), tm_finish_bytes(2),
                   q->stream, *x, partial, (int)parts, (double)walk.pixels, stats);
}

cudaError_t tm_cuda_bn_stats(const TmCudaQueue *q, const TmView *x, float *stats) {
  TM_SWITCH(x->dtype, tm_wide(x), run<T, V>(q, x, stats))
}
