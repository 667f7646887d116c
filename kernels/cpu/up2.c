/* up2.c: the 2x2 transposed convolution of stride 2. Output pixels do not overlap, so it is four matrix
 * products, one for each corner (tap); its adjoint is one product over all four, and its weights' gradient a
 * sum of outer products over pixels. All read and write channel slices, so that the result goes straight into
 * its half of a concat. */
#include "kernels/cpu/micro.h"
#include "kernels/cpu/pairs.h"

enum { ROWS = 4 }; /* rows of x that share a block of weights while it is in the cache */

TM_INLINE int blocks_of(int channels) {
  return (channels + MICRO_OUT - 1) / MICRO_OUT;
}
TM_INLINE gsize at_least(gsize n, gsize to) {
  return (n + to - 1) / to * to;
}

/* Forward: blocks [tap][outs / MICRO_OUT] of depth I. Backward: blocks [ins / MICRO_OUT] of four taps of
 * depth O. */
void KERNEL(up2_pack)(const TmTeam *team, const float *w, int in, int out, TmDType type, gboolean backward,
                      void *packed) {
  const int blocks = backward ? blocks_of(in) : 4 * blocks_of(out);
  const gsize block = backward ? micro_block(type, 4, out) : micro_block(type, 1, in);
  TM_PARALLEL(team, (gsize)in * (gsize)out * 4)
  for (TmRange r = my_share((gsize)blocks); r.at < r.end; r.at++) {
    char *p = (char *)packed + r.at * block;
    memset(p, 0, block);
    if (backward) {
      const int first = (int)r.at * MICRO_OUT, last = first + MICRO_OUT < in ? first + MICRO_OUT : in;
      for (int c = first; c < last; c++)
        for (int t = 0; t < 4; t++)
          for (int o = 0; o < out; o++)
            micro_put(type, p, out, t, o, c - first, w[((gsize)c * 4 + (gsize)t) * (gsize)out + (gsize)o]);
    } else {
      const int t = (int)r.at / blocks_of(out), first = (int)r.at % blocks_of(out) * MICRO_OUT;
      const int last = first + MICRO_OUT < out ? first + MICRO_OUT : out;
      for (int c = 0; c < in; c++)
        for (int o = first; o < last; o++)
          micro_put(type, p, in, 0, c, o - first, w[((gsize)c * 4 + (gsize)t) * (gsize)out + (gsize)o]);
    }
  }
}

/* The bias of one block, zero past the last channel. */
TM_INLINE const float *block_bias(const float *bias, int first, int C, float *room) {
  if (!bias) return NULL;
  for (int o = 0; o < MICRO_OUT; o++) room[o] = first + o < C ? bias[first + o] : 0;
  return room;
}

void KERNEL(up2)(const TmTeam *team, const TmView *x, const void *packed, const float *bias,
                 const TmView *y) {
  const TmDType type = x->dtype;
  const gsize size = tm_dtype_size(type), block = micro_block(type, 1, x->shape.c);
  const int out = y->shape.c;
  const gssize tap = 0;
  gsize next = 0;
  TM_PARALLEL(team, view_count(y))
  for (TmRange r; take(&next, view_rows(x), ROWS, &r);) {
    for (int t = 0; t < 4; t++)
      for (int o = 0; o < out; o += MICRO_OUT) {
        float room[MICRO_OUT];
        Micro q = {.ldx = (gsize)x->ld * size,
                   .taps = &tap,
                   .n_taps = 1,
                   .depth = x->shape.c,
                   .ldy = 2 * (gsize)y->ld * size,
                   .b = (const char *)packed + (gsize)(t * blocks_of(out) + o / MICRO_OUT) * block,
                   .start = block_bias(bias, o, out, room),
                   .outs = out - o < MICRO_OUT ? out - o : MICRO_OUT};
        for (gsize row = r.at; row < r.end; row++) { /* rows of y are twice those of x, across pictures too */
          q.x = (const char *)x->data + view_at(x, row, 0) * size;
          q.y = (char *)y->data + (view_at(y, 2 * row + (gsize)(t / 2), t % 2) + (gsize)o) * size;
          KERNEL(micro_row)(type, type, &q, x->shape.w);
        }
      }
  }
}

void KERNEL(up2_dx)(const TmTeam *team, const TmView *dy, const void *packed, const float *bias,
                    const TmView *dx) {
  const TmDType type = dy->dtype;
  const gsize size = tm_dtype_size(type), block = micro_block(type, 4, dy->shape.c);
  const int in = dx->shape.c;
  const gssize ld = (gssize)((gsize)dy->ld * size), row_bytes = ld * dy->shape.w,
               taps[4] = {0, ld, row_bytes, row_bytes + ld};
  gsize next = 0;
  TM_PARALLEL(team, view_count(dy))
  for (TmRange r; take(&next, view_rows(dx), ROWS, &r);) {
    for (int c = 0; c < in; c += MICRO_OUT) {
      float room[MICRO_OUT];
      Micro q = {.ldx = 2 * (gsize)ld,
                 .taps = taps,
                 .n_taps = 4,
                 .depth = dy->shape.c,
                 .ldy = (gsize)dx->ld * size,
                 .b = (const char *)packed + (gsize)(c / MICRO_OUT) * block,
                 .start = block_bias(bias, c, in, room),
                 .outs = in - c < MICRO_OUT ? in - c : MICRO_OUT,
                 .asks = 4 * MICRO_PIXELS * ask_lines(dy)};
      for (gsize row = r.at; row < r.end; row++) {
        Ask below = ask_of_rows(dy, 2 * row + 2, 2);
        if (c == 0) q.ask = &below;
        q.x = (const char *)dy->data + view_at(dy, 2 * row, 0) * size;
        q.y = (char *)dx->data + (view_at(dx, row, 0) + (gsize)c) * size;
        KERNEL(micro_row)(type, type, &q, dx->shape.w);
      }
    }
  }
}

/* ---- weights: each thread adds up its own dw[tap][in][out] ---- */

#ifdef TM_SIMD_AVX512
/* Rows from .. from+n-1 of x, by pairs of pixels; a row of odd width ends with a zero. */
static void dw_pairs(const TmView *x, const TmView *dy, gsize from, int n, float *dw, void *room) {
  const int W = x->shape.w, even = (W + 1) & ~1, pairs = n * even / 2;
  const gsize I = at_least((gsize)x->shape.c, 8), O = at_least((gsize)dy->shape.c, MICRO_OUT);
  const gsize ldx = at_least((gsize)(n * even), 32) + 32, block = (gsize)pairs * 64;
  guint16 *xt = room, *d = xt + I * ldx;
  const guint16 *px = x->data, *pd = dy->data;
  for (int k = 0; k < n; k++)
    transpose_pixels(px + view_at(x, from + (gsize)k, 0), (gsize)x->ld, W, x->shape.c, xt + k * even, ldx);
  for (gsize c = (gsize)x->shape.c; c < I; c++) memset(xt + c * ldx, 0, ldx * 2);
  for (int t = 0; t < 4; t++) {
    for (int k = 0; k < n; k++)
      interleave_pixels(pd + view_at(dy, 2 * (from + (gsize)k) + (gsize)(t / 2), t % 2), 2 * (gsize)dy->ld, W,
                        dy->shape.c, d + (gsize)(k * even) * 32, block);
    for (gsize o = 0; o < O; o += MICRO_OUT)
      for (gsize c = 0; c < I; c += 8)
        outer8(xt + c * ldx, ldx, 2, d + o / MICRO_OUT * block, pairs, dw + ((gsize)t * I + c) * O + o, O,
               TRUE);
  }
}
#endif

static void dw_rows(const TmView *x, const TmView *dy, gsize from, int n, float *dw) {
  const gsize size = tm_dtype_size(x->dtype), I = at_least((gsize)x->shape.c, 8),
              O = at_least((gsize)dy->shape.c, 32);
  for (int k = 0; k < n; k++)
    for (int t = 0; t < 4; t++)
      for (int o = 0; o < dy->shape.c; o += MICRO_OUT)
        for (int c = 0; c < x->shape.c; c += MICRO_PIXELS) {
          const MicroDw q = {.x = (const char *)x->data + (view_at(x, from + (gsize)k, 0) + (gsize)c) * size,
                             .ldx = (gsize)x->ld,
                             .ins = x->shape.c - c < MICRO_PIXELS ? x->shape.c - c : MICRO_PIXELS,
                             .d = (const char *)dy->data +
                                  (view_at(dy, 2 * (from + (gsize)k) + (gsize)(t / 2), t % 2) + (gsize)o) *
                                      size,
                             .ldd = 2 * (gsize)dy->ld,
                             .outs = dy->shape.c - o < MICRO_OUT ? dy->shape.c - o : MICRO_OUT,
                             .pixels = x->shape.w,
                             .o = dw + ((gsize)t * I + (gsize)c) * O + (gsize)o,
                             .ldo = O};
          KERNEL(micro_dw)(x->dtype, &q);
        }
}

void KERNEL(up2_dw)(const TmTeam *team, const TmView *x, const TmView *dy, float *dw) {
  const gsize I = at_least((gsize)x->shape.c, 8), O = at_least((gsize)dy->shape.c, 32),
              in = (gsize)x->shape.c, out = (gsize)dy->shape.c;
  const gsize rows = view_rows(x), step = (gsize)(x->shape.w <= 64 ? 4 : 2);
  for (int k = 0; k < team->threads; k++)
    memset((char *)team->work + team->stride * (gsize)k, 0, 4 * I * O * sizeof(float));
  TM_PARALLEL(team, view_count(dy)) {
    float *mine = my_work(team);
    for (TmRange r = my_share(rows); r.at < r.end; r.at += step) {
      const int n = (int)(r.end - r.at < step ? r.end - r.at : step);
#ifdef TM_SIMD_AVX512
      if (x->dtype == TM_BF16) {
        dw_pairs(x, dy, r.at, n, mine, mine + 4 * I * O);
        continue;
      }
#endif
      dw_rows(x, dy, r.at, n, mine);
    }
  }
  TM_PARALLEL(team, 4 * in * out)
  for (TmRange r = my_share(in * 4); r.at < r.end; r.at++) {
    const gsize c = r.at / 4, t = r.at % 4;
    for (FOR_LANES(o, n, (int)out)) {
      vf s = v_set(0);
      for (int k = 0; k < team->threads; k++)
        s = s +
            v_get((const char *)team->work + team->stride * (gsize)k, (t * I + c) * O + (gsize)o, TM_F32, n);
      v_put(dw, r.at * out + (gsize)o, TM_F32, n, s);
    }
  }
}
