/* ask.h: bringing pixels into the second-level cache while there is multiplied. Memory would else stand still
 * meanwhile, and the multipliers afterwards. Private to kernels/cpu. */
#pragma once

#include "kernels/cpu/isa.h"

/* What is left of a run of pixels, line by line of the cache. */
typedef struct {
  const char *at; /* the pixel that is next */
  gsize ld;       /* bytes to the one after it */
  gsize line, bytes, pixels;
} Ask;

/* Rows row .. row+rows-1 (n*H + h) of @v, as far as these exist. */
TM_INLINE Ask ask_of_rows(const TmView *v, gsize row, gsize rows) {
  const gsize size = tm_dtype_size(v->dtype), all = view_rows(v), left = row < all ? all - row : 0;
  return (Ask){.at = (const char *)v->data + view_at(v, row, 0) * size,
               .ld = (gsize)v->ld * size,
               .bytes = (gsize)v->shape.c * size,
               .pixels = (left < rows ? left : rows) * (gsize)v->shape.w};
}

/* Lines of the cache that a pixel takes. */
TM_INLINE int ask_lines(const TmView *v) {
  return (int)(((gsize)v->shape.c * tm_dtype_size(v->dtype) + 63) / 64);
}

/* Asks for the next @lines of them. */
TM_INLINE void ask(Ask *a, int lines) {
  for (; a->pixels > 0 && lines > 0; lines--) {
    __builtin_prefetch(a->at + a->line, 0, 2);
    a->line += 64;
    if (a->line < a->bytes) continue;
    a->line = 0;
    a->at += a->ld;
    a->pixels--;
  }
}
