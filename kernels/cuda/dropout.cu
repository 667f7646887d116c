/* y = x / (1 - p) where the counter-based random number of the element says keep, else 0: the numbers are
 * those of every other backend. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

static __device__ __forceinline__ guint64 hash(guint64 a, guint64 b, guint64 c) {
  guint64 x =
      a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 0x2545f4914f6cdd1du;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    dropout(TmView x, float p, guint64 key, const gint32 *tick, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= x.shape.c) return;
  const guint64 t = (guint64)(gint64)*tick;
  const float keep = 1 / (1 - p);
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize at = blockIdx.x * rows + (gsize)tm_row(walk.shift); at < walk.pixels; at += step) {
    float f[V];
    tm_get(tm_data<T>(x) + at * (gsize)x.ld + c, f);
#pragma unroll
    for (int i = 0; i < V; i++) {
      const guint64 index = at * (gsize)x.shape.c + (gsize)(c + i);
      const float u = (float)(unsigned)(hash(key, t, index) >> 40) * 5.9604644775390625e-8f; /* 2^-24 */
      f[i] = u >= p ? f[i] * keep : 0;
    }
    tm_put(tm_data<T>(y) + at * (gsize)y.ld + c, f);
  }
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, float p, guint64 key, const gint32 *tick,
                       const TmView *y) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  return TM_LAUNCH((dropout<T, V>), dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, *x, p, key, tick, *y, walk);
}

cudaError_t tm_cuda_dropout(const TmCudaQueue *q, const TmView *x, float p, guint64 key, const gint32 *tick,
                            const TmView *y) {
  TM_SWITCH(x->dtype, tm_wide(x) && tm_wide(y), run<T, V>(q, x, p, key, tick, y))
}
