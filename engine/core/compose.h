/* compose.h: what a picture and its masks look like on the screen, pixel by pixel: overlay in the class
 * colours, mask edges, void hatching, errors. One text for the processor (ui/compose.c) and for the GPU
 * (kernels/cuda/paint.cu), which therefore draw the same bits. Pure. */
#pragma once

#include <glib.h>

#ifdef __CUDACC__
#define TM_BOTH __host__ __device__
#else
#define TM_BOTH
#endif

typedef enum { TM_SHOW_INPUT, TM_SHOW_MASK, TM_SHOW_ERRORS } TmShow;

enum { TM_COMPOSE_COLOURS = 256, TM_COMPOSE_HATCH = 5 };

/* Small enough to be a kernel's argument. */
typedef struct {
  TmShow show;
  int w, h;                            /* of the picture and masks */
  int out_w, out_h;                    /* of what is drawn: another size takes the nearest pixel */
  const guint8 *rgb;                   /* h*w*3 */
  const guint8 *labels;                /* h*w; MASK and ERRORS. NULL draws the bare picture */
  const guint8 *truth;                 /* h*w; ERRORS. NULL: nothing is wrong */
  int n_classes;                       /* a label from there on is void */
  int alpha;                           /* of the overlay, 0..256 */
  guint32 colours[TM_COMPOSE_COLOURS]; /* 0xRRGGBB by class, then void's (only its hiding counts); the top
                                          byte not 0: hidden */
} TmCompose;

/* Three channels at once: a and b 0xRRGGBB, @alpha of b, 0..256. */
static inline TM_BOTH guint32 tm_compose_blend(guint32 a, guint32 b, int alpha) {
  guint32 out = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int under = (int)(a >> shift & 255u), over = (int)(b >> shift & 255u);
    out |= (guint32)((under * (256 - alpha) + over * alpha) >> 8) << shift;
  }
  return out;
}

static inline TM_BOTH gboolean tm_compose_hidden(const TmCompose *c, int label) {
  return c->colours[label < c->n_classes ? label : c->n_classes] >> 24 != 0;
}

static inline TM_BOTH guint32 tm_compose_overlay(const TmCompose *c, guint32 picture, int x, int y, int ox,
                                                 int oy) {
  const guint8 *at = c->labels + (gsize)y * (gsize)c->w + x;
  const int label = *at;
  if (tm_compose_hidden(c, label)) return picture;
  const guint32 hatch = (ox + oy) / TM_COMPOSE_HATCH % 2 ? 0x3a3a3eu : 0x28282cu;
  const guint32 colour = label < c->n_classes ? c->colours[label] & 0xffffffu : hatch,
                out = tm_compose_blend(picture, colour, c->alpha);
  /* Where the mask changes to the right or below: one pixel wide, drawn on one side only. */
  const gboolean edge = (x + 1 < c->w && at[1] != label) || (y + 1 < c->h && at[c->w] != label);
  return c->alpha > 0 && edge ? tm_compose_blend(out, colour, 115) : out; /* 45 % more of the class colour */
}

static inline TM_BOTH guint32 tm_compose_errors(const TmCompose *c, guint32 picture, int x, int y) {
  const int r = (int)(picture >> 16 & 255u), g = (int)(picture >> 8 & 255u), b = (int)(picture & 255u);
  const guint32 grey = (guint32)(((r * 77 + g * 151 + b * 28) >> 8) * 107 >> 8), /* 42 % */
      dim = grey << 16 | grey << 8 | grey;
  if (!c->truth || !c->labels) return dim;
  const gsize at = (gsize)y * (gsize)c->w + (gsize)x;
  const int truth = c->truth[at];
  if (truth >= c->n_classes || truth == c->labels[at] || tm_compose_hidden(c, truth)) return dim;
  return tm_compose_blend(dim, 0xff8c1eu, 225); /* 88 % */
}

/** The opaque pixel at @ox, @oy of what is drawn, as the four bytes R, G, B, A of a word whose lowest byte is
 * R. */
static inline TM_BOTH guint32 tm_compose_pixel(const TmCompose *c, int ox, int oy) {
  const int x = c->out_w == c->w ? ox : (int)((gint64)ox * c->w / c->out_w),
            y = c->out_h == c->h ? oy : (int)((gint64)oy * c->h / c->out_h);
  const guint8 *p = c->rgb + ((gsize)y * (gsize)c->w + (gsize)x) * 3;
  guint32 v = (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
  if (c->show == TM_SHOW_MASK && c->labels)
    v = tm_compose_overlay(c, v, x, y, ox, oy);
  else if (c->show == TM_SHOW_ERRORS)
    v = tm_compose_errors(c, v, x, y);
  return (v >> 16 & 255u) | (v & 0xff00u) | (v & 255u) << 16 | 0xff000000u;
}
