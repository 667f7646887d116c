/* micro.c: the register blocks. Accumulators are named, not an array: gcc 12 keeps an array in memory and
 * loses a sixth of the speed. */
#include "kernels/cpu/micro.h"

#ifdef TM_SIMD_AVX512
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#elif defined(TM_SIMD_AVX2)
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5)
#else
#define EACH(F) F(0) F(1) F(2) F(3)
#endif

/* Byte address of pixel m: three bases and the strides l and 3 l keep the address arithmetic out of the loop.
 */
#define AT(m) (((m) < 4 ? p0 : (m) < 8 ? p1 : p2) + ((m) % 4 == 3 ? l3 : (gsize)((m) % 4) * l))

TM_INLINE void add_sums(const int M, float *sums, const vf *u, const vf *v) {
  vf s0 = v_load(sums), s1 = v_load(sums + VL), q0 = v_load(sums + 2 * VL), q1 = v_load(sums + 3 * VL);
  for (int m = 0; m < M; m++) {
    s0 = s0 + u[m];
    s1 = s1 + v[m];
    q0 = v_fma(u[m], u[m], q0);
    q1 = v_fma(v[m], v[m], q1);
  }
  v_store(sums, s0);
  v_store(sums + VL, s1);
  v_store(sums + 2 * VL, q0);
  v_store(sums + 3 * VL, q1);
}

TM_INLINE void put_pixel(TmDType t, char *y, int outs, vf u, vf v) {
  const gsize half = VL * tm_dtype_size(t);
  if (outs == MICRO_OUT) {
    v_put(y, 0, t, VL, u);
    v_put(y + half, 0, t, VL, v);
  } else if (outs > VL) {
    v_put(y, 0, t, VL, u);
    v_put(y + half, 0, t, outs - VL, v);
  } else {
    v_put(y, 0, t, outs, u);
  }
}

TM_INLINE float micro_scalar(TmDType t, const char *p) {
  if (t == TM_F32) return *(const float *)p;
  return tm_bf16_to_f32(*(const guint16 *)p);
}

/* The loop over taps and depth. LOAD_B takes the next weights, STEP(m) feeds pixel m, AFTER ends a tap. */
#define ACCUMULATE(k_bytes)                                                                                  \
  for (int t = 0; t < q->n_taps; t++) {                                                                      \
    const char *p0 = (const char *)q->x + q->taps[t], *p1 = p0 + 4 * l, *p2 = p0 + 8 * l;                    \
    for (int k = 0; k < steps; k++) {                                                                        \
      LOAD_B;                                                                                                \
      EACH(STEP)                                                                                             \
      p0 += (k_bytes), p1 += (k_bytes), p2 += (k_bytes);                                                     \
    }                                                                                                        \
    AFTER                                                                                                    \
  }

TM_INLINE void micro(const int M, const TmDType type, const TmDType to, const Micro *q) {
  const gsize l = q->ldx, l3 = 3 * l;
  const vf z0 = q->start ? v_load(q->start) : v_set(0), z1 = q->start ? v_load(q->start + VL) : v_set(0);
#define F(m) vf u##m = z0, v##m = z1;
  EACH(F)
#undef F
#ifdef TM_SIMD_AVX512
  if (type == TM_BF16) {
    typedef gint32 __attribute__((may_alias, aligned(2))) Pair;
    typedef guint16 __attribute__((may_alias)) Half;
    const guint16 *b = q->b;
    const int steps = q->depth / 2;
#define LOAD_B                                                                                               \
  const __m512bh b0 = (__m512bh)_mm512_loadu_si512(b), b1 = (__m512bh)_mm512_loadu_si512(b + 32);            \
  b += 64
#define DOT(m, pair)                                                                                         \
  if (m < M) {                                                                                               \
    const __m512bh x = (__m512bh)_mm512_set1_epi32(pair);                                                    \
    u##m = _mm512_dpbf16_ps(u##m, x, b0);                                                                    \
    v##m = _mm512_dpbf16_ps(v##m, x, b1);                                                                    \
  }
#define STEP(m) DOT(m, *(const Pair *)AT(m))
#define LAST(m)                                                                                              \
  DOT(m, *(const Half *)AT(m)) /* an odd depth: the pair's second half belongs to another pixel */
#define AFTER                                                                                                \
  if (q->depth & 1) {                                                                                        \
    LOAD_B;                                                                                                  \
    EACH(LAST)                                                                                               \
  }
    ACCUMULATE(4)
#undef LOAD_B
#undef DOT
#undef STEP
#undef LAST
#undef AFTER
  } else
#endif
  {
    const float *b = q->b;
    const int steps = q->depth;
    const gsize size = tm_dtype_size(type);
#define LOAD_B                                                                                               \
  const vf b0 = v_load(b), b1 = v_load(b + VL);                                                              \
  b += MICRO_OUT
#define STEP(m)                                                                                              \
  if (m < M) {                                                                                               \
    const vf x = v_set(micro_scalar(type, AT(m)));                                                           \
    u##m = v_fma(x, b0, u##m);                                                                               \
    v##m = v_fma(x, b1, v##m);                                                                               \
  }
#define AFTER
    ACCUMULATE(size)
#undef LOAD_B
#undef STEP
#undef AFTER
  }
  if (q->relu) {
#define F(m) u##m = v_relu(u##m), v##m = v_relu(v##m);
    EACH(F)
#undef F
  }
  char *y = q->y;
#define F(m)                                                                                                 \
  if (m < M) put_pixel(to, y + m * q->ldy, q->outs, u##m, v##m);
  EACH(F)
#undef F
  if (q->sums) {
#define F(m) u##m,
    const vf u[] = {EACH(F)};
#undef F
#define F(m) v##m,
    const vf v[] = {EACH(F)};
#undef F
    add_sums(M, q->sums, u, v);
  }
}

#define F(m)                                                                                                 \
  static __attribute__((noinline)) void micro_f32_##m(const Micro *q) {                                      \
    micro(m + 1, TM_F32, TM_F32, q);                                                                         \
  }                                                                                                          \
  static __attribute__((noinline)) void micro_bf16_##m(const Micro *q) {                                     \
    micro(m + 1, TM_BF16, TM_BF16, q);                                                                       \
  }                                                                                                          \
  static __attribute__((noinline)) void micro_mixed_##m(const Micro *q) {                                    \
    micro(m + 1, TM_BF16, TM_F32, q);                                                                        \
  }
EACH(F)
#undef F

typedef void (*MicroFunc)(const Micro *q);
#define F(m) micro_f32_##m,
static const MicroFunc of_f32[] = {EACH(F)};
#undef F
#define F(m) micro_bf16_##m,
static const MicroFunc of_bf16[] = {EACH(F)};
#undef F
#define F(m) micro_mixed_##m,
static const MicroFunc of_mixed[] = {EACH(F)};
#undef F

void KERNEL(micro_row)(TmDType type, TmDType to, const Micro *q, int width) {
  const MicroFunc *of = type == TM_F32 ? of_f32 : to == TM_F32 ? of_mixed : of_bf16;
  const int parts = (width + MICRO_PIXELS - 1) / MICRO_PIXELS;
  Micro now = *q;
  for (int i = 0, at = 0; i < parts; i++) { /* parts of equal size, give or take one */
    const int m = (width - at + parts - i - 1) / (parts - i);
    if (q->ask) ask(q->ask, q->asks);
    of[m - 1](&now);
    at += m;
    now.x = (const char *)q->x + (gsize)at * q->ldx;
    now.y = (char *)q->y + (gsize)at * q->ldy;
  }
}

TM_INLINE void dw(const int M, const TmDType type, const MicroDw *q, const int n0, const int n1) {
  const gsize size = tm_dtype_size(type);
  const char *x = q->x;
#define F(m) vf u##m = v_set(0), v##m = v_set(0);
  EACH(F)
#undef F
  for (int p = 0; p < q->pixels; p++, x += q->ldx * size) {
    const vf d0 = v_get(q->d, (gsize)p * q->ldd, type, n0);
    const vf d1 = n1 > 0 ? v_get(q->d, (gsize)p * q->ldd + VL, type, n1) : v_set(0);
#define F(m)                                                                                                 \
  if (m < M) {                                                                                               \
    const vf s = v_set(micro_scalar(type, x + m * size));                                                    \
    u##m = v_fma(s, d0, u##m);                                                                               \
    v##m = v_fma(s, d1, v##m);                                                                               \
  }
    EACH(F)
#undef F
  }
#define F(m)                                                                                                 \
  if (m < M) {                                                                                               \
    float *o = q->o + m * q->ldo;                                                                            \
    v_put(o, 0, TM_F32, n0, v_get(o, 0, TM_F32, n0) + u##m);                                                 \
    if (n1 > 0) v_put(o, VL, TM_F32, n1, v_get(o, VL, TM_F32, n1) + v##m);                                   \
  }
  EACH(F)
#undef F
}

TM_INLINE void dw_outs(const int M, const TmDType type, const MicroDw *q) {
  if (q->outs == MICRO_OUT)
    dw(M, type, q, VL, VL);
  else if (q->outs > VL)
    dw(M, type, q, VL, q->outs - VL);
  else
    dw(M, type, q, q->outs, 0);
}

#define F(m)                                                                                                 \
  static __attribute__((noinline)) void dw_f32_##m(const MicroDw *q) {                                       \
    dw_outs(m + 1, TM_F32, q);                                                                               \
  }                                                                                                          \
  static __attribute__((noinline)) void dw_bf16_##m(const MicroDw *q) {                                      \
    dw_outs(m + 1, TM_BF16, q);                                                                              \
  }
EACH(F)
#undef F

typedef void (*DwFunc)(const MicroDw *q);
#define F(m) dw_f32_##m,
static const DwFunc dw_of_f32[] = {EACH(F)};
#undef F
#define F(m) dw_bf16_##m,
static const DwFunc dw_of_bf16[] = {EACH(F)};
#undef F

void KERNEL(micro_dw)(TmDType type, const MicroDw *q) {
  if (type == TM_BF16)
    dw_of_bf16[q->ins - 1](q);
  else
    dw_of_f32[q->ins - 1](q);
}
