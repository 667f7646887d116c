/* pairs.h: bf16 pixels rearranged for vdpbf16ps, which multiplies pairs that lie side by side: here two neighbouring pixels. Only with
 * AVX512-BF16. Private to kernels/cpu. */
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

/* out[c * ldo + i] = channel c of pixel i, i < n. Writes zeros up to the next multiple of 32 pixels: rows are written from left to right. */
TM_INLINE void transpose_pixels(const guint16 *x, gsize ld, int n, int C, guint16 *out, gsize ldo) {
  for (int i = 0; i < n; i += 32)
    for (int c = 0; c < C; c += 16) {
      const int part = C - c < 16 ? C - c : 16;
      const __mmask16 mask = v_first(part);
      __m512i r[16];
      for (int j = 0; j < 16; j++) {
        const int p = i + 2 * j;
        const guint16 *q = x + (gsize)p * ld + c;
        const __m256i lo = _mm256_maskz_loadu_epi16(p < n ? mask : 0, q), hi = _mm256_maskz_loadu_epi16(p + 1 < n ? mask : 0, q + ld);
        r[j] = _mm512_or_si512(_mm512_cvtepu16_epi32(lo), _mm512_slli_epi32(_mm512_cvtepu16_epi32(hi), 16));
      }
      transpose16(r);
      for (int j = 0; j < part; j++) _mm512_storeu_si512(out + (gsize)(c + j) * ldo + i, r[j]);
    }
}

/* out[(c / 32) * block + (i / 2) * 64 + (c % 32) * 2 + i % 2] = channel c of pixel i; zeros where c >= C or i >= n, up to whole pairs. */
TM_INLINE void interleave_pixels(const guint16 *x, gsize ld, int n, int C, guint16 *out, gsize block) {
  gint16 low[32], high[32];
  for (int i = 0; i < 16; i++) {
    low[2 * i] = (gint16)i, low[2 * i + 1] = (gint16)(32 + i);
    high[2 * i] = (gint16)(16 + i), high[2 * i + 1] = (gint16)(48 + i);
  }
  const __m512i l = _mm512_loadu_si512(low), h = _mm512_loadu_si512(high);
  for (int c = 0; c < C; c += 32) {
    const __mmask32 mask = C - c < 32 ? (1u << (C - c)) - 1 : 0xffffffffu;
    guint16 *o = out + (gsize)(c / 32) * block;
    const guint16 *q = x + c;
    for (int i = 0; i < n; i += 2, q += 2 * ld, o += 64) {
      const __m512i a = _mm512_maskz_loadu_epi16(mask, q), b = _mm512_maskz_loadu_epi16(i + 1 < n ? mask : 0, q + ld);
      _mm512_storeu_si512(o, _mm512_permutex2var_epi16(a, l, b));
      _mm512_storeu_si512(o + 32, _mm512_permutex2var_epi16(a, h, b));
    }
  }
}
#endif
