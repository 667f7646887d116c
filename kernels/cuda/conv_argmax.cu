/* A 1x1 convolution and the class of its largest result, without the scores in memory. Weights are rounded to
 * the type of the activations, as everywhere; the scores are compared in f32. Ties to the lower class, never
 * a NaN if there is another. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

enum { GROUP = 16, SHARED_FLOATS = 12288 };

/* x without the border that is cut off; labels dense, of its size. */
struct Head {
  TmView x, labels;
  const float *w, *bias; /* bias NULL: none */
  int classes, groups, top, left;
};

gboolean tm_cuda_conv_argmax_fits(int channels, int classes) {
  const gsize groups = ((gsize)classes + GROUP - 1) / GROUP;
  return classes <= 256 && groups * GROUP * ((gsize)channels + 1) <= SHARED_FLOATS;
}

/* Shared: [groups][channels + 1][GROUP], the bias last; classes that are not there have 0. */
template <class T> static __device__ __forceinline__ void load_weights(const Head &h, float *shared) {
  const int C = h.x.shape.c, one = (C + 1) * GROUP;
  for (int i = (int)threadIdx.x; i < h.groups * one; i += TM_THREADS) {
    const int k = i / one * GROUP + i % GROUP, c = i % one / GROUP;
    float f = 0;
    if (k < h.classes && c < C)
      f = tm_float(TmStored<T>::from(h.w[(gsize)k * (gsize)C + (gsize)c]));
    else if (k < h.classes && h.bias)
      f = h.bias[k];
    shared[i] = f;
  }
  __syncthreads();
}

template <class T, int V>
static __device__ __forceinline__ void score(const T *x, int C, const float *w, float (&z)[GROUP]) {
#pragma unroll
  for (int k = 0; k < GROUP; k++) z[k] = w[C * GROUP + k];
  for (int c = 0; c < C; c += V) {
    float f[V];
    tm_get(x + c, f);
#pragma unroll
    for (int i = 0; i < V; i++) {
      const float *row = w + (c + i) * GROUP;
#pragma unroll
      for (int k = 0; k < GROUP; k++) z[k] = fmaf(f[i], row[k], z[k]);
    }
  }
}

template <class T, int V> static __global__ void __launch_bounds__(TM_THREADS, 2) conv_argmax(Head h) {
  TM_DYN_SHARED(float, shared);
  load_weights<T>(h, shared);
  const int C = h.x.shape.c;
  const gsize row = blockIdx.x; /* of the labels, over all pictures */
  const int n = (int)(row / (gsize)h.labels.shape.h), y = (int)(row % (gsize)h.labels.shape.h) + h.top;
  for (int j = (int)threadIdx.x; j < h.labels.shape.w; j += TM_THREADS) {
    const T *x = tm_data<T>(h.x) + tm_at(h.x, (gsize)n * (gsize)h.x.shape.h + (gsize)y, j + h.left, 0);
    float best = 0;
    int label = 0;
    for (int g = 0; g < h.groups; g++) {
      float z[GROUP];
      score<T, V>(x, C, shared + g * (C + 1) * GROUP, z);
#pragma unroll
      for (int k = 0; k < GROUP; k++) {
        const int at = g * GROUP + k;
        if (at >= h.classes || (at > 0 && !(z[k] > best || (best != best && z[k] == z[k])))) continue;
        best = z[k];
        label = at;
      }
    }
    tm_data<guint8>(h.labels)[row * (gsize)h.labels.shape.w + (gsize)j] = (guint8)label;
  }
}

template <class T, int V> static cudaError_t run(const TmCudaQueue *q, const Head &h) {
  const size_t shared = sizeof(float) * GROUP * (size_t)h.groups * (size_t)(h.x.shape.c + 1);
  return TM_LAUNCH((conv_argmax<T, V>), dim3((unsigned)h.labels.shape.n * (unsigned)h.labels.shape.h),
                   dim3(TM_THREADS), shared, q->stream, h);
}

cudaError_t tm_cuda_conv_argmax(const TmCudaQueue *q, const TmView *x, const TmView *w, const float *bias,
                                int top, int left, const TmView *labels) {
  const Head h = {*x,  *labels, (const float *)w->data, bias, w->shape.n, (w->shape.n + GROUP - 1) / GROUP,
                  top, left};
  TM_SWITCH(x->dtype, tm_wide(x), run<T, V>(q, h))
}
