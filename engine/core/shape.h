/* shape.h: the extent of a tensor. Every tensor has four axes, logically N,C,H,W, stored N,H,W,C.
 *
 * Convolution weights are (O, I, kH, kW), stored O,kH,kW,I; transposed convolution weights are (I, O, kH, kW),
 * stored I,kH,kW,O. Vectors over channels are (1, C, 1, 1), scalars (1, 1, 1, 1). */
#pragma once

#include <glib.h>

typedef struct {
  int n, c, h, w;
} TmShape;

#define TM_SHAPE(n_, c_, h_, w_) ((TmShape){.n = (n_), .c = (c_), .h = (h_), .w = (w_)})

static inline gsize tm_shape_count(TmShape s) { return (gsize)s.n * (gsize)s.c * (gsize)s.h * (gsize)s.w; }
static inline gsize tm_shape_pixels(TmShape s) { return (gsize)s.n * (gsize)s.h * (gsize)s.w; }
static inline gboolean tm_shape_equal(TmShape a, TmShape b) {
  return a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w;
}
