/* Stand-in for cuda_fp16.h: storage and conversion only, as cuda_bf16.h. */
#ifndef TM_HOST_CUDA_FP16_H
#define TM_HOST_CUDA_FP16_H
#include <cuda_runtime.h>
struct __half {
  unsigned short x;
};
struct __half2 {
  alignas(4) __half x;
  __half y;
};
static inline float __half2float(__half h) {
  unsigned s = (unsigned)(h.x & 0x8000u) << 16, e = (h.x >> 10) & 31u, m = h.x & 0x3ffu;
  if (e == 31) return __uint_as_float(m ? 0x7fffffffu : s | 0x7f800000u);
  if (e) return __uint_as_float(s | ((e + 112u) << 23) | (m << 13));
  float f = (float)m * 5.9604644775390625e-8f; /* m * 2^-24 */
  return s ? -f : f;
}
static inline __half __float2half_rn(float f) {
  unsigned u = __float_as_uint(f), s = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  if (a > 0x7f800000u) return {0x7fff};
  if (a >= 0x47800000u) return {(unsigned short)(s | 0x7c00u)};
  if (a < 0x38800000u) { /* subnormal: let the adder round */
    unsigned r = __float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000u;
    return {(unsigned short)(s | r)};
  }
  unsigned r = a + 0xfffu + ((a >> 13) & 1) - 0x38000000u;
  return {(unsigned short)(s | (r >> 13))};
}
static inline __half __float2half(float f) {
  return __float2half_rn(f);
}
static inline unsigned short __half_as_ushort(__half h) {
  return h.x;
}
static inline __half __ushort_as_half(unsigned short u) {
  return {u};
}
static inline __half2 __floats2half2_rn(float a, float b) {
  return {__float2half_rn(a), __float2half_rn(b)};
}
static inline float2 __half22float2(__half2 h) {
  return make_float2(__half2float(h.x), __half2float(h.y));
}
#endif
