/* Blends the colours of classes over a picture. */
#include "engine/backend/ref/ref.h"

#include <math.h>

/* The class to draw at pixel @i, or -1. Where truth is void nobody can be wrong. */
static int drawn(const TmPaint *p, gsize i) {
  if (!p->truth) return p->labels[i];
  return p->truth[i] == TM_VOID || p->truth[i] == p->labels[i] ? -1 : p->labels[i];
}

void ref_paint(const TmPaint *p, guint8 *rgba) {
  for (gsize i = 0; i < (gsize)p->w * (gsize)p->h; i++) {
    const int label = drawn(p, i);
    const guint32 colour = label < 0 ? 0 : p->palette[label];
    const double share = (double)(colour >> 24) / 255 * CLAMP((double)p->opacity, 0, 1);
    for (int c = 0; c < 3; c++) {
      const double over = (double)((colour >> (16 - 8 * c)) & 255),
                   under = (double)p->pixels[3 * i + (gsize)c];
      rgba[4 * i + (gsize)c] = (guint8)lrint(under + share * (over - under));
    }
    rgba[4 * i + 3] = 255; /* the picture below is opaque, so premultiplied is the same */
  }
}
