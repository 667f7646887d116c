/* conv8.c: the convolutions of a quantised net: bytes times whole weights, summed exactly. Cut like the
 * direct kernels of conv3.c and up2.c. */
#include "kernels/conv8.h"
#include "kernels/cpu/head.h"
#include "kernels/cpu/micro8.h"

enum { ROWS = 4 }; /* rows of x that share a block of weights while it is in the cache */

TM_INLINE int blocks_of(int channels) {
  return (channels + MICRO8_OUT - 1) / MICRO8_OUT;
}

/* Weights by block of outputs, then the byte that stands for 0 in each channel. w in O,side,side,I. */
void KERNEL(conv_u8_pack)(const TmTeam *team, const float *w, const float *zero, int out, int in, int side,
                          void *packed) {
  const int taps = side * side;
  const gsize block = micro8_block(taps, in), blocks = (gsize)blocks_of(out);
  guint8 *zeros = (guint8 *)packed + blocks * block;
  memset(zeros, 0, tm_conv8_depth(in));
  for (int k = 0; zero && k < in; k++) zeros[k] = (guint8)zero[k];
  TM_PARALLEL(team, (gsize)out * (gsize)in * (gsize)taps)
  for (TmRange r = my_share(blocks); r.at < r.end; r.at++) {
    gint8 *p = (gint8 *)packed + r.at * block;
    const int first = (int)r.at * MICRO8_OUT, last = first + MICRO8_OUT < out ? first + MICRO8_OUT : out;
    memset(p, 0, block);
    for (int o = first; o < last; o++)
      for (int t = 0; t < taps; t++)
        for (int k = 0; k < in; k++)
          micro8_put(p, in, t, k, o - first, w[((gsize)o * (gsize)taps + (gsize)t) * (gsize)in + (gsize)k]);
  }
}

/* ---- a row of pixels of zeros, or of a picture with zeros beside it ---- */

typedef struct {
  const TmView *x;
  const guint8 *zeros; /* of a pixel */
  gsize depth;
  int pad;
} Source;

static guint8 *put_zeros(const Source *s, guint8 *room, gsize pixels) {
  for (gsize i = 0; i < pixels; i++, room += s->depth) memcpy(room, s->zeros, s->depth);
  return room;
}

static guint8 *put_row(const Source *s, const guint8 *from, guint8 *room) {
  const TmView *x = s->x;
  const gsize W = (gsize)x->shape.w, used = (gsize)x->shape.c, ld = (gsize)x->ld;
  if (ld == s->depth) {
    memcpy(room, from, W * s->depth);
  } else if (used == s->depth && used % 32 == 0) {
    for (gsize i = 0; i < W; i++)
      for (gsize k = 0; k < used; k += 32) memcpy(room + i * used + k, from + i * ld + k, 32);
  } else {
    for (gsize i = 0; i < W; i++) {
      for (gsize k = 0; k < used; k++) room[i * s->depth + k] = from[i * ld + k];
      for (gsize k = used; k < s->depth; k++) room[i * s->depth + k] = 0;
    }
  }
  return room + W * s->depth;
}

/* Rows from-pad .. from+n+pad-1 of picture @image, with pad pixels on either side. */
static void copy_rows(const Source *s, gsize image, int from, int n, guint8 *room) {
  const TmView *x = s->x;
  const gsize pad = (gsize)s->pad, W = (gsize)x->shape.w;
  for (int h = from - s->pad; h < from + n + s->pad; h++) {
    if (h < 0 || h >= x->shape.h) {
      room = put_zeros(s, room, W + 2 * pad);
      continue;
    }
    room = put_zeros(s, room, pad);
    room = put_row(s, (const guint8 *)x->data + view_at(x, image * (gsize)x->shape.h + (gsize)h, 0), room);
    room = put_zeros(s, room, pad);
  }
}

/* Scale and offset of a block of outputs, filled up. */
typedef struct {
  float scale[MICRO8_OUT], offset[MICRO8_OUT];
} Affine;

TM_INLINE void take_affine(Affine *a, const float *scale, const float *offset, int outs) {
  for (int i = 0; i < MICRO8_OUT; i++) {
    a->scale[i] = i < outs ? scale[i] : 0;
    a->offset[i] = i < outs ? offset[i] : 0;
  }
}

TM_INLINE int least(int a, int b) {
  return a < b ? a : b;
}

void KERNEL(conv_u8)(const TmTeam *team, const TmView *x, const void *packed, const float *scale,
                     const float *offset, int side, const TmView *y) {
  const int H = x->shape.h, W = x->shape.w, C = y->shape.c, pad = side / 2, taps = side * side;
  const int step = tm_conv8_rows(x->shape, side), pieces = (H + step - 1) / step;
  const gsize block = micro8_block(taps, x->shape.c), depth = tm_conv8_depth(x->shape.c),
              row_bytes = ((gsize)W + 2 * (gsize)pad) * depth;
  const Source s = {
      .x = x, .zeros = (const guint8 *)packed + (gsize)blocks_of(C) * block, .depth = depth, .pad = pad};
  gssize at[TM_CONV8_TAPS];
  for (int t = 0; t < taps; t++) at[t] = (gssize)((gsize)(t / side) * row_bytes + (gsize)(t % side) * depth);
  gsize next = 0;
  TM_PARALLEL(team, view_count(x) * 9) {
    guint8 *room = my_work(team);
    for (TmRange r; take(&next, (gsize)x->shape.n * (gsize)pieces, 1, &r);) {
      const gsize image = r.at / (gsize)pieces;
      const int from = (int)(r.at % (gsize)pieces) * step, n = least(H - from, step);
      copy_rows(&s, image, from, n, room);
      for (int o = 0; o < C; o += MICRO8_OUT) {
        Affine a;
        take_affine(&a, scale + o, offset + o, C - o);
        Micro8 q = {.ldx = depth,
                    .taps = at,
                    .n_taps = taps,
                    .depth = (int)depth,
                    .b = (const gint8 *)packed + (gsize)(o / MICRO8_OUT) * block,
                    .scale = a.scale,
                    .offset = a.offset,
                    .ldy = (gsize)y->ld,
                    .outs = least(C - o, MICRO8_OUT)};
        for (int k = 0; k < n; k++) {
          q.x = room + (gsize)k * row_bytes;
          q.y = (guint8 *)y->data + view_at(y, image * (gsize)H + (gsize)(from + k), 0) + o;
          KERNEL(micro8_row)(&q, W);
        }
      }
    }
  }
}

/* ---- without a border: pixels are read where they lie, and past the last channel, where weights are 0 ----
 */

/* Blocks [tap][outs / MICRO8_OUT]. w in I,2,2,O. */
void KERNEL(up2_u8_pack)(const TmTeam *team, const float *w, int in, int out, void *packed) {
  const gsize block = micro8_block(1, in), blocks = (gsize)blocks_of(out);
  TM_PARALLEL(team, (gsize)out * (gsize)in * 4)
  for (TmRange r = my_share(4 * blocks); r.at < r.end; r.at++) {
    gint8 *p = (gint8 *)packed + r.at * block;
    const gsize t = r.at / blocks;
    const int first = (int)(r.at % blocks) * MICRO8_OUT, last = least(first + MICRO8_OUT, out);
    memset(p, 0, block);
    for (int k = 0; k < in; k++)
      for (int o = first; o < last; o++)
        micro8_put(p, in, 0, k, o - first, w[((gsize)k * 4 + t) * (gsize)out + (gsize)o]);
  }
}

/* One block of outputs of a row whose pixels start at @from. */
TM_INLINE Micro8 pointwise(const TmView *x, const guint8 *from, const gint8 *b, const Affine *a, int outs) {
  static const gssize tap = 0;
  return (Micro8){.x = from,
                  .ldx = (gsize)x->ld,
                  .taps = &tap,
                  .n_taps = 1,
                  .depth = (int)tm_conv8_depth(x->shape.c),
                  .b = b,
                  .scale = a->scale,
                  .offset = a->offset,
                  .outs = outs};
}

void KERNEL(up2_u8)(const TmTeam *team, const TmView *x, const void *packed, const float *scale,
                    const float *offset, const TmView *y) {
  const gsize block = micro8_block(1, x->shape.c);
  const int C = y->shape.c;
  gsize next = 0;
  TM_PARALLEL(team, view_count(y))
  for (TmRange r; take(&next, view_rows(x), ROWS, &r);)
    for (int t = 0; t < 4; t++)
      for (int o = 0; o < C; o += MICRO8_OUT) {
        Affine a;
        take_affine(&a, scale + o, offset + o, C - o);
        const gint8 *b = (const gint8 *)packed + (gsize)(t * blocks_of(C) + o / MICRO8_OUT) * block;
        for (gsize row = r.at; row < r.end; row++) { /* rows of y are twice those of x, across pictures too */
          Micro8 q =
              pointwise(x, (const guint8 *)x->data + view_at(x, row, 0), b, &a, least(C - o, MICRO8_OUT));
          q.y = (guint8 *)y->data + view_at(y, 2 * row + (gsize)(t / 2), t % 2) + o;
          q.ldy = 2 * (gsize)y->ld;
          KERNEL(micro8_row)(&q, x->shape.w);
        }
      }
}

void KERNEL(argmax_u8)(const TmTeam *team, const TmView *x, const void *packed, const float *scale,
                       const float *offset, int classes, int top, int left, const TmView *labels) {
  const gsize H = (gsize)labels->shape.h, W = (gsize)labels->shape.w, ld = head_ld(classes),
              block = micro8_block(1, x->shape.c);
  gsize next = 0;
  TM_PARALLEL(team, view_count(x))
  for (TmRange r; take(&next, view_rows(labels), ROWS, &r);)
    for (; r.at < r.end; r.at++) {
      const gsize row = r.at / H * (gsize)x->shape.h + r.at % H + (gsize)top;
      float *scores = my_work(team);
      for (int o = 0; o < classes; o += MICRO8_OUT) {
        Affine a;
        take_affine(&a, scale + o, offset + o, classes - o);
        Micro8 q = pointwise(x, (const guint8 *)x->data + view_at(x, row, left),
                             (const gint8 *)packed + (gsize)(o / MICRO8_OUT) * block, &a,
                             least(classes - o, MICRO8_OUT));
        q.scores = scores + o;
        q.ldy = ld;
        KERNEL(micro8_row)(&q, (int)W);
      }
      best_of_row(scores, ld, classes, (int)W, (guint8 *)labels->data + r.at * W);
    }
}
