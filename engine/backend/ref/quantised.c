/* The layers of quantised nets. Sums are whole numbers that a double holds exactly; what follows is float
 * arithmetic as engine/ops/quantised.c defines it, so that every other back end gives the same bits. */
#include "engine/backend/ref/ref.h"

#include <math.h>
#include <string.h>

/* Weights as [tap][c][o], from (O,k,k,I) or, @transposed, (I,k,k,O). */
static void turn_weight(const RefCall *call, gboolean transposed) {
  const TmView *w = &call->in[1];
  const int taps = w->shape.h * w->shape.w, ins = transposed ? w->shape.n : w->shape.c,
            outs = transposed ? w->shape.c : w->shape.n;
  double *row = ref_row(call, 2);
  for (int i = 0; i < w->shape.n; i++)
    for (int t = 0; t < taps; t++) {
      ref_get_all(w, (gsize)i * (gsize)taps + (gsize)t, row);
      for (int k = 0; k < w->shape.c; k++) {
        const gsize c = (gsize)(transposed ? i : k), o = (gsize)(transposed ? k : i);
        call->extra[((gsize)t * (gsize)ins + c) * (gsize)outs + o] = row[k];
      }
    }
}

static void add_products(const double *x, const double *w, double *sum, int ins, int outs) {
  for (int c = 0; c < ins; c++, w += outs)
    for (int o = 0; o < outs; o++) sum[o] += x[c] * w[o];
}

/* scale * sum + offset, as float arithmetic. */
static void scale_sums(const RefCall *call, double *sum, int outs) {
  double *scale = ref_row(call, 2), *offset = ref_row(call, 3);
  ref_get_all(&call->in[2], 0, scale);
  ref_get_all(&call->in[3], 0, offset);
  for (int o = 0; o < outs; o++) sum[o] = (double)fmaf((float)scale[o], (float)sum[o], (float)offset[o]);
}

static void to_bytes(double *sum, int outs) {
  for (int o = 0; o < outs; o++) sum[o] = rint(fmin(fmax(sum[o], 0), 255));
}

static gsize weight_doubles(const TmNode *n) {
  return tm_shape_count(n->in[1]->shape);
}

static void run_conv_u8(const RefCall *call) {
  const TmShape w = call->in[1].shape, xs = call->in[0].shape, ys = call->out.shape;
  const gsize tap = (gsize)w.n * (gsize)w.c;
  double *x = ref_row(call, 0), *sum = ref_row(call, 1);
  turn_weight(call, FALSE);
  for (gsize p = 0; p < tm_shape_pixels(ys); p++) {
    const int n = (int)(p / ((gsize)ys.h * (gsize)ys.w)), i = (int)(p / (gsize)ys.w % (gsize)ys.h),
              j = (int)(p % (gsize)ys.w);
    memset(sum, 0, (gsize)ys.c * sizeof *sum);
    for (int t = 0; t < w.h * w.w; t++) {
      const int h = i + t / w.w - w.h / 2, v = j + t % w.w - w.w / 2;
      const gboolean inside = h >= 0 && v >= 0 && h < xs.h && v < xs.w;
      ref_get_all(inside ? &call->in[0] : &call->in[4], inside ? ref_pixel(xs, n, h, v) : 0, x);
      add_products(x, call->extra + (gsize)t * tap, sum, xs.c, ys.c);
    }
    scale_sums(call, sum, ys.c);
    to_bytes(sum, ys.c);
    ref_put_all(&call->out, p, sum);
  }
}

const RefKernel ref_conv_u8 = {.run = run_conv_u8, .rows = 4, .extra = weight_doubles};

/* ---- winograd_u8: tile by tile; extra holds the weights, then the 16 planes of v and of m ---- */

static gsize winograd_doubles(const TmNode *n) {
  const TmShape w = n->in[1]->shape;
  return weight_doubles(n) + 16 * (gsize)(w.c + w.n);
}

/* One direction of B^T d B: 4 numbers, @step apart. */
static void turn_4(double *d, gsize step) {
  const double a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
  d[0] = a - c;
  d[step] = b + c;
  d[2 * step] = c - b;
  d[3 * step] = b - e;
}

/* v: [plane][c], of the tile whose outputs start at (i, j). */
static void transform_tile(const RefCall *call, int n, int i, int j, double *v) {
  const TmShape xs = call->in[0].shape;
  const gsize C = (gsize)xs.c;
  for (int p = 0; p < 16; p++) {
    const int h = i + p / 4 - 1, w = j + p % 4 - 1;
    const gboolean inside = h >= 0 && w >= 0 && h < xs.h && w < xs.w;
    ref_get_all(inside ? &call->in[0] : &call->in[4], inside ? ref_pixel(xs, n, h, w) : 0, v + (gsize)p * C);
  }
  for (gsize c = 0; c < C; c++) {
    for (gsize k = 0; k < 4; k++) turn_4(v + c + k * C, 4 * C);
    for (gsize k = 0; k < 4; k++) turn_4(v + c + 4 * k * C, C);
    for (gsize p = 0; p < 16; p++) {
      double *t = v + c + p * C;
      *t = p == 5 ? floor((*t + 2) / 4) : fmin(fmax(floor((*t + 1) / 2) + 128, 0), 255);
    }
  }
}

/* A^T m A of channel @o, in floats; m: [plane][o]. */
static void put_tile(const RefCall *call, const double *m, int n, int i, int j, int o) {
  const TmShape s = call->out.shape;
  const gsize C = (gsize)s.c;
  float k[4], l[4];
  for (gsize q = 0; q < 4; q++) {
    const float a = (float)m[q * C], b = (float)m[(4 + q) * C], c = (float)m[(8 + q) * C],
                d = (float)m[(12 + q) * C];
    k[q] = a + (b + c);
    l[q] = (b - c) - d;
  }
  double y[4] = {(double)(k[0] + (k[1] + k[2])), (double)((k[1] - k[2]) - k[3]),
                 (double)(l[0] + (l[1] + l[2])), (double)((l[1] - l[2]) - l[3])};
  to_bytes(y, 4);
  for (int q = 0; q < 4; q++)
    if (i + q / 2 < s.h && j + q % 2 < s.w)
      ref_put(&call->out, ref_pixel(s, n, i + q / 2, j + q % 2), o, 1, y + q);
}

static void run_winograd_u8(const RefCall *call) {
  const TmShape ws = call->in[1].shape, ys = call->out.shape;
  const gsize O = (gsize)ws.n, I = (gsize)ws.c;
  double *v = call->extra + weight_doubles(call->node), *m = v + 16 * I, *scale = ref_row(call, 2),
         *offset = ref_row(call, 3);
  turn_weight(call, FALSE);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i += 2)
      for (int j = 0; j < ys.w; j += 2) {
        transform_tile(call, n, i, j, v);
        memset(m, 0, 16 * O * sizeof *m);
        for (gsize p = 0; p < 16; p++) {
          add_products(v + p * I, call->extra + p * I * O, m + p * O, ws.c, ws.n);
          ref_get_all(&call->in[2], p, scale);
          ref_get_all(&call->in[3], p, offset);
          for (gsize o = 0; o < O; o++)
            m[p * O + o] = (double)fmaf((float)scale[o], (float)m[p * O + o], (float)offset[o]);
        }
        for (int o = 0; o < ys.c; o++) put_tile(call, m + o, n, i, j, o);
      }
}

const RefKernel ref_winograd_u8 = {.run = run_winograd_u8, .rows = 4, .extra = winograd_doubles};

static void run_conv_transpose_u8(const RefCall *call) {
  const TmShape xs = call->in[0].shape, ys = call->out.shape;
  const gsize tap = (gsize)xs.c * (gsize)ys.c;
  double *x = ref_row(call, 0), *sum = ref_row(call, 1);
  turn_weight(call, TRUE);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i++)
      for (int j = 0; j < ys.w; j++) {
        memset(sum, 0, (gsize)ys.c * sizeof *sum);
        ref_get_all(&call->in[0], ref_pixel(xs, n, i / 2, j / 2), x);
        add_products(x, call->extra + (gsize)(i % 2 * 2 + j % 2) * tap, sum, xs.c, ys.c);
        scale_sums(call, sum, ys.c);
        to_bytes(sum, ys.c);
        ref_put_all(&call->out, ref_pixel(ys, n, i, j), sum);
      }
}

const RefKernel ref_conv_transpose_u8 = {.run = run_conv_transpose_u8, .rows = 4, .extra = weight_doubles};

static void run_argmax_u8(const RefCall *call) {
  const TmShape xs = call->in[0].shape, ys = call->out.shape;
  const TmAttrs *a = &call->node->attrs;
  const int classes = call->in[1].shape.n;
  double *x = ref_row(call, 0), *sum = ref_row(call, 1);
  turn_weight(call, FALSE);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i++)
      for (int j = 0; j < ys.w; j++) {
        memset(sum, 0, (gsize)classes * sizeof *sum);
        ref_get_all(&call->in[0], ref_pixel(xs, n, i + a->top, j + a->left), x);
        add_products(x, call->extra, sum, xs.c, classes);
        scale_sums(call, sum, classes);
        double best = 0;
        for (int o = 1; o < classes; o++)
          if (sum[o] > sum[(int)best]) best = o;
        ref_put(&call->out, ref_pixel(ys, n, i, j), 0, 1, &best);
      }
}

const RefKernel ref_argmax_u8 = {.run = run_argmax_u8, .rows = 4, .extra = weight_doubles};
