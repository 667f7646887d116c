/* head.h: the largest of the scores of each pixel. Private to kernels/cpu. */
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/pairs.h"

/* Floats from one pixel's scores to the next one's. */
TM_INLINE gsize head_ld(int classes) {
  return ((gsize)classes + 15) / 16 * 16;
}

#ifdef TM_SIMD_AVX512
/* Of 16 pixels, @n of which are there: classes are turned into rows, one pixel a lane. */
TM_INLINE void best_of_16(const float *scores, gsize ld, int classes, int n, guint8 *out) {
  __m512 best = _mm512_set1_ps(-INFINITY);
  __m512i at = _mm512_setzero_si512();
  for (int c = 0; c < classes; c += 16) {
    __m512i r[16];
    for (int p = 0; p < 16; p++)
      r[p] = p < n ? _mm512_loadu_si512(scores + (gsize)p * ld + c) : _mm512_setzero_si512();
    transpose16(r);
    for (int k = 0; k < 16 && c + k < classes; k++) {
      const __m512 v = _mm512_castsi512_ps(r[k]);
      const __mmask16 more = _mm512_cmp_ps_mask(v, best, _CMP_GT_OQ);
      best = _mm512_mask_mov_ps(best, more, v);
      at = _mm512_mask_mov_epi32(at, more, _mm512_set1_epi32(c + k));
    }
  }
  _mm512_mask_cvtepi32_storeu_epi8(out, v_first(n), at);
}
#endif

/* The class of each of @width pixels: the first one with the largest score; a NaN never wins. */
TM_INLINE void best_of_row(const float *scores, gsize ld, int classes, int width, guint8 *out) {
#ifdef TM_SIMD_AVX512
  for (int w = 0; w < width; w += 16)
    best_of_16(scores + (gsize)w * ld, ld, classes, width - w < 16 ? width - w : 16, out + w);
#else
  for (int w = 0; w < width; w++, scores += ld) {
    float best = -INFINITY;
    int at = 0;
    for (int c = 0; c < classes; c++)
      if (scores[c] > best) best = scores[c], at = c;
    out[w] = (guint8)at;
  }
#endif
}
