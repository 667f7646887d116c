/* pairs.h: bf16 pixels rearranged for vdpbf16ps, which multiplies pairs that lie side by side: here two
 * neighbouring pixels. Only with AVX512-BF16. Private to kernels/cpu. */
#pragma once

#include "kernels/cpu/isa.h"

#ifdef TM_SIMD_AVX512

/* Transposes 16 x 16 words. */
TM_INLINE void transpose16(__m512i r[16]) {
  __m512i t[16];
  for (int i = 0; i < 8; i++) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; i++) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; i++) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; i++) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

/* out[c * ldo + i] = channel c of pixel i, i < n. Writes zeros up to the next multiple of 32 pixels: rows are
 * written from left to right. */
TM_INLINE void transpose_pixels(const guint16 *x, gsize ld, int n, int C, guint16 *out, gsize ldo) {
  for (int i = 0; i < n; i += 32)
    for (int c = 0; c < C; c += 16) {
      const int part = C - c < 16 ? C - c : 16;
      const __mmask16 mask = v_first(part);
      __m512i r[16];
      for (int j = 0; j < 16; j++) {
        const int p = i + 2 * j;
        const guint16 *q = x + (gsize)p * ld + c;
        const __m256i lo = _mm256_maskz_loadu_epi16(p < n ? mask : 0, q),
                      hi = _mm256_maskz_loadu_epi16(p + 1 < n ? mask : 0, q + ld);
        r[j] = _mm512_or_si512(_mm512_cvtepu16_epi32(lo), _mm512_slli_epi32(_mm512_cvtepu16_epi32(hi), 16));
      }
      transpose16(r);
      for (int j = 0; j < part; j++) _mm512_storeu_si512(out + (gsize)(c + j) * ldo + i, r[j]);
    }
}

/* out = a0 b0 a1 b1 ... of 32 bf16 each. */
TM_INLINE void weave(__m512i a, __m512i b, guint16 *out) {
  const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7,
                                       38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  _mm512_storeu_si512(out, _mm512_permutex2var_epi16(a, low, b));
  _mm512_storeu_si512(out + 32, _mm512_permutex2var_epi16(a, high, b));
}

/* out[(c / 32) * block + (i / 2) * 64 + (c % 32) * 2 + i % 2] = channel c of pixel i; zeros where c >= C or i
 * >= n, up to whole pairs. */
TM_INLINE void interleave_pixels(const guint16 *x, gsize ld, int n, int C, guint16 *out, gsize block) {
  for (int c = 0; c < C; c += 32) {
    const __mmask32 mask = C - c < 32 ? (1u << (C - c)) - 1 : 0xffffffffu;
    guint16 *o = out + (gsize)(c / 32) * block;
    const guint16 *q = x + c;
    for (int i = 0; i < n; i += 2, q += 2 * ld, o += 64)
      weave(_mm512_maskz_loadu_epi16(mask, q), _mm512_maskz_loadu_epi16(i + 1 < n ? mask : 0, q + ld), o);
  }
}

/* o[i * ldo + c] = sum over pairs p of x[i * next + p * step] (a pair) times d[p][c] (32 pairs), for i < 8;
 * with @add, that is added. What it is added to may be far away: it is asked for before the sum is made. */
TM_INLINE void outer8(const guint16 *x, gsize next, gsize step, const guint16 *d, int pairs, float *o,
                      gsize ldo, gboolean add) {
  typedef gint32 __attribute__((may_alias, aligned(2))) Pair;
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define F(i) _mm_prefetch(o + i * ldo, _MM_HINT_T0), _mm_prefetch(o + i * ldo + 16, _MM_HINT_T0);
  EACH(F)
#undef F
#define F(i) __m512 u##i = _mm512_setzero_ps(), v##i = u##i;
  EACH(F)
#undef F
  for (int p = 0; p < pairs; p++, x += step, d += 64) {
    const __m512bh d0 = (__m512bh)_mm512_loadu_si512(d), d1 = (__m512bh)_mm512_loadu_si512(d + 32);
#define F(i)                                                                                                 \
  {                                                                                                          \
    const __m512bh s = (__m512bh)_mm512_set1_epi32(*(const Pair *)(x + i * next));                           \
    u##i = _mm512_dpbf16_ps(u##i, s, d0);                                                                    \
    v##i = _mm512_dpbf16_ps(v##i, s, d1);                                                                    \
  }
    EACH(F)
#undef F
  }
#define F(i)                                                                                                 \
  if (add) {                                                                                                 \
    u##i = _mm512_add_ps(_mm512_loadu_ps(o + i * ldo), u##i);                                                \
    v##i = _mm512_add_ps(_mm512_loadu_ps(o + i * ldo + 16), v##i);                                           \
  }                                                                                                          \
  _mm512_storeu_ps(o + i * ldo, u##i);                                                                       \
  _mm512_storeu_ps(o + i * ldo + 16, v##i);
  EACH(F)
#undef F
#undef EACH
}
#endif
