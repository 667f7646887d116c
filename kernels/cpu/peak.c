/* peak.c: multiplications alone, in registers: what the processor can do at best. */
#include "kernels/cpu/isa.h"

/* Enough of them to hide how long one takes. */
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
enum { CHAINS = 12 };

TM_INLINE void fma_f32(gsize rounds, float *out) {
  vf x = v_set(0.999f), y = v_set(0.001f);
#define F(i) vf a##i = v_set((float)i);
  EACH(F)
#undef F
  for (gsize r = 0; r < rounds; r++) {
    __asm__ volatile("" : "+x"(x), "+x"(y)); /* the compiler may not work it out before */
#define F(i) a##i = v_fma(a##i, x, y);
    EACH(F)
#undef F
  }
  vf sum = v_set(0);
#define F(i) sum = sum + a##i;
  EACH(F)
#undef F
  v_store(out, sum);
}

#ifdef TM_SIMD_AVX512
TM_INLINE void fma_bf16(gsize rounds, float *out) {
  __m512i x = _mm512_set1_epi32(0x3a003a00), y = _mm512_set1_epi32(0x3a003a00);
#define F(i) vf a##i = v_set((float)i);
  EACH(F)
#undef F
  for (gsize r = 0; r < rounds; r++) {
    __asm__ volatile("" : "+v"(x), "+v"(y));
#define F(i) a##i = _mm512_dpbf16_ps(a##i, (__m512bh)x, (__m512bh)y);
    EACH(F)
#undef F
  }
  vf sum = v_set(0);
#define F(i) sum = sum + a##i;
  EACH(F)
#undef F
  v_store(out, sum);
}
#endif

void KERNEL(peak)(const TmTeam *team, TmDType type, gsize rounds, double *flops) {
  *flops = (double)rounds * CHAINS * VL * 2 * team->threads;
#ifdef TM_SIMD_AVX512
  if (type == TM_BF16) *flops *= 2;
#else
  (void)type; /* bf16 is multiplied as f32 here */
#endif
#pragma omp parallel num_threads(team->threads)
  {
#ifdef TM_SIMD_AVX512
    if (type == TM_BF16)
      fma_bf16(rounds, my_work(team));
    else
#endif
      fma_f32(rounds, my_work(team));
  }
}
