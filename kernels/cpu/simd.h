/* simd.h: one vector of floats, as wide as the instruction set this file is compiled for has them.
 *
 * VL lanes: 16 with AVX-512 (and its bf16 conversions), 8 with AVX2 and FMA, 4 in plain C (the compiler's
 * vector extension). Arithmetic is written with + - * /. Functions ending in _n touch the first n lanes only,
 * 1 <= n <= VL; the other lanes read as 0. */
#pragma once

#include <math.h>
#include <string.h>

#include "engine/core/dtype.h"

#define TM_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512BF16__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define TM_SIMD_AVX512 1
enum { VL = 16 };
typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;

TM_INLINE vf v_set(float x) {
  return _mm512_set1_ps(x);
}
TM_INLINE vf v_load(const float *p) {
  return _mm512_loadu_ps(p);
}
TM_INLINE void v_store(float *p, vf v) {
  _mm512_storeu_ps(p, v);
}
TM_INLINE vm v_first(int n) {
  return (vm)(0xffffu >> (16 - n));
}
TM_INLINE vf v_load_n(const float *p, int n) {
  return _mm512_maskz_loadu_ps(v_first(n), p);
}
TM_INLINE void v_store_n(float *p, vf v, int n) {
  _mm512_mask_storeu_ps(p, v_first(n), v);
}
TM_INLINE vf v_from_bits(__m256i h) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
TM_INLINE vf v_load_bf16(const guint16 *p) {
  return v_from_bits(_mm256_loadu_si256((const __m256i *)p));
}
TM_INLINE vf v_load_bf16_n(const guint16 *p, int n) {
  return v_from_bits(_mm256_maskz_loadu_epi16(v_first(n), p));
}
TM_INLINE void v_store_bf16(guint16 *p, vf v) {
  _mm256_storeu_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh(v));
}
TM_INLINE void v_store_bf16_n(guint16 *p, vf v, int n) {
  _mm256_mask_storeu_epi16(p, v_first(n), (__m256i)_mm512_cvtneps_pbh(v));
}
TM_INLINE vf v_load_u8(const guint8 *p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}
TM_INLINE vf v_fma(vf a, vf b, vf c) {
  return _mm512_fmadd_ps(a, b, c);
}
TM_INLINE vf v_max(vf a, vf b) {
  return _mm512_max_ps(a, b);
}
TM_INLINE vf v_min(vf a, vf b) {
  return _mm512_min_ps(a, b);
}
TM_INLINE vm v_gt(vf a, vf b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
TM_INLINE vm v_eq(vf a, vf b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
TM_INLINE vm v_and(vm a, vm b) {
  return a & b;
}
TM_INLINE vm v_or(vm a, vm b) {
  return a | b;
}
TM_INLINE vm v_not(vm a) {
  return (vm)~a;
}
TM_INLINE vf v_select(vm m, vf a, vf b) {
  return _mm512_mask_blend_ps(m, b, a);
}
TM_INLINE vf v_keep(vm m, vf a) {
  return _mm512_maskz_mov_ps(m, a);
}
TM_INLINE vf v_sqrt(vf a) {
  return _mm512_sqrt_ps(a);
}
TM_INLINE vf v_round(vf a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TM_INLINE vi v_to_int(vf a) {
  return _mm512_cvtps_epi32(a);
}
TM_INLINE vf v_from_int(vi a) {
  return _mm512_cvtepi32_ps(a);
}
TM_INLINE vi v_bits(vf a) {
  return _mm512_castps_si512(a);
}
TM_INLINE vf v_of_bits(vi a) {
  return _mm512_castsi512_ps(a);
}
TM_INLINE vi vi_set(int x) {
  return _mm512_set1_epi32(x);
}
TM_INLINE vi vi_add(vi a, vi b) {
  return _mm512_add_epi32(a, b);
}
TM_INLINE vi vi_sub(vi a, vi b) {
  return _mm512_sub_epi32(a, b);
}
TM_INLINE vi vi_and(vi a, vi b) {
  return _mm512_and_si512(a, b);
}
TM_INLINE vi vi_or(vi a, vi b) {
  return _mm512_or_si512(a, b);
}
#define vi_shl(a, k) _mm512_slli_epi32(a, k)
#define vi_shr(a, k) _mm512_srli_epi32(a, k)

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define TM_SIMD_AVX2 1
enum { VL = 8 };
typedef __m256 vf;
typedef __m256i vi;
typedef __m256 vm;

TM_INLINE vf v_set(float x) {
  return _mm256_set1_ps(x);
}
TM_INLINE vf v_load(const float *p) {
  return _mm256_loadu_ps(p);
}
TM_INLINE void v_store(float *p, vf v) {
  _mm256_storeu_ps(p, v);
}
TM_INLINE vf v_load_bf16(const guint16 *p) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}
TM_INLINE __m128i v_to_bf16(vf v) {
  const __m256i u = _mm256_castps_si256(v), top = _mm256_srli_epi32(u, 16);
  const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
  const __m256i even =
      _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)),
                quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
  const __m256i r = _mm256_blendv_epi8(even, quiet, nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}
TM_INLINE void v_store_bf16(guint16 *p, vf v) {
  _mm_storeu_si128((__m128i *)p, v_to_bf16(v));
}
TM_INLINE vf v_load_u8(const guint8 *p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
TM_INLINE vf v_fma(vf a, vf b, vf c) {
  return _mm256_fmadd_ps(a, b, c);
}
TM_INLINE vf v_max(vf a, vf b) {
  return _mm256_max_ps(a, b);
}
TM_INLINE vf v_min(vf a, vf b) {
  return _mm256_min_ps(a, b);
}
TM_INLINE vm v_gt(vf a, vf b) {
  return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}
TM_INLINE vm v_eq(vf a, vf b) {
  return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
TM_INLINE vm v_and(vm a, vm b) {
  return _mm256_and_ps(a, b);
}
TM_INLINE vm v_or(vm a, vm b) {
  return _mm256_or_ps(a, b);
}
TM_INLINE vm v_not(vm a) {
  return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}
TM_INLINE vf v_select(vm m, vf a, vf b) {
  return _mm256_blendv_ps(b, a, m);
}
TM_INLINE vf v_keep(vm m, vf a) {
  return _mm256_and_ps(m, a);
}
TM_INLINE vf v_sqrt(vf a) {
  return _mm256_sqrt_ps(a);
}
TM_INLINE vf v_round(vf a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TM_INLINE vi v_to_int(vf a) {
  return _mm256_cvtps_epi32(a);
}
TM_INLINE vf v_from_int(vi a) {
  return _mm256_cvtepi32_ps(a);
}
TM_INLINE vi v_bits(vf a) {
  return _mm256_castps_si256(a);
}
TM_INLINE vf v_of_bits(vi a) {
  return _mm256_castsi256_ps(a);
}
TM_INLINE vi vi_set(int x) {
  return _mm256_set1_epi32(x);
}
TM_INLINE vi vi_add(vi a, vi b) {
  return _mm256_add_epi32(a, b);
}
TM_INLINE vi vi_sub(vi a, vi b) {
  return _mm256_sub_epi32(a, b);
}
TM_INLINE vi vi_and(vi a, vi b) {
  return _mm256_and_si256(a, b);
}
TM_INLINE vi vi_or(vi a, vi b) {
  return _mm256_or_si256(a, b);
}
#define vi_shl(a, k) _mm256_slli_epi32(a, k)
#define vi_shr(a, k) _mm256_srli_epi32(a, k)

#else
#define TM_SIMD_PLAIN 1
enum { VL = 4 };
typedef float vf __attribute__((vector_size(16)));
typedef gint32 vi __attribute__((vector_size(16)));
typedef guint32 vu __attribute__((vector_size(16)));
typedef vi vm; /* 0 or -1 in each lane */

TM_INLINE vf v_set(float x) {
  return (vf){x, x, x, x};
}
TM_INLINE vi vi_set(int x) {
  return (vi){x, x, x, x};
}
TM_INLINE vf v_load(const float *p) {
  vf v;
  memcpy(&v, p, sizeof v);
  return v;
}
TM_INLINE void v_store(float *p, vf v) {
  memcpy(p, &v, sizeof v);
}
TM_INLINE vf v_load_bf16(const guint16 *p) {
  const vi u = {p[0], p[1], p[2], p[3]};
  return (vf)(u << 16);
}
TM_INLINE void v_store_bf16(guint16 *p, vf v) {
  for (int i = 0; i < VL; i++) p[i] = tm_f32_to_bf16(v[i]);
}
TM_INLINE vf v_load_u8(const guint8 *p) {
  return (vf){p[0], p[1], p[2], p[3]};
}
TM_INLINE vf v_fma(vf a, vf b, vf c) {
  return a * b + c;
}
TM_INLINE vm v_gt(vf a, vf b) {
  return a > b;
}
TM_INLINE vm v_eq(vf a, vf b) {
  return a == b;
}
TM_INLINE vm v_and(vm a, vm b) {
  return a & b;
}
TM_INLINE vm v_or(vm a, vm b) {
  return a | b;
}
TM_INLINE vm v_not(vm a) {
  return ~a;
}
TM_INLINE vf v_select(vm m, vf a, vf b) {
  return (vf)((m & (vi)a) | (~m & (vi)b));
}
TM_INLINE vf v_keep(vm m, vf a) {
  return (vf)(m & (vi)a);
}
TM_INLINE vf v_max(vf a, vf b) {
  return v_select(a > b, a, b);
}
TM_INLINE vf v_min(vf a, vf b) {
  return v_select(a < b, a, b);
}
TM_INLINE vf v_sqrt(vf a) {
  return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}
TM_INLINE vf v_round(vf a) {
  return (vf){rintf(a[0]), rintf(a[1]), rintf(a[2]), rintf(a[3])};
}
TM_INLINE vi
v_to_int(vf a) { /* of values that fit, and 0 for NaN: a conversion that does not fit is undefined in C */
  const vf b = v_keep(a == a, a);
  return (vi){(gint32)b[0], (gint32)b[1], (gint32)b[2], (gint32)b[3]};
}
TM_INLINE vf v_from_int(vi a) {
  return (vf){(float)a[0], (float)a[1], (float)a[2], (float)a[3]};
}
TM_INLINE vi v_bits(vf a) {
  return (vi)a;
}
TM_INLINE vf v_of_bits(vi a) {
  return (vf)a;
}
TM_INLINE vi vi_add(vi a, vi b) {
  return a + b;
}
TM_INLINE vi vi_sub(vi a, vi b) {
  return a - b;
}
TM_INLINE vi vi_and(vi a, vi b) {
  return a & b;
}
TM_INLINE vi vi_or(vi a, vi b) {
  return a | b;
}
#define vi_shl(a, k) ((a) << (k))
#define vi_shr(a, k) ((vi)((vu)(a) >> (k)))
#endif

#ifndef TM_SIMD_AVX512 /* no masked moves: the tail goes through a small buffer */
TM_INLINE vf v_load_n(const float *p, int n) {
  float t[VL] = {0};
  memcpy(t, p, sizeof(float) * (gsize)n);
  return v_load(t);
}
TM_INLINE void v_store_n(float *p, vf v, int n) {
  float t[VL];
  v_store(t, v);
  memcpy(p, t, sizeof(float) * (gsize)n);
}
TM_INLINE vf v_load_bf16_n(const guint16 *p, int n) {
  guint16 t[VL] = {0};
  memcpy(t, p, sizeof(guint16) * (gsize)n);
  return v_load_bf16(t);
}
TM_INLINE void v_store_bf16_n(guint16 *p, vf v, int n) {
  guint16 t[VL];
  v_store_bf16(t, v);
  memcpy(p, t, sizeof(guint16) * (gsize)n);
}
#endif

/* Lanes 0 .. n-1 of element @i on, of type f32 or bf16. With @t and @n constants these are one instruction or
 * two. */
TM_INLINE vf v_get(const void *p, gsize i, TmDType t, int n) {
  if (t == TM_BF16)
    return n == VL ? v_load_bf16((const guint16 *)p + i) : v_load_bf16_n((const guint16 *)p + i, n);
  return n == VL ? v_load((const float *)p + i) : v_load_n((const float *)p + i, n);
}
TM_INLINE void v_put(void *p, gsize i, TmDType t, int n, vf v) {
  if (t == TM_BF16) {
    if (n == VL)
      v_store_bf16((guint16 *)p + i, v);
    else
      v_store_bf16_n((guint16 *)p + i, v, n);
  } else {
    if (n == VL)
      v_store((float *)p + i, v);
    else
      v_store_n((float *)p + i, v, n);
  }
}
/* max(0, x); NaN stays NaN, so that a broken value is seen in the loss. */
TM_INLINE vf v_relu(vf x) {
  return v_max(v_set(0), x);
}

/* The greater of two; NaN when either is. */
TM_INLINE vf v_greatest(vf a, vf b) {
  return v_select(v_eq(a, a), v_max(a, b), a);
}

TM_INLINE float v_sum(vf v) {
  float t[VL], s = 0;
  v_store(t, v);
  for (int i = 0; i < VL; i++) s += t[i];
  return s;
}

/* e^x within 2 ulp for x in [-87, 88], clamped outside. 2^k e^r with |r| <= ln 2 / 2 and a Taylor polynomial
 * of e^r of degree 7. */
TM_INLINE vf v_exp(vf x) {
  x = v_min(v_set(88.0f), v_max(v_set(-87.0f), x));
  const vf k = v_round(x * v_set(1.44269504089f));
  const vf r = v_fma(k, v_set(-1.42860682030941723e-6f), v_fma(k, v_set(-0.693145751953125f), x));
  vf p = v_set(1.0f / 5040);
  p = v_fma(p, r, v_set(1.0f / 720));
  p = v_fma(p, r, v_set(1.0f / 120));
  p = v_fma(p, r, v_set(1.0f / 24));
  p = v_fma(p, r, v_set(1.0f / 6));
  p = v_fma(p, r, v_set(0.5f));
  p = v_fma(p, r, v_set(1));
  p = v_fma(p, r, v_set(1));
  return p * v_of_bits(vi_shl(vi_add(v_to_int(k), vi_set(127)), 23));
}

/* ln x within 4e-7 (absolute near 1, relative elsewhere) for normal x > 0. x = 2^k m, m in [sqrt(1/2), sqrt
 * 2), and ln m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172. NaN and infinity stay. */
TM_INLINE vf v_log(vf x) {
  const vi bits = v_bits(x);
  const vi e = vi_add(vi_shr(vi_add(bits, vi_set(0x3f800000 - 0x3f3504f3)), 23), vi_set(-127));
  const vf m = v_of_bits(vi_sub(bits, vi_shl(e, 23)));
  const vf s = (m - v_set(1)) / (m + v_set(1)), z = s * s;
  vf p = v_set(2.0f / 9);
  p = v_fma(p, z, v_set(2.0f / 7));
  p = v_fma(p, z, v_set(2.0f / 5));
  p = v_fma(p, z, v_set(2.0f / 3));
  p = v_fma(p, z, v_set(2));
  const vf r = v_fma(v_from_int(e), v_set(0.69314718056f), p * s);
  return v_select(v_gt(v_set(INFINITY), x), r, x);
}
