/* winograd.h: what the Winograd kernels share. Private to kernels/cpu, and only for AVX512-BF16. */
#pragma once

#include "kernels/cpu/micro.h"
#include "kernels/cpu/pairs.h"
#include "kernels/cpu/winograd_tiles.h"
#include "kernels/winograd.h"

/* Four rows of a picture, 16 channels: rows outside read as zeros. */
typedef struct {
  const guint16 *at[4];
  gsize step[4]; /* elements from one pixel to the next; 0 outside */
  int width;
} Rows;

static const guint16 winograd_zeros[32] __attribute__((aligned(64)));

/* Rows from .. from+3 of picture @image of @v, channels from @c on. */
TM_INLINE Rows rows_of(const TmView *v, gsize image, int from, int c) {
  Rows r = {.width = v->shape.w};
  for (int i = 0; i < 4; i++) {
    const int h = from + i;
    const gboolean inside = h >= 0 && h < v->shape.h;
    r.at[i] = inside ? (const guint16 *)v->data + view_at(v, image * (gsize)v->shape.h + (gsize)h, 0) + c
                     : winograd_zeros;
    r.step[i] = inside ? (gsize)v->ld : 0;
  }
  return r;
}

/* Asks for column @w of the picture: the rows of a wide picture are far apart, and no prefetcher follows
 * eight of them among the planes that are written. */
enum { AHEAD = 20 };
TM_INLINE void ask_for(const Rows *r, int w) {
  for (int i = 0; i < 4; i++) {
    const guint16 *at = r->at[i] + (gsize)w * r->step[i];
    _mm_prefetch(at, _MM_HINT_T0);
    _mm_prefetch(at + r->step[i], _MM_HINT_T0);
  }
}

/* One column of B^T d: B^T = (1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1). */
TM_INLINE void column(const Rows *r, int w, vf k[4]) {
  if (w < 0 || w >= r->width) {
    k[0] = k[1] = k[2] = k[3] = v_set(0);
    return;
  }
  const vf a = v_load_bf16(r->at[0] + (gsize)w * r->step[0]),
           b = v_load_bf16(r->at[1] + (gsize)w * r->step[1]);
  const vf c = v_load_bf16(r->at[2] + (gsize)w * r->step[2]),
           d = v_load_bf16(r->at[3] + (gsize)w * r->step[3]);
  k[0] = a - c;
  k[1] = b + c;
  k[2] = c - b;
  k[3] = b - d;
}

/* Words of two bf16: a's in the low halves, b's in the high. */
TM_INLINE __m512i paired(vf a, vf b) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
}
