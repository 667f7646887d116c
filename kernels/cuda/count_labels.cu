/* How often each label occurs, by which losses are weighed. Whole numbers, so that the order of the additions
 * does not matter. */
#include "kernels/cuda/classes.cuh"

static __global__ void __launch_bounds__(TM_THREADS) clear_counts(TmLossWork *work) {
  work->counts[threadIdx.x] = 0;
}

static __global__ void __launch_bounds__(TM_THREADS)
    count_labels(const guint8 *labels, gsize pixels, TmLossWork *work) {
  TM_DYN_SHARED(unsigned, counts);
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels; p += (gsize)gridDim.x * TM_THREADS)
    atomicAdd(&counts[labels[p]], 1u);
  __syncthreads();
  if (counts[threadIdx.x]) atomicAdd(&work->counts[threadIdx.x], counts[threadIdx.x]);
}

static __global__ void weigh(TmLossWork *work, const float *weights, int classes) {
  double sum = 0;
  for (int c = 0; c < classes; c++)
    if (work->counts[c]) sum += (double)weights[c] * (double)work->counts[c];
  work->share = sum > 0 ? (float)(1 / sum) : 0;
}

cudaError_t tm_count_labels(const TmCudaQueue *q, const TmView *labels, const float *weights, int classes) {
  const gsize pixels = tm_shape_pixels(labels->shape);
  TmLossWork *work = tm_loss_work(q);
  cudaError_t e = TM_LAUNCH(clear_counts, dim3(1), dim3(TM_THREADS), 0, q->stream, work);
  if (e == cudaSuccess)
    e = TM_LAUNCH(count_labels, dim3(tm_blocks(pixels, 0, 8, 512)), dim3(TM_THREADS),
                  TM_THREADS * sizeof(unsigned), q->stream, (const guint8 *)labels->data, pixels, work);
  if (e == cudaSuccess && weights)
    e = TM_LAUNCH(weigh, dim3(1), dim3(1), 0, q->stream, work, weights, classes);
  return e;
}
