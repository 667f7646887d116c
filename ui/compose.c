#include "ui/compose.h"

#include <math.h>
#include <string.h>

TmCompose tm_composition_plain(const TmComposition *c, int out_w, int out_h) {
  TmCompose p = {.show = c->show,
                 .w = c->w,
                 .h = c->h,
                 .out_w = out_w,
                 .out_h = out_h,
                 .rgb = c->rgb,
                 .labels = c->labels,
                 .truth = c->truth,
                 .n_classes = (int)MIN(c->n_classes, TM_COMPOSE_COLOURS - 1),
                 .alpha = (int)(CLAMP(c->opacity, 0.0, 1.0) * 256 + 0.5)};
  for (int i = 0; i <= p.n_classes; i++)
    p.colours[i] =
        (i < p.n_classes ? c->colours[i] & 0xffffffu : 0) | (c->hidden && c->hidden[i] ? 0xff000000u : 0);
  return p;
}

void tm_compose(const TmComposition *c, guint8 *out, int out_w, int out_h, gsize stride) {
  const TmCompose p = tm_composition_plain(c, out_w, out_h);
  for (int y = 0; y < out_h; y++) {
    guint8 *row = out + (gsize)y * stride;
    for (int x = 0; x < out_w; x++) {
      const guint32 pixel = GUINT32_TO_LE(tm_compose_pixel(&p, x, y));
      memcpy(row + (gsize)x * 4, &pixel, 4);
    }
  }
}

void tm_compose_size(int w, int h, int most, int *out_w, int *out_h) {
  int side = MAX(w, h);
  double f = side > most ? (double)most / side : 1.0;
  *out_w = MAX(1, (int)floor(w * f));
  *out_h = MAX(1, (int)floor(h * f));
}
