/* norm.cuh: batch normalisation of V channels, whose constants stay in registers. */
#pragma once

#include "kernels/cuda/lanes.cuh"

template <int V> struct TmNorm {
  float mean[V], scale[V], beta[V];
  __device__ __forceinline__ void load(const TmBatchNorm &bn, int c) {
    tm_vector(bn.mean, c, mean);
    tm_vector(bn.var, c, scale);
    tm_vector(bn.beta, c, beta);
#pragma unroll
    for (int i = 0; i < V; i++) scale[i] = bn.gamma[c + i] * rsqrtf(scale[i] + bn.eps);
  }
  __device__ __forceinline__ float of(float x, int i) const { return fmaf(x - mean[i], scale[i], beta[i]); }
  __device__ __forceinline__ void apply(float (&f)[V], bool relu) const {
#pragma unroll
    for (int i = 0; i < V; i++) {
      const float y = of(f[i], i);
      f[i] = relu && y <= 0 ? 0 : y; /* a NaN stays one, so that it is found */
    }
  }
};
