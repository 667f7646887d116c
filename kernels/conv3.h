/* conv3.h: how the 3x3 convolutions cut their work, known to the kernels and to those who give them work
 * space. */
#pragma once

#include "engine/core/view.h"

enum {
  TM_CONV3_CACHE = 448 << 10
}; /* bytes of a second-level cache that a thread's block of rows should fit */

static inline gsize tm_conv3_up(gsize n, gsize to) {
  return (n + to - 1) / to * to;
}

/* Channels of a pixel in the work space: whole pairs. */
static inline gsize tm_conv3_depth(int C) {
  return tm_conv3_up((gsize)C, 2);
}

/* Rows of a block, whose (rows + 2) x (W + 2) pixels of x are copied with a border of zeros. */
static inline int tm_conv3_rows(TmShape x, TmDType type) {
  const gsize row = ((gsize)x.w + 2) * tm_conv3_depth(x.c) * tm_dtype_size(type), fit = TM_CONV3_CACHE / row;
  const int rows = fit < 4 ? 2 : fit > 10 ? 8 : (int)fit - 2;
  return rows < x.h ? rows : x.h;
}

/* Columns of a row in conv3_dw: with a border on either side, and whole pairs. */
static inline gsize tm_conv3_dw_width(TmShape x) {
  return tm_conv3_up((gsize)x.w + 2, 2);
}

/* Rows of a block of conv3_dw, which holds (rows + 2) rows of x and rows of dy. Every block reads and writes
 * the whole of dw, so that it should have many pixels even where they do not fit the cache. */
static inline int tm_conv3_dw_rows(TmShape x, TmDType type, int out) {
  enum { PIXELS = 700 };
  const gsize width = tm_conv3_dw_width(x), pixel = tm_dtype_size(type) * width,
              fixed = 2 * pixel * (gsize)x.c, row = pixel * (gsize)(x.c + out);
  const gsize fit = TM_CONV3_CACHE > fixed ? (TM_CONV3_CACHE - fixed) / row : 0,
              least = (PIXELS + width - 1) / width;
  const gsize rows = fit > 16 ? 16 : fit > least ? fit : least, blocks = ((gsize)x.h + rows - 1) / rows;
  return (int)(((gsize)x.h + blocks - 1) / blocks); /* blocks of like size */
}
