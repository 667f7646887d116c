/* pack.cuh: V elements of a type as one or two 16-byte accesses (V = 8) or one element (V = 1), and as
 * floats. A pack is held as it is stored, so that several loads can be on their way in few registers. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/launch.cuh"

struct TmBf16 {
  unsigned short bits;
};
struct TmF16 {
  unsigned short bits;
};

static __device__ __forceinline__ float tm_float(float x) {
  return x;
}
static __device__ __forceinline__ float tm_float(TmBf16 x) {
  return __uint_as_float((unsigned)x.bits << 16);
}
static __device__ __forceinline__ float tm_float(TmF16 x) {
  return __half2float(__ushort_as_half(x.bits));
}

template <class T> struct TmStored; /* from float, rounded to nearest even */
template <> struct TmStored<float> {
  static __device__ __forceinline__ float from(float f) { return f; }
};
template <> struct TmStored<TmBf16> {
  static __device__ __forceinline__ TmBf16 from(float f) {
    return TmBf16{__bfloat16_as_ushort(__float2bfloat16_rn(f))};
  }
};
template <> struct TmStored<TmF16> {
  static __device__ __forceinline__ TmF16 from(float f) {
    return TmF16{__half_as_ushort(__float2half_rn(f))};
  }
};

template <class T, int V> struct TmPack;

template <class T> struct TmPack<T, 1> {
  T x;
  __device__ __forceinline__ void load(const T *p) { x = *p; }
  __device__ __forceinline__ void get(float (&f)[1]) const { f[0] = tm_float(x); }
  static __device__ __forceinline__ void store(T *p, const float (&f)[1]) { *p = TmStored<T>::from(f[0]); }
};

template <> struct TmPack<float, 8> {
  float4 a, b;
  __device__ __forceinline__ void load(const float *p) {
    a = *reinterpret_cast<const float4 *>(p);
    b = *reinterpret_cast<const float4 *>(p + 4);
  }
  __device__ __forceinline__ void get(float (&f)[8]) const {
    f[0] = a.x, f[1] = a.y, f[2] = a.z, f[3] = a.w;
    f[4] = b.x, f[5] = b.y, f[6] = b.z, f[7] = b.w;
  }
  static __device__ __forceinline__ void store(float *p, const float (&f)[8]) {
    *reinterpret_cast<float4 *>(p) = make_float4(f[0], f[1], f[2], f[3]);
    *reinterpret_cast<float4 *>(p + 4) = make_float4(f[4], f[5], f[6], f[7]);
  }
};

/* Two stored 16-bit elements and one word, the first in the low half. */
template <class T> static __device__ __forceinline__ unsigned tm_pair(float lo, float hi) {
  return (unsigned)TmStored<T>::from(lo).bits | (unsigned)TmStored<T>::from(hi).bits << 16;
}
template <class T> static __device__ __forceinline__ void tm_unpair(unsigned u, float &lo, float &hi) {
  lo = tm_float(T{(unsigned short)(u & 0xffffu)});
  hi = tm_float(T{(unsigned short)(u >> 16)});
}

template <class T> struct TmPack<T, 8> {
  uint4 u;
  __device__ __forceinline__ void load(const T *p) { u = *reinterpret_cast<const uint4 *>(p); }
  __device__ __forceinline__ void get(float (&f)[8]) const {
    tm_unpair<T>(u.x, f[0], f[1]);
    tm_unpair<T>(u.y, f[2], f[3]);
    tm_unpair<T>(u.z, f[4], f[5]);
    tm_unpair<T>(u.w, f[6], f[7]);
  }
  static __device__ __forceinline__ void store(T *p, const float (&f)[8]) {
    *reinterpret_cast<uint4 *>(p) = make_uint4(tm_pair<T>(f[0], f[1]), tm_pair<T>(f[2], f[3]),
                                               tm_pair<T>(f[4], f[5]), tm_pair<T>(f[6], f[7]));
  }
};

template <class T, int V> static __device__ __forceinline__ void tm_get(const T *p, float (&f)[V]) {
  TmPack<T, V> k;
  k.load(p);
  k.get(f);
}
template <class T, int V> static __device__ __forceinline__ void tm_put(T *p, const float (&f)[V]) {
  TmPack<T, V>::store(p, f);
}
