/* A batch normalisation with running statistics, folded into the convolution before it: every output
 * channel's weights times gamma / std, and a bias. The weights on the way to the type and padding they are
 * used in. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

static __device__ __forceinline__ float channel_scale(const TmBatchNorm &bn, int c) {
  return bn.gamma[c] / sqrtf(bn.var[c] + bn.eps);
}

/* One block: one row (o, kh) of the kernel. */
template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS) fold(TmView w, TmBatchNorm bn, TmView y, int shift) {
  const int c = tm_channel<V>(shift), o = (int)blockIdx.x / w.shape.h, h = (int)blockIdx.x % w.shape.h;
  if (c >= w.shape.c) return;
  const float scale = channel_scale(bn, o);
  for (int j = tm_row(shift); j < w.shape.w; j += tm_rows(shift)) {
    float f[V];
    tm_get(tm_data<float>(w) + tm_at(w, (gsize)o * w.shape.h + h, j, c), f);
#pragma unroll
    for (int i = 0; i < V; i++) f[i] *= scale;
    tm_put(tm_data<T>(y) + tm_at(y, (gsize)o * y.shape.h + h, j, c), f);
  }
}

template <class T>
static __global__ void __launch_bounds__(TM_THREADS) fold_bias(TmBatchNorm bn, int channels, T *bias) {
  const int c = (int)(blockIdx.x * TM_THREADS + threadIdx.x);
  if (c < channels) bias[c] = TmStored<T>::from(bn.beta[c] - bn.mean[c] * channel_scale(bn, c));
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, const TmView *w, const TmBatchNorm *bn, const TmView *y,
                       void *bias) {
  const TmLanes l = tm_lanes(w->shape.c, V);
  const cudaError_t e = TM_LAUNCH((fold<T, V>), tm_row_grid(w->shape.n, w->shape.h, l), dim3(TM_THREADS), 0,
                                  q->stream, *w, *bn, *y, l.shift);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH((fold_bias<T>), dim3((unsigned)(w->shape.n + TM_THREADS - 1) / TM_THREADS),
                   dim3(TM_THREADS), 0, q->stream, *bn, w->shape.n, (T *)bias);
}

cudaError_t tm_cuda_fold_bn(const TmCudaQueue *q, const TmView *w, const TmBatchNorm *bn, const TmView *y,
                            void *bias) {
  TM_SWITCH(y->dtype, tm_wide(w) && y->ld % 8 == 0 && (gsize)y->data % 16 == 0, run<T, V>(q, w, bn, y, bias))
}
