/* The sum of squares in double: of gradients, for clipping and to find what is not finite. */
#include "kernels/cuda/flat.cuh"

enum { BLOCKS = 512 };

/* The block's sum, in thread 0. Shared: one double a thread. */
static __device__ __forceinline__ double block_sum(double sum, double *shared) {
  shared[threadIdx.x] = sum;
  for (unsigned half = TM_FLAT_THREADS / 2; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  return shared[0];
}

static __global__ void __launch_bounds__(TM_FLAT_THREADS)
    squares_partial(const float *x, gsize n, bool wide, double *parts) {
  TM_DYN_SHARED(double, shared);
  double sum = 0;
  for (gsize at = ((gsize)blockIdx.x * TM_FLAT_THREADS + threadIdx.x) * 4; at < n;
       at += (gsize)gridDim.x * TM_FLAT_THREADS * 4) {
    TmFour f;
    f.load(x, at, n, wide);
#pragma unroll
    for (int i = 0; i < 4; i++) sum += (double)f.x[i] * (double)f.x[i];
  }
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(TM_FLAT_THREADS)
    squares_finish(const double *parts, int n, double *sum) {
  TM_DYN_SHARED(double, shared);
  double mine = 0;
  for (int i = (int)threadIdx.x; i < n; i += TM_FLAT_THREADS) mine += parts[i];
  mine = block_sum(mine, shared);
  if (threadIdx.x == 0) *sum = mine;
}

cudaError_t tm_cuda_sum_squares(const TmCudaQueue *q, const float *x, gsize n, double *sum) {
  const unsigned all = tm_flat_grid(n).x, blocks = all < BLOCKS ? all : (unsigned)BLOCKS;
  const size_t shared = TM_FLAT_THREADS * sizeof(double);
  double *parts = (double *)q->work;
  const cudaError_t e = TM_LAUNCH(squares_partial, dim3(blocks), dim3(TM_FLAT_THREADS), shared, q->stream, x,
                                  n, tm_flat_wide(x), parts);
  if (e != cudaSuccess) return e;
  return TM_LAUNCH(squares_finish, dim3(1), dim3(TM_FLAT_THREADS), shared, q->stream, parts, (int)blocks,
                   sum);
}
