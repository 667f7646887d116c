/* The sum of each channel: the gradient of a bias. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/sums.cuh"

enum { AT_ONCE = 4 };

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS, sizeof(T) == 4 ? 3 : 4)
    sum_partial(TmView x, TmWalk walk, float *partial) {
  TM_DYN_SHARED(float, shared);
  const int c = tm_channel<V>(walk.shift);
  float s[1][V];
  tm_set(s[0], 0);
  if (c < x.shape.c) {
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
#pragma unroll
        for (int i = 0; i < V; i++) s[0][i] += f[i];
      }
    }
  }
  tm_block_sums(s, walk.shift, x.shape.c, shared, partial);
}

static __global__ void __launch_bounds__(TM_THREADS)
    sum_finish(const float *partial, int parts, int channels, float *sum) {
  TM_DYN_SHARED(double, shared);
  int c;
  double s[1];
  if (tm_finish_sums(partial, parts, channels, shared, c, s)) sum[c] = (float)s[0];
}

template <class T, int V> static cudaError_t run(const TmCudaQueue *q, const TmView *x, float *sum) {
  const TmLanes l = tm_lanes(x->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(x->shape), l.shift};
  const unsigned parts = tm_parts(walk.pixels, l, 2 * AT_ONCE);
  float *partial = (float *)q->work;
  const cudaError_t e = TM_LAUNCH((sum_partial<T, V>), dim3(parts, (unsigned)l.tiles), dim3(TM_THREADS),
                                  tm_block_sums_bytes(l.shift, V), q->stream, *x, walk, partial);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH(sum_finish, tm_finish_grid(x->shape.c), dim3(TM_THREADS), tm_finish_bytes(1), q->stream,
                   partial, (int)parts, x->shape.c, sum);
}

cudaError_t tm_cuda_channel_sum(const TmCudaQueue *q, const TmView *x,
                                float *sum){TM_SWITCH(x->dtype, tm_wide(x), run<T, V>(q, x, sum))}

/* The widest: dice's two sums a class, or batch normalisation's two a channel, of every block; the counts and
 * sums of the losses lie before theirs. */
gsize tm_cuda_work(int channels) {
  return sizeof(float) * 2 * TM_PARTS * (gsize)(channels > 256 ? channels : 256) + 16384;
}
