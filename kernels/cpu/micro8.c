/* micro8.c: the register blocks of the quantised convolutions. The dot product is written in assembler: gcc
 * 12 keeps the accumulators of its intrinsic in memory, at half the speed. */
#include "kernels/cpu/micro8.h"

/* The epilogue's arithmetic is one fused multiply-add and one rounding in every table, so that all give the
 * same bits. */

#ifdef TM_SIMD_AVX512

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)

/* Byte address of pixel m, as in micro.c. */
#define AT(m) (((m) < 4 ? p0 : (m) < 8 ? p1 : p2) + ((m) % 4 == 3 ? l3 : (gsize)((m) % 4) * l))

TM_INLINE __m512 scaled(__m512i sum, const float *scale, const float *offset) {
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(scale), _mm512_loadu_ps(offset));
}

TM_INLINE void put_pixel(const Micro8 *q, int m, __m512i u, __m512i v) {
  const __m512 a = scaled(u, q->scale, q->offset), b = scaled(v, q->scale + 16, q->offset + 16);
  const __mmask16 low = v_first(q->outs < 16 ? q->outs : 16), high = v_first(q->outs < 16 ? 0 : q->outs - 16);
  if (!q->y) {
    float *to = q->scores + (gsize)m * q->ldy;
    _mm512_mask_storeu_ps(to, low, a);
    _mm512_mask_storeu_ps(to + 16, high, b);
    return;
  }
  guint8 *to = q->y + (gsize)m * q->ldy;
  if (q->outs == MICRO8_OUT) {
    _mm256_storeu_si256((__m256i *)to, _mm256_set_m128i(as_bytes(b), as_bytes(a)));
  } else {
    _mm_mask_storeu_epi8(to, low, as_bytes(a));
    _mm_mask_storeu_epi8(to + 16, high, as_bytes(b));
  }
}

TM_INLINE void micro8(const int M, const Micro8 *q) {
  typedef gint32 __attribute__((may_alias, aligned(1))) Four;
  const gsize l = q->ldx, l3 = 3 * l;
  const gint8 *b = q->b;
#define F(m) __m512i u##m = _mm512_setzero_si512(), v##m = u##m;
  EACH(F)
#undef F
  for (int t = 0; t < q->n_taps; t++) {
    const guint8 *p0 = q->x + q->taps[t], *p1 = p0 + 4 * l, *p2 = p0 + 8 * l, *end = p0 + q->depth;
    for (; p0 != end; p0 += 4, p1 += 4, p2 += 4, b += 128) {
      const __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
#define F(m)                                                                                                 \
  if (m < M) {                                                                                               \
    const __m512i x = _mm512_set1_epi32(*(const Four *)AT(m));                                               \
    __asm__("vpdpbusd %2, %1, %0" : "+v"(u##m) : "v"(x), "v"(b0));                                           \
    __asm__("vpdpbusd %2, %1, %0" : "+v"(v##m) : "v"(x), "v"(b1));                                           \
  }
      EACH(F)
#undef F
    }
  }
#define F(m)                                                                                                 \
  if (m < M) put_pixel(q, m, u##m, v##m);
  EACH(F)
#undef F
}

#elif defined(TM_SIMD_AVX2)

/* vpmaddubsw would cut its sums off at 16 bits, so bytes are widened and go through vpmaddwd, which adds two
 * products: an accumulator holds four outputs in two parts each. */
#define EACH(F) F(0) F(1) F(2)

TM_INLINE void put_8(const Micro8 *q, int m, int o, __m256i first, __m256i second) {
  const gsize at = (gsize)m * q->ldy + (gsize)o, n = (gsize)(q->outs - o < 8 ? q->outs - o : 8);
  const __m256i sum = _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0xd8);
  const __m256 r =
      _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(q->scale + o), _mm256_loadu_ps(q->offset + o));
  if (!q->y) {
    memcpy(q->scores + at, &r, n * sizeof(float));
    return;
  }
  const __m256i i =
      _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(r, _mm256_setzero_ps()), _mm256_set1_ps(255)));
  const __m128i pairs = _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1)),
                bytes = _mm_packus_epi16(pairs, pairs);
  memcpy(q->y + at, &bytes, n);
}

/* Outputs o .. o+15. */
TM_INLINE void micro8_half(const int M, const Micro8 *q, const int o) {
  typedef gint32 __attribute__((may_alias, aligned(1))) Four;
  const gint8 *b = q->b + MICRO8_DEEP * o;
#define F(m) __m256i s##m = _mm256_setzero_si256(), t##m = s##m, u##m = s##m, v##m = s##m;
  EACH(F)
#undef F
  for (int tap = 0; tap < q->n_taps; tap++) {
    const guint8 *x = q->x + q->taps[tap], *end = x + q->depth;
    for (; x != end; x += MICRO8_DEEP, b += MICRO8_DEEP * MICRO8_OUT) {
      const __m128i *w = (const __m128i *)b;
#define F(m)                                                                                                 \
  const __m256i x##m = m < M ? _mm256_cvtepu8_epi16(_mm_set1_epi32(*(const Four *)(x + m * q->ldx)))         \
                             : _mm256_setzero_si256();
      EACH(F)
#undef F
#define ADD(sum, m, weights)                                                                                 \
  if (m < M) sum##m = _mm256_add_epi32(sum##m, _mm256_madd_epi16(x##m, weights));
#define F(sum, i)                                                                                            \
  {                                                                                                          \
    const __m256i weights = _mm256_cvtepi8_epi16(_mm_loadu_si128(w + i));                                    \
    ADD(sum, 0, weights) ADD(sum, 1, weights) ADD(sum, 2, weights)                                           \
  }
      F(s, 0) F(t, 1) F(u, 2) F(v, 3)
#undef F
#undef ADD
    }
  }
#define F(m)                                                                                                 \
  if (m < M) {                                                                                               \
    put_8(q, m, o, s##m, t##m);                                                                              \
    if (q->outs > o + 8) put_8(q, m, o + 8, u##m, v##m);                                                     \
  }
  EACH(F)
#undef F
}

TM_INLINE void micro8(const int M, const Micro8 *q) {
  micro8_half(M, q, 0);
  if (q->outs > 16) micro8_half(M, q, 16);
}

#else

#define EACH(F) F(0) F(1) F(2) F(3)

TM_INLINE void micro8(const int M, const Micro8 *q) {
  gint32 sum[MICRO8_PIXELS][MICRO8_OUT] = {{0}};
  const gint8 *b = q->b;
  for (int t = 0; t < q->n_taps; t++)
    for (int k = 0; k < q->depth; k += MICRO8_DEEP, b += MICRO8_OUT * MICRO8_DEEP)
      for (int m = 0; m < M; m++) {
        const guint8 *x = q->x + q->taps[t] + (gsize)m * q->ldx + k;
        for (int o = 0; o < MICRO8_OUT; o++)
          sum[m][o] += x[0] * b[4 * o] + x[1] * b[4 * o + 1] + x[2] * b[4 * o + 2] + x[3] * b[4 * o + 3];
      }
  for (int m = 0; m < M; m++)
    for (int o = 0; o < q->outs; o++) {
      const float r = fmaf((float)sum[m][o], q->scale[o], q->offset[o]);
      if (q->y)
        q->y[(gsize)m * q->ldy + (gsize)o] = as_byte(r);
      else
        q->scores[(gsize)m * q->ldy + (gsize)o] = r;
    }
}

#endif

#define F(m)                                                                                                 \
  static __attribute__((noinline)) void micro8_##m(const Micro8 *q) {                                        \
    micro8(m + 1, q);                                                                                        \
  }
EACH(F)
#undef F

#define F(m) micro8_##m,
static void (*const of[])(const Micro8 *q) = {EACH(F)};
#undef F

void KERNEL(micro8_row)(const Micro8 *q, int width) {
  const int parts = (width + MICRO8_PIXELS - 1) / MICRO8_PIXELS;
  Micro8 now = *q;
  for (int i = 0, at = 0; i < parts; i++) { /* parts of equal size, give or take one */
    const int m = (width - at + parts - i - 1) / (parts - i);
    of[m - 1](&now);
    at += m;
    now.x = q->x + (gsize)at * q->ldx;
    if (q->y)
      now.y = q->y + (gsize)at * q->ldy;
    else
      now.scores = q->scores + (gsize)at * q->ldy;
  }
}
