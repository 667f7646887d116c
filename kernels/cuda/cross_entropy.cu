/* Softmax cross-entropy and focal loss with class weights and void, and the gradient, in one pass over the
 * scores: no shares are kept. */
#include "kernels/cuda/classes.cuh"
#include "kernels/cuda/sums.cuh"

struct Loss {
  const guint8 *labels;
  const float *weights, *dloss;
  float gamma;
  bool wide_x, wide_dx;
};

/* -log of the true class's share, times how much a pixel so sure still counts. */
static __device__ __forceinline__ float judged(float missing, float gamma) {
  return gamma > 0 ? powf(-expm1f(-missing), gamma) * missing : missing;
}
/* How hard the gradient of the softmax pulls: the derivative of that by log p, negated. */
static __device__ __forceinline__ float pull(float missing, float gamma) {
  if (gamma <= 0) return 1;
  const float rest = -expm1f(-missing); /* 1 - p, exact near p = 1 */
  if (rest <= 0) return 0;
  return gamma * (1 - rest) * powf(rest, gamma - 1) * missing + powf(rest, gamma);
}

template <class T, int N>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    cross_entropy(TmView x, Loss loss, const TmLossWork *work, TmView dx, gsize pixels, float *parts) {
  TM_DYN_SHARED(float, shared);
  const int C = x.shape.c;
  const float share = work->share, scale = dx.data ? *loss.dloss * share : 0;
  float sum = 0;
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels;
       p += (gsize)gridDim.x * TM_THREADS) {
    const int label = loss.labels[p];
    T *to = tm_data<T>(dx) + p * (gsize)dx.ld;
    if (label >= C || share == 0) {
      if (dx.data) tm_put_classes<T, N>(to, C, dx.shape.c, loss.wide_dx, [](int) { return 0.0f; });
      continue;
    }
    TmScores<T, N> s;
    float top, right = 0;
    s.load(tm_data<T>(x) + p * (gsize)x.ld, C, tm_all_of(loss.wide_x, x, p, pixels));
    const float all = tm_soft(s, C, top), weight = loss.weights[label];
    TM_EACH_CLASS(c, N, C) right = c == label ? s.at(c) : right;
    const float missing = logf(all) - (right - top);
    sum += weight * judged(missing, loss.gamma);
    if (!dx.data) continue;
    const float k = scale * weight * pull(missing, loss.gamma), inv = 1 / all;
    tm_put_classes<T, N>(to, C, dx.shape.c, loss.wide_dx,
                         [&](int c) { return k * (expf(s.at(c) - top) * inv - (c == label ? 1.0f : 0.0f)); });
  }
  if (!parts) return; /* all threads alike */
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < TM_WARPS; w++) sum += shared[w];
  parts[blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(TM_THREADS)
    loss_finish(const float *parts, int n, const TmLossWork *work, float *loss) {
  TM_DYN_SHARED(double, shared);
  double sum = 0;
  for (int i = (int)threadIdx.x; i < n; i += TM_THREADS) sum += (double)parts[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < TM_THREADS; i++) sum += shared[i];
  *loss = (float)(sum * (double)work->share);
}

template <class T, int N>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const Loss &how, float *loss,
                       const TmView *dx) {
  const TmView none = {};
  const gsize pixels = tm_shape_pixels(x->shape);
  const dim3 grid = tm_pixel_grid(pixels);
  TmLossWork *work = tm_loss_work(q);
  float *parts = loss ? tm_loss_parts(q) : NULL;
  const cudaError_t e = TM_LAUNCH((cross_entropy<T, N>), grid, dim3(TM_THREADS), TM_WARPS * sizeof(float),
                                  q->stream, *x, how, work, dx ? *dx : none, pixels, parts);
  if (e != cudaSuccess || !loss) return e;
  return TM_LAUNCH(loss_finish, dim3(1), dim3(TM_THREADS), tm_finish_bytes(1), q->stream, parts, (int)grid.x,
                   work, loss);
}

cudaError_t tm_cuda_cross_entropy(const TmCudaQueue *q, const TmView *x, const TmView *labels,
                                  const float *weights, float gamma, float *loss, const float *dloss,
                                  const TmView *dx) {
  const Loss how = {(const guint8 *)labels->data, weights,          dloss, gamma,
                    tm_wide_classes(x),           dx && tm_wide(dx)};
  const cudaError_t e = tm_count_labels(q, labels, weights, x->shape.c);
  if (e != cudaSuccess) return e;
  TM_CLASS_SWITCH(x->dtype, dx && dx->shape.c > x->shape.c ? dx->shape.c : x->shape.c,
                  run<T, N>(q, x, how, loss, dx))
}
