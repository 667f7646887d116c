/* micro.h: the inner loops of the convolutions: a few pixels times 2 VL channels in registers. Private to
 * kernels/cpu. */
#pragma once

#include "kernels/cpu/ask.h"

#ifdef TM_SIMD_AVX512
enum {
  MICRO_PIXELS = 12,
  MICRO_PAIRS = 1
}; /* bf16 weights are packed as pairs of input channels, for vdpbf16ps */
#elif defined(TM_SIMD_AVX2)
enum { MICRO_PIXELS = 6, MICRO_PAIRS = 0 };
#else
enum { MICRO_PIXELS = 4, MICRO_PAIRS = 0 };
#endif
enum { MICRO_OUT = 2 * VL };

/* y[m][o] = start[o] + sum over taps and k of x[m][tap][k] * b[tap][k][o], for m < pixels, o < outs. Offsets
 * and strides are in bytes. b is packed: [tap][k][MICRO_OUT] floats or, for bf16 with MICRO_PAIRS, [tap][k /
 * 2][MICRO_OUT][2] bf16, zero where k or o is past the end. */
typedef struct {
  const void *x;
  gsize ldx;
  const gssize *taps;
  int n_taps, depth; /* depth: how many k a tap */
  const void *b;
  const float *start; /* MICRO_OUT floats, or NULL: 0 */
  gboolean relu;      /* then y = max(0, y) */
  void *y;
  gsize ldy;
  int outs;    /* 1..MICRO_OUT */
  float *sums; /* or NULL: MICRO_OUT sums of y, then MICRO_OUT of y squared, added to (before rounding) */
  Ask *ask;    /* or NULL: what is brought into the cache meanwhile, */
  int asks;    /* so many lines every MICRO_PIXELS pixels */
} Micro;

/** The pixels of a row of @width pixels, MICRO_PIXELS or fewer at a time. x is of @type, y of @to: @type or
 * TM_F32. */
void KERNEL(micro_row)(TmDType type, TmDType to, const Micro *q, int width);

/* o[i][c] += sum over p of x[p][i] * d[p][c], for i < ins <= MICRO_PIXELS, c < outs. Strides in elements of
 * @type. */
typedef struct {
  const void *x;
  gsize ldx;
  int ins;
  const void *d;
  gsize ldd;
  int outs, pixels;
  float *o;
  gsize ldo;
} MicroDw;

void KERNEL(micro_dw)(TmDType type, const MicroDw *q);

/** Bytes of packed weights of one block of MICRO_OUT outputs. */
TM_INLINE gsize micro_block(TmDType type, int n_taps, int depth) {
  const gboolean pairs = type == TM_BF16 && MICRO_PAIRS;
  return (gsize)n_taps * (pairs ? (gsize)(depth + 1) / 2 * 4 : (gsize)depth * 4) * MICRO_OUT;
}

/** Writes weight (tap, k, o) of a block of micro_block() bytes, zeroed before. */
TM_INLINE void micro_put(TmDType type, void *block, int depth, int tap, int k, int o, float w) {
  if (type == TM_BF16 && MICRO_PAIRS) {
    const gsize pair = (gsize)tap * (gsize)((depth + 1) / 2) + (gsize)(k / 2);
    ((guint16 *)block)[(pair * MICRO_OUT + (gsize)o) * 2 + (gsize)(k % 2)] = tm_f32_to_bf16(w);
  } else {
    ((float *)block)[((gsize)tap * (gsize)depth + (gsize)k) * MICRO_OUT + (gsize)o] = w;
  }
}
