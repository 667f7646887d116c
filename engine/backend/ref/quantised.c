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
