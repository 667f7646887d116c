/* sums.cuh: sums over the pixels of a channel, in an order that depends on the shape alone: in each thread,
 * then over the block, then over the blocks in double. */
#pragma once

#include "kernels/cuda/lanes.cuh"

enum { TM_PARTS = 512, TM_WARPS = TM_THREADS / 32, TM_FINISH_CHANNELS = 32 };

/* Bytes of dynamic shared memory for tm_block_sums of @n floats a thread, and for tm_finish_sums of @k. */
static inline size_t tm_block_sums_bytes(int shift, int n) {
  return sizeof(float) * TM_WARPS * (size_t)n << shift;
}
static inline size_t tm_finish_bytes(int k) {
  return sizeof(double) * TM_THREADS * (size_t)k;
}

/* Adds s[K][V] of all threads of a lane; partial is [blocks][K][channels]. All threads must call it. */
template <int K, int V>
static __device__ __forceinline__ void tm_block_sums(float (&s)[K][V], int shift, int channels, float *shared,
                                                     float *partial) {
  const int lanes = 1 << shift, lane = (int)threadIdx.x & (lanes - 1), warp = (int)threadIdx.x >> 5;
  for (int d = lanes; d < 32; d <<= 1) {
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int i = 0; i < V; i++) s[k][i] += __shfl_xor_sync(0xffffffffu, s[k][i], d);
  }
  if (((int)threadIdx.x & 31) < lanes) {
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int i = 0; i < V; i++) shared[((warp * K + k) * lanes + lane) * V + i] = s[k][i];
  }
  __syncthreads();
  for (int e = (int)threadIdx.x; e < K * lanes * V; e += TM_THREADS) {
    float t = 0;
    for (int w = 0; w < TM_WARPS; w++) t += shared[w * K * lanes * V + e];
    const int k = e / (lanes * V), c = (int)blockIdx.y * lanes * V + e % (lanes * V);
    if (c < channels) partial[((gsize)blockIdx.x * K + (gsize)k) * (gsize)channels + (gsize)c] = t;
  }
}

/* Adds the blocks' sums for the block's 32 channels into total[K]. True for the one thread of each channel
 * that has them; @c is set to the channel. All threads must call it. */
template <int K>
static __device__ __forceinline__ bool tm_finish_sums(const float *partial, int parts, int channels,
                                                      double *shared, int &c, double (&total)[K]) {
  const int part = (int)threadIdx.x / TM_FINISH_CHANNELS, step = TM_THREADS / TM_FINISH_CHANNELS;
  c = (int)blockIdx.x * TM_FINISH_CHANNELS + (int)threadIdx.x % TM_FINISH_CHANNELS;
#pragma unroll
  for (int k = 0; k < K; k++) {
    double t = 0;
    for (int p = part; p < parts && c < channels; p += step)
      t += (double)partial[((gsize)p * K + (gsize)k) * (gsize)channels + (gsize)c];
    shared[k * TM_THREADS + (int)threadIdx.x] = t;
  }
  __syncthreads();
  if (part > 0 || c >= channels) return false;
#pragma unroll
  for (int k = 0; k < K; k++) {
    total[k] = 0;
    for (int p = 0; p < step; p++)
      total[k] += shared[k * TM_THREADS + p * TM_FINISH_CHANNELS + (int)threadIdx.x];
  }
  return true;
}

static inline dim3 tm_finish_grid(int channels) {
  return dim3((unsigned)((channels + TM_FINISH_CHANNELS - 1) / TM_FINISH_CHANNELS));
}
/* As many parts as keep every multiprocessor busy, over all tiles. */
static inline unsigned tm_parts(gsize pixels, TmLanes l, int each) {
  const unsigned most = TM_PARTS / (unsigned)l.tiles;
  return tm_blocks(pixels, l.shift, each, most ? most : 1);
}
