/* One wrong kernel per case: proves that the host build notices. Run with a case name, and a seed for a
 * random order; test_wrong.c says which build has to fail which case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/cuda/launch.cuh"
#include "tm_host.h"

__global__ void no_barrier(float *out) { /* reads a neighbour's value too early */
  __shared__ float s[64];
  s[threadIdx.x] = (float)threadIdx.x;
  out[threadIdx.x] = s[(threadIdx.x + 33) & 63];
}
__global__ void no_syncwarp(float *out) { /* a shuffle orders no memory */
  __shared__ float s[32];
  s[threadIdx.x] = (float)threadIdx.x;
  float v = __shfl_xor_sync(~0u, 1.0f, 1);
  out[threadIdx.x] = v + s[threadIdx.x ^ 1];
}
__global__ void two_barriers(float *out) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void early_return(float *out) {
  if (threadIdx.x == 63) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void lost_lane(float *out) {
  if (threadIdx.x == 5) return;
  out[threadIdx.x] = __shfl_down_sync(~0u, 1.0f, 1);
}
__global__ void half_warp(float *out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(~0u, 1.0f, 1);
}
__global__ void static_over(float *out) {
  __shared__ float s[40];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
__global__ void dynamic_over(float *out) {
  TM_DYN_SHARED(float, s);
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
__global__ void global_over(float *out) {
  out[threadIdx.x + 1] = 1;
}
__global__ void unset(float *out) {
  __shared__ float s[64];
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void misaligned(float *out) {
  out[threadIdx.x] = 0;
  if (threadIdx.x == 0) *reinterpret_cast<float4 *>(out + 1) = make_float4(1, 2, 3, 4);
}
__global__ void blocks_collide(float *out) {
  out[threadIdx.x] = (float)blockIdx.x;
}
__global__ void plain_add(float *out) { /* what an atomic is for */
  __shared__ int n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  n += 1;
  __syncthreads();
  out[threadIdx.x] = (float)n;
}
__global__ void fine(float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = (float)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x + 33) & 63];
  __syncthreads();
  s[threadIdx.x] = 0;
  __syncwarp();
  out[threadIdx.x] += s[threadIdx.x ^ 1];
}

int main(int argc, char **argv) {
  float *d = NULL, h[64];
  const char *which = argc > 1 ? argv[1] : "fine";
  int grid = 2;
  if (argc > 2) tm_host_order(TM_ORDER_RANDOM, (unsigned)atoi(argv[2]));
  tm_host_between_blocks(!strcmp(which, "blocks_collide"));
  if (cudaMalloc((void **)&d, sizeof h) != cudaSuccess) return 2;
#define CASE(k, smem)                                                                                        \
  if (!strcmp(which, #k))                                                                                    \
  return_code =                                                                                              \
      TM_LAUNCH(k, dim3(grid), dim3(#k[0] == 'l' || !strcmp(#k, "no_syncwarp") ? 32 : 64), smem, 0, d)
  cudaError_t return_code = cudaErrorInvalidValue;
  CASE(no_barrier, 0);
  CASE(no_syncwarp, 0);
  CASE(two_barriers, 0);
  CASE(early_return, 0);
  CASE(lost_lane, 0);
  CASE(half_warp, 0);
  CASE(static_over, 0);
  CASE(dynamic_over, 40 * sizeof(float));
  CASE(global_over, 0);
  CASE(unset, 0);
  CASE(misaligned, 0);
  CASE(blocks_collide, 0);
  CASE(plain_add, 0);
  CASE(fine, 0);
  if (return_code != cudaSuccess) return 3;
  if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  cudaFree(d);
  if (!strcmp(which, "no_syncwarp") || !strcmp(which, "lost_lane") || !strcmp(which, "blocks_collide"))
    return 0;
  for (int i = 0; i < 64; i++) {
    float want = !strcmp(which, "no_barrier") || !strcmp(which, "fine") ? (float)((i + 33) & 63) : h[i];
    if (!(h[i] == want)) {
      printf("wrong or NaN at %d: %g\n", i, h[i]);
      return 1;
    }
  }
  return 0;
}
