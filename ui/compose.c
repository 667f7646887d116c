#include "ui/compose.h"

#include <math.h>

enum { HATCH = 5 };

typedef struct {
  guint8 r, g, b;
} Rgb;

static inline Rgb blend(Rgb a, Rgb b, int alpha /* of b, 0..256 */) {
  return (Rgb){(guint8)((a.r * (256 - alpha) + b.r * alpha) >> 8),
               (guint8)((a.g * (256 - alpha) + b.g * alpha) >> 8),
               (guint8)((a.b * (256 - alpha) + b.b * alpha) >> 8)};
}

static inline Rgb class_colour(const TmComposition *c, int label, int x, int y) {
  if (label >= (int)c->n_classes)
    return (x + y) / HATCH % 2 ? (Rgb){0x3a, 0x3a, 0x3e} : (Rgb){0x28, 0x28, 0x2c};
  guint32 v = c->colours[label];
  return (Rgb){(guint8)(v >> 16), (guint8)(v >> 8), (guint8)v};
}

static inline gboolean hidden(const TmComposition *c, int label) {
  return c->hidden && c->hidden[MIN(label, (int)c->n_classes)];
}

/* TRUE where the mask changes to the right or below: one pixel wide, drawn on one side only. */
static inline gboolean edge(const TmComposition *c, int x, int y) {
  const guint8 *at = c->labels + (gsize)y * c->w + x;
  return (x + 1 < c->w && at[1] != at[0]) || (y + 1 < c->h && at[c->w] != at[0]);
}

static Rgb overlay(const TmComposition *c, Rgb picture, int x, int y, int ox, int oy, int alpha) {
  int label = c->labels[(gsize)y * c->w + x];
  if (hidden(c, label)) return picture;
  Rgb colour = class_colour(c, label, ox, oy), out = blend(picture, colour, alpha);
  return alpha > 0 && edge(c, x, y) ? blend(out, colour, 115) : out; /* 45 % more of the class colour */
}

static Rgb errors(const TmComposition *c, Rgb picture, int x, int y) {
  int luma = (picture.r * 77 + picture.g * 151 + picture.b * 28) >> 8;
  guint8 grey = (guint8)(luma * 107 >> 8); /* 42 % */
  Rgb dim = {grey, grey, grey};
  if (!c->truth || !c->labels) return dim;
  gsize at = (gsize)y * c->w + x;
  int truth = c->truth[at];
  if (truth >= (int)c->n_classes || truth == c->labels[at] || hidden(c, truth)) return dim;
  return blend(dim, (Rgb){0xff, 0x8c, 0x1e}, 225); /* 88 % */
}

void tm_compose(const TmComposition *c, guint8 *out, int out_w, int out_h, gsize stride) {
  int alpha = (int)(CLAMP(c->opacity, 0.0, 1.0) * 256 + 0.5);
  for (int oy = 0; oy < out_h; oy++) {
    int y = out_h == c->h ? oy : (int)((gint64)oy * c->h / out_h);
    guint8 *row = out + (gsize)oy * stride;
    for (int ox = 0; ox < out_w; ox++, row += 4) {
      int x = out_w == c->w ? ox : (int)((gint64)ox * c->w / out_w);
      const guint8 *p = c->rgb + ((gsize)y * c->w + x) * 3;
      Rgb v = {p[0], p[1], p[2]};
      if (c->show == TM_SHOW_MASK && c->labels)
        v = overlay(c, v, x, y, ox, oy, alpha);
      else if (c->show == TM_SHOW_ERRORS)
        v = errors(c, v, x, y);
      row[0] = v.r;
      row[1] = v.g;
      row[2] = v.b;
      row[3] = 255;
    }
  }
}

void tm_compose_size(int w, int h, int most, int *out_w, int *out_h) {
  int side = MAX(w, h);
  double f = side > most ? (double)most / side : 1.0;
  *out_w = MAX(1, (int)floor(w * f));
  *out_h = MAX(1, (int)floor(h * f));
}
