/* The class with the highest score, ties to the lower one, never a NaN if there is another; and how often
 * each true class was taken for each. */
#include "kernels/cuda/classes.cuh"

template <class T, int N> static __device__ __forceinline__ int best_class(const TmScores<T, N> &s, int C) {
  int best = 0;
  float top = s.at(0);
  TM_EACH_CLASS(c, N, C) {
    const float z = s.at(c);
    if (z > top || (top != top && z == z)) {
      top = z;
      best = c;
    }
  }
  return best;
}

template <class T, int N>
static __global__ void __launch_bounds__(TM_THREADS)
    argmax(TmView x, TmView labels, gsize pixels, bool wide) {
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels;
       p += (gsize)gridDim.x * TM_THREADS) {
    TmScores<T, N> s;
    s.load(tm_data<T>(x) + p * (gsize)x.ld, x.shape.c, tm_all_of(wide, x, p, pixels));
    tm_data<guint8>(labels)[p * (gsize)labels.ld] = (guint8)best_class(s, x.shape.c);
  }
}

static __global__ void __launch_bounds__(TM_THREADS) clear(gint32 *counts, int n) {
  const int i = (int)(blockIdx.x * TM_THREADS + threadIdx.x);
  if (i < n) counts[i] = 0;
}

enum { SHARED_CLASSES = 64 };

/* Shared: [C][C], first counted by the block, where there are few classes. */
template <class T, int N>
static __global__ void __launch_bounds__(TM_THREADS)
    confusion(TmView x, const guint8 *labels, gint32 *counts, gsize pixels, bool wide) {
  TM_DYN_SHARED(gint32, block);
  const int C = x.shape.c;
  const bool shared = C <= SHARED_CLASSES;
  if (shared) {
    for (int i = (int)threadIdx.x; i < C * C; i += TM_THREADS) block[i] = 0;
    __syncthreads();
  }
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels;
       p += (gsize)gridDim.x * TM_THREADS) {
    const int label = labels[p];
    if (label >= C) continue;
    TmScores<T, N> s;
    s.load(tm_data<T>(x) + p * (gsize)x.ld, C, tm_all_of(wide, x, p, pixels));
    atomicAdd((shared ? block : counts) + label * C + best_class(s, C), 1);
  }
  if (!shared) return;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < C * C; i += TM_THREADS)
    if (block[i]) atomicAdd(counts + i, block[i]);
}

template <class T, int N>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const TmView *labels) {
  const gsize pixels = tm_shape_pixels(x->shape);
  return TM_LAUNCH((argmax<T, N>), tm_pixel_grid(pixels), dim3(TM_THREADS), 0, q->stream, *x, *labels, pixels,
                   tm_wide_classes(x));
}
template <class T, int N>
static cudaError_t run_confusion(const TmCudaQueue *q, const TmView *x, const TmView *labels,
                                 gint32 *counts) {
  const gsize pixels = tm_shape_pixels(x->shape);
  const int n = x->shape.c * x->shape.c;
  const cudaError_t e = TM_LAUNCH(clear, dim3((unsigned)(n + TM_THREADS - 1) / TM_THREADS), dim3(TM_THREADS),
                                  0, q->stream, counts, n);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH((confusion<T, N>), dim3(tm_blocks(pixels, 0, 8, TM_PIXEL_BLOCKS)), dim3(TM_THREADS),
                   x->shape.c <= SHARED_CLASSES ? (size_t)n * sizeof(gint32) : 0, q->stream, *x,
                   (const guint8 *)labels->data, counts, pixels, tm_wide_classes(x));
}

cudaError_t tm_cuda_argmax(const TmCudaQueue *q, const TmView *x, const TmView *labels){
    TM_CLASS_SWITCH(x->dtype, x->shape.c, run<T, N>(q, x, labels))} cudaError_t
    tm_cuda_confusion(const TmCudaQueue *q, const TmView *x, const TmView *labels, gint32 *counts) {
  TM_CLASS_SWITCH(x->dtype, x->shape.c, run_confusion<T, N>(q, x, labels, counts))
}
