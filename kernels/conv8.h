/* conv8.h: how the quantised convolutions cut their work, known to the kernels and to those who give them
 * work space. */
#pragma once

#include "engine/core/view.h"

enum { TM_CONV8_CACHE = 384 << 10, TM_CONV8_SIDE = 7, TM_CONV8_TAPS = TM_CONV8_SIDE * TM_CONV8_SIDE };

/* Bytes of a pixel in the work space: whole groups of four channels. */
static inline gsize tm_conv8_depth(int channels) {
  return ((gsize)channels + 3) / 4 * 4;
}

/* Rows of a block, which is copied with a border of side / 2 pixels. */
static inline int tm_conv8_rows(TmShape x, int side) {
  const gsize row = ((gsize)x.w + (gsize)side) * tm_conv8_depth(x.c), fit = TM_CONV8_CACHE / row;
  const int rows = fit < 4 ? 2 : fit > 10 ? 8 : (int)fit - 2;
  return rows < x.h ? rows : x.h;
}
