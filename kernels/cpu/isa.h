/* isa.h: what every kernel file starts with. The files are compiled once per instruction set with TM_ISA set
 * to its name; KERNEL(relu) is then tm_kernel_relu_avx2. Also: how rows are shared among threads, and views
 * walked. */
#pragma once

#include <omp.h>

#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

#define TM_PASTE2(a, b, c) a##b##_##c
#define TM_PASTE(a, b, c) TM_PASTE2(a, b, c)
#define KERNEL(name) TM_PASTE(tm_kernel_, name, TM_ISA)

#define TM_KERNEL(name, arguments) void KERNEL(name) arguments;
#include "kernels/kernels.def"
#include "kernels/winograd.def"
#undef TM_KERNEL

/* Below this many elements a kernel runs on the calling thread: waking the others costs more. */
enum { TM_SMALL = 1 << 14 };

/* A parallel region over the team's threads, when @count elements are worth it. */
#define TM_PRAGMA(x) _Pragma(#x)
#define TM_PARALLEL(team, count)                                                                             \
  TM_PRAGMA(omp parallel num_threads((team)->threads) if ((count) > TM_SMALL && (team)->threads > 1))

typedef struct {
  gsize at, end;
} TmRange;

/* This thread's share of 0 .. n-1: contiguous, in thread order. */
TM_INLINE TmRange my_share(gsize n) {
  const gsize i = (gsize)omp_get_thread_num(), k = (gsize)omp_get_num_threads();
  return (TmRange){n * i / k, n * (i + 1) / k};
}

/* The next piece of 0 .. n-1, of up to @most, for whoever asks first. @next starts at 0. FALSE when all are
 * given out. */
TM_INLINE gboolean take(gsize *next, gsize n, gsize most, TmRange *r) {
#pragma omp atomic capture
  {
    r->at = *next;
    *next += most;
  }
  r->end = r->at + most < n ? r->at + most : n;
  return r->at < n;
}

TM_INLINE void *my_work(const TmTeam *team) {
  return (char *)team->work + team->stride * (gsize)omp_get_thread_num();
}

/* Sums of doubles per thread: cleared before, added up after a region. Each thread's lie at the start of its
 * work space. */
TM_INLINE void clear_sums(const TmTeam *team, gsize n) {
  for (int i = 0; i < team->threads; i++)
    memset((char *)team->work + team->stride * (gsize)i, 0, n * sizeof(double));
}
TM_INLINE double total(const TmTeam *team, gsize i) {
  double s = 0;
  for (int k = 0; k < team->threads; k++)
    s += ((const double *)((const char *)team->work + team->stride * (gsize)k))[i];
  return s;
}
TM_INLINE void add_lanes(double *sum, vf v, int n) {
  float t[VL];
  v_store(t, v);
  for (int i = 0; i < n; i++) sum[i] += t[i];
}

/* Mean and variance of each channel from sums of pieces: C of the values, then C of their squares. */
TM_INLINE void stats_of_pieces(const float *sums, gsize pieces, int C, gsize pixels, float *stats) {
  const double inv = 1 / (double)pixels;
  for (int c = 0; c < C; c++) {
    double s = 0, q = 0;
    for (gsize p = 0; p < pieces; p++) {
      s += sums[2 * (gsize)C * p + (gsize)c];
      q += sums[2 * (gsize)C * p + (gsize)(C + c)];
    }
    const double mean = s * inv, var = q * inv - mean * mean;
    stats[c] = (float)mean;
    stats[C + c] = (float)(var < 0 ? 0 : var);
  }
}

TM_INLINE gsize view_rows(const TmView *v) {
  return (gsize)v->shape.n * (gsize)v->shape.h;
}
TM_INLINE gsize view_count(const TmView *v) {
  return tm_shape_count(v->shape);
}
/* Element index of the first channel of row @r (n*H + h), column @w. */
TM_INLINE gsize view_at(const TmView *v, gsize r, int w) {
  return (r * (gsize)v->shape.w + (gsize)w) * (gsize)v->ld;
}

/* for (FOR_LANES(c, n, C)): c = 0, VL, ... with n lanes each, the last fewer. */
#define FOR_LANES(c, n, C)                                                                                   \
  int c = 0, n = (C) < VL ? (C) : VL;                                                                        \
  c < (C);                                                                                                   \
  c += VL, n = (C)-c < VL ? (C)-c : VL

/* Runs @f with n a constant VL where it can be, so that only the last channels pay for masks; likewise the
 * type. */
#define BY_LANES(n, f, ...) ((n) == VL ? f(VL, __VA_ARGS__) : f(n, __VA_ARGS__))
#define BY_TYPE(t, n, f, ...)                                                                                \
  do {                                                                                                       \
    if ((t) == TM_BF16)                                                                                      \
      BY_LANES(n, f, TM_BF16, __VA_ARGS__);                                                                  \
    else                                                                                                     \
      BY_LANES(n, f, TM_F32, __VA_ARGS__);                                                                   \
  } while (0)
