/* Stand-in for cuda_bf16.h: storage and conversion only. Kernels compute in
 * float, so no bf16 arithmetic is offered. Checked bit for bit against the
 * real header by tests/bits.cpp where that is installed. */
#ifndef TM_HOST_CUDA_BF16_H
#define TM_HOST_CUDA_BF16_H
#include <cuda_runtime.h>
struct __nv_bfloat16 {
  unsigned short x;
};
struct __nv_bfloat162 {
  alignas(4) __nv_bfloat16 x;
  __nv_bfloat16 y;
};
static inline float __bfloat162float(__nv_bfloat16 h) {
  return __uint_as_float((unsigned)h.x << 16);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float f) {
  unsigned u = __float_as_uint(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {(unsigned short)((u + 0x7fffu + ((u >> 16) & 1)) >> 16)};
}
static inline __nv_bfloat16 __float2bfloat16(float f) {
  return __float2bfloat16_rn(f);
}
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) {
  return h.x;
}
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short u) {
  return {u};
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__float2bfloat16_rn(a), __float2bfloat16_rn(b)};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 h) {
  return make_float2(__bfloat162float(h.x), __bfloat162float(h.y));
}
#endif
