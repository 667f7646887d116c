/* compose.h: turns a picture and its masks into pixels for the screen. Plain C over memory, any thread; the
 * same function fills a GL buffer and a memory texture, and the same arithmetic runs on a GPU
 * (engine/core/compose.h). */
#pragma once

#include "engine/core/compose.h"

typedef struct {
  TmShow show;
  int w, h;               /* of the picture and masks */
  const guint8 *rgb;      /* h*w*3 */
  const guint8 *labels;   /* h*w; MASK and ERRORS. NULL draws the bare picture */
  const guint8 *truth;    /* h*w; ERRORS. NULL: nothing is wrong */
  const guint32 *colours; /* 0xRRGGBB by class */
  guint n_classes;        /* at most 255 */
  const gboolean *hidden; /* by class, then void: n_classes + 1; NULL hides none */
  double opacity;         /* of the overlay, 0..1 */
} TmComposition;

/** Writes @out_w x @out_h opaque RGBA pixels, @stride bytes a row, row 0 on top. A size other than the
 * picture's takes the nearest pixel. */
void tm_compose(const TmComposition *c, guint8 *out, int out_w, int out_h, gsize stride);

/** The same as the plain value that a GPU's kernel takes; its pointers are those of @c. */
TmCompose tm_composition_plain(const TmComposition *c, int out_w, int out_h);

/** The size at which w x h is drawn: its own, or shrunk evenly so that no side exceeds @most. Never below 1.
 */
void tm_compose_size(int w, int h, int most, int *out_w, int *out_h);
