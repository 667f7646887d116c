/* micro8.h: the inner loop of the quantised convolutions: a few pixels of bytes times MICRO8_OUT channels,
 * summed in 32-bit integers. Private to kernels/cpu. */
#pragma once

#include <math.h>

#include "kernels/conv8.h"
#include "kernels/cpu/isa.h"

/* Weights are packed by MICRO8_DEEP input channels, whose products vpdpbusd adds at once. */
enum { MICRO8_OUT = 32, MICRO8_DEEP = 4 };
#ifdef TM_SIMD_AVX512
enum { MICRO8_PIXELS = 12 };
#elif defined(TM_SIMD_AVX2)
enum { MICRO8_PIXELS = 3 };
#else
enum { MICRO8_PIXELS = 4 };
#endif

/* r[m][o] = scale[o] * (sum over taps and k of x[m][tap][k] * b[tap][k][o]) + offset[o], rounded once, for o
 * < outs. The sum is exact. Offsets and strides are in bytes. */
typedef struct {
  const guint8 *x;
  gsize ldx;
  const gssize *taps;
  int n_taps, depth;           /* depth: how many k a tap, a multiple of MICRO8_DEEP */
  const gint8 *b;              /* [tap][k / 4][MICRO8_OUT][4] */
  const float *scale, *offset; /* MICRO8_OUT each */
  guint8 *y;     /* r rounded to the nearest whole number, even where two are as near, within 0..255 */
  float *scores; /* or r itself, where y is NULL */
  gsize ldy;     /* elements from one pixel's results to the next one's */
  int outs;      /* 1..MICRO8_OUT */
} Micro8;

/** The pixels of a row of @width pixels. */
void KERNEL(micro8_row)(const Micro8 *q, int width);

/** Rounded to the nearest whole numbers, ties to even, within 0..255. */
#ifdef TM_SIMD_AVX512
TM_INLINE __m128i as_bytes(__m512 r) {
  const __m512 within = _mm512_min_ps(_mm512_max_ps(r, _mm512_setzero_ps()), _mm512_set1_ps(255));
  return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(within));
}
#else
TM_INLINE guint8 as_byte(float r) {
  return (guint8)lrintf(r < 0 ? 0 : r > 255 ? 255 : r);
}
#endif

/** Bytes of packed weights of one block of MICRO8_OUT outputs. */
TM_INLINE gsize micro8_block(int n_taps, int channels) {
  return (gsize)n_taps * tm_conv8_depth(channels) * MICRO8_OUT;
}

/** Writes weight (tap, k, o), a whole number from -127 to 127, of a block of micro8_block() bytes, zeroed
 * before.
 */
TM_INLINE void micro8_put(gint8 *block, int channels, int tap, int k, int o, float w) {
  const gsize group = ((gsize)tap * tm_conv8_depth(channels) + (gsize)k) / MICRO8_DEEP;
  block[(group * MICRO8_OUT + (gsize)o) * MICRO8_DEEP + (gsize)(k % MICRO8_DEEP)] = (gint8)w;
}
