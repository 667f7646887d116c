/* winograd.h: how the Winograd kernels cut their work, known to the kernels and to those who give them work
 * space. Planes are padded so that equal places of the 16 of them do not fall on the same lines of a cache.
 */
#pragma once

#include "engine/core/view.h"

enum { TM_WINOGRAD_CACHE = 300 << 10, TM_WINOGRAD_OUT = 32 };

/* Blocks of tiles of one picture, for the forward kernel: transformed input and products fit the cache. */
typedef struct {
  int high, wide;       /* tiles of a picture */
  int rows, columns;    /* tiles of a block; the last ones may be smaller */
  int down, across;     /* blocks of a picture */
  gsize plane, product; /* elements of a plane of the input and of the products (f32) */
} TmWinogradCut;

static inline TmWinogradCut tm_winograd_cut(TmShape x, TmDType type) {
  TmWinogradCut c = {.high = (x.h + 1) / 2, .wide = (x.w + 1) / 2};
  const int fit = TM_WINOGRAD_CACHE / (16 * ((int)tm_dtype_size(type) * x.c + 4 * TM_WINOGRAD_OUT)),
            tiles = fit < 1 ? 1 : fit;
  c.across = (c.wide + tiles - 1) / tiles;
  c.columns = (c.wide + c.across - 1) / c.across;
  c.rows = tiles / c.columns < 1 ? 1 : tiles / c.columns < c.high ? tiles / c.columns : c.high;
  c.down = (c.high + c.rows - 1) / c.rows;
  c.rows = (c.high + c.down - 1) / c.down; /* blocks of like size */
  c.plane = (gsize)c.rows * (gsize)c.columns * (gsize)x.c + 160;
  c.product = (gsize)c.rows * (gsize)c.columns * TM_WINOGRAD_OUT + 80;
  return c;
}

static inline gsize tm_winograd_pieces(const TmWinogradCut *c, TmShape x) {
  return (gsize)x.n * (gsize)c->down * (gsize)c->across;
}

/* Where block @piece of all pictures lies, in tiles. */
typedef struct {
  gsize image;
  int top, left, rows, columns;
} TmWinogradPlace;

static inline TmWinogradPlace tm_winograd_place(const TmWinogradCut *c, gsize piece) {
  const gsize blocks = (gsize)c->down * (gsize)c->across, k = piece % blocks;
  TmWinogradPlace p = {.image = piece / blocks,
                       .top = (int)(k / (gsize)c->across) * c->rows,
                       .left = (int)(k % (gsize)c->across) * c->columns};
  p.rows = c->high - p.top < c->rows ? c->high - p.top : c->rows;
  p.columns = c->wide - p.left < c->columns ? c->wide - p.left : c->columns;
  return p;
}

/* Blocks of rows of tiles, of all pictures one after the other, for the weights' gradient. Every block reads
 * and writes the whole gradient, transformed: it should have many tiles, the more the less of that gradient
 * fits the caches. Where it is large beside the tiles (in bf16), all threads work @together on a block, in
 * shared space, and each on outputs of its own: one gradient for each thread would be slow to write and to
 * add. */
typedef struct {
  gboolean together;
  int high, wide;    /* tiles of a picture; wide is even */
  int rows;          /* rows of tiles of a block */
  gsize pairs;       /* pairs of tiles of a block */
  gsize plane, deep; /* elements of a plane of x, and of dy's 32 channels */
} TmWinogradDwCut;

static inline TmWinogradDwCut tm_winograd_dw_cut(TmShape x, int out, TmDType type) {
  TmWinogradDwCut c = {.high = (x.h + 1) / 2, .wide = ((x.w + 1) / 2 + 1) & ~1};
  const gsize in = (gsize)x.c, outs = (gsize)out, sums = 64 * in * outs,
              all = (gsize)x.n * (gsize)c.high * (gsize)c.wide,
              fit = ((gsize)1 << 20) / (16 * tm_dtype_size(type) * (in + outs));
  c.together = type == TM_BF16 && sums >= (gsize)4 << 20 && all * (in + outs) <= 4 * in * outs;
  const gsize least = c.together              ? 400
                      : sums > (gsize)6 << 20 ? 330
                      : sums > (gsize)1 << 20 ? 160
                                              : 64,
              tiles = fit > least ? fit : least;
  const gsize rows = tiles / (gsize)c.wide;
  c.rows = rows < 1 ? 1 : (int)rows;
  c.pairs = (gsize)c.rows * (gsize)c.wide / 2;
  c.plane = c.pairs * 2 * (gsize)x.c + 160;
  c.deep = c.pairs * 2 * TM_WINOGRAD_OUT + 160;
  return c;
}
