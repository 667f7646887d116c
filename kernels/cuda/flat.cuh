/* flat.cuh: arrays of f32, four at a time. */
#pragma once

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.cuh"

enum { TM_FLAT_THREADS = 256 };

/* Four elements from @at on; those beyond @n are 0 and are not written. */
struct TmFour {
  float x[4];
  __device__ __forceinline__ void load(const float *p, gsize at, gsize n, bool wide) {
    if (wide && at + 4 <= n) {
      const float4 v = *reinterpret_cast<const float4 *>(p + at);
      x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = at + (gsize)i < n ? p[at + (gsize)i] : 0;
  }
  __device__ __forceinline__ void store(float *p, gsize at, gsize n, bool wide) const {
    if (wide && at + 4 <= n) {
      *reinterpret_cast<float4 *>(p + at) = make_float4(x[0], x[1], x[2], x[3]);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (at + (gsize)i < n) p[at + (gsize)i] = x[i];
  }
};

static inline bool tm_flat_wide(const void *p) {
  return (gsize)p % 16 == 0;
}
static inline dim3 tm_flat_grid(gsize n) {
  return dim3((unsigned)((n + 4 * TM_FLAT_THREADS - 1) / (4 * TM_FLAT_THREADS)));
}
