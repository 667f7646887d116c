/* What moves pixels: pooling, enlarging, borders. Gradients are gathers: each result is one sum in one order.
 */
#include "engine/backend/ref/ref.h"

#include <math.h>
#include <string.h>

static gsize extra_row(const TmNode *n) { /* a row of pixels of the result */
  return (gsize)n->shape.w * (gsize)n->shape.c;
}

static void clear(double *x, gsize n) {
  memset(x, 0, n * sizeof *x);
}

static void put_zeros(const RefCall *call, double *row) {
  clear(row, (gsize)call->out.shape.c);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) ref_put_all(&call->out, p, row);
}

/* ---- max pooling ---- */

/* The largest value of the window at (n,i,j), and where in the window it is, first come first kept; NaN beats
 * all. */
static void window_max(const RefCall *call, const TmView *x, int n, int i, int j, double *best,
                       double *where) {
  const int f = call->node->attrs.factor, n_c = x->shape.c;
  double *row = ref_row(call, 0);
  for (int t = 0; t < f * f; t++) {
    ref_get_all(x, ref_pixel(x->shape, n, i * f + t / f, j * f + t % f), row);
    for (int c = 0; c < n_c; c++)
      if (t == 0 || row[c] > best[c] || isnan(row[c])) {
        best[c] = row[c];
        where[c] = t;
      }
  }
}

static void run_max_pool(const RefCall *call) {
  const TmShape s = call->out.shape;
  double *best = ref_row(call, 1), *where = ref_row(call, 2);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        window_max(call, &call->in[0], n, i, j, best, where);
        ref_put_all(&call->out, ref_pixel(s, n, i, j), best);
      }
}

const RefKernel ref_max_pool = {.run = run_max_pool, .rows = 3};

static void run_max_pool_dx(const RefCall *call) {
  const TmShape s = call->in[0].shape, xs = call->out.shape;
  const int f = call->node->attrs.factor;
  double *row = ref_row(call, 0), *best = ref_row(call, 1), *where = ref_row(call, 2), *dy = ref_row(call, 3);
  put_zeros(call, row);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        window_max(call, &call->in[1], n, i, j, best, where);
        ref_get_all(&call->in[0], ref_pixel(s, n, i, j), dy);
        for (int t = 0; t < f * f; t++) {
          for (int c = 0; c < s.c; c++) row[c] = where[c] == t ? dy[c] : 0;
          ref_put_all(&call->out, ref_pixel(xs, n, i * f + t / f, j * f + t % f), row);
        }
      }
}

const RefKernel ref_max_pool_dx = {.run = run_max_pool_dx, .rows = 4};

/* ---- enlarging ---- */

static void run_upsample_nearest(const RefCall *call) {
  const TmShape s = call->out.shape, xs = call->in[0].shape;
  const int f = call->node->attrs.factor;
  double *row = ref_row(call, 0);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        ref_get_all(&call->in[0], ref_pixel(xs, n, i / f, j / f), row);
        ref_put_all(&call->out, ref_pixel(s, n, i, j), row);
      }
}

const RefKernel ref_upsample_nearest = {.run = run_upsample_nearest, .rows = 1};

static void run_upsample_nearest_dx(const RefCall *call) {
  const TmShape s = call->out.shape, ys = call->in[0].shape;
  const int f = call->node->attrs.factor;
  double *row = ref_row(call, 0), *sum = ref_row(call, 1);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        clear(sum, (gsize)s.c);
        for (int t = 0; t < f * f; t++) {
          ref_get_all(&call->in[0], ref_pixel(ys, n, i * f + t / f, j * f + t % f), row);
          for (int c = 0; c < s.c; c++) sum[c] += row[c];
        }
        ref_put_all(&call->out, ref_pixel(s, n, i, j), sum);
      }
}

const RefKernel ref_upsample_nearest_dx = {.run = run_upsample_nearest_dx, .rows = 2};

/* The share that source @at (of @extent) has in position @i of its enlargement by @f, along one axis. */
static double bilinear_share(int i, int at, int f, int extent) {
  const double s = fmax((i + 0.5) / f - 0.5, 0), t = s - floor(s);
  const int low = (int)floor(s), high = MIN(low + 1, extent - 1);
  return (low == at ? 1 - t : 0) + (high == at ? t : 0);
}

static void run_upsample_bilinear(const RefCall *call) {
  const TmShape s = call->out.shape, xs = call->in[0].shape;
  const int f = call->node->attrs.factor;
  double *row = ref_row(call, 0), *sum = ref_row(call, 1);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        clear(sum, (gsize)s.c);
        for (int p = MAX(i / f - 1, 0); p <= MIN(i / f + 1, xs.h - 1); p++)
          for (int q = MAX(j / f - 1, 0); q <= MIN(j / f + 1, xs.w - 1); q++) {
            const double share = bilinear_share(i, p, f, xs.h) * bilinear_share(j, q, f, xs.w);
            if (share == 0) continue;
            ref_get_all(&call->in[0], ref_pixel(xs, n, p, q), row);
            for (int c = 0; c < s.c; c++) sum[c] += share * row[c];
          }
        ref_put_all(&call->out, ref_pixel(s, n, i, j), sum);
      }
}

const RefKernel ref_upsample_bilinear = {.run = run_upsample_bilinear, .rows = 2};

static void run_upsample_bilinear_dx(const RefCall *call) {
  const TmShape s = call->out.shape, ys = call->in[0].shape;
  const int f = call->node->attrs.factor;
  double *row = ref_row(call, 0), *sum = ref_row(call, 1);
  for (int n = 0; n < s.n; n++)
    for (int p = 0; p < s.h; p++)
      for (int q = 0; q < s.w; q++) {
        clear(sum, (gsize)s.c);
        for (int i = MAX(p - 1, 0) * f; i < MIN(p + 2, s.h) * f; i++)
          for (int j = MAX(q - 1, 0) * f; j < MIN(q + 2, s.w) * f; j++) {
            const double share = bilinear_share(i, p, f, s.h) * bilinear_share(j, q, f, s.w);
            if (share == 0) continue;
            ref_get_all(&call->in[0], ref_pixel(ys, n, i, j), row);
            for (int c = 0; c < s.c; c++) sum[c] += share * row[c];
          }
        ref_put_all(&call->out, ref_pixel(s, n, p, q), sum);
      }
}

const RefKernel ref_upsample_bilinear_dx = {.run = run_upsample_bilinear_dx, .rows = 2};

/* ---- borders ---- */

/* Which row of a picture of @extent rows is shown @i rows from its top, or -1 for a zero. */
static int shown(int i, int extent, TmPadMode mode) {
  if (i >= 0 && i < extent) return i;
  if (mode == TM_PAD_ZERO) return -1;
  const gint64 mirrored = i < 0 ? -(gint64)i : 2 * ((gint64)extent - 1) - i;
  return (int)CLAMP(mirrored, 0, extent - 1);
}

static void run_pad(const RefCall *call) {
  const TmAttrs *a = &call->node->attrs;
  const TmShape s = call->out.shape, xs = call->in[0].shape;
  double *row = ref_row(call, 0);
  for (int n = 0; n < s.n; n++)
    for (int i = 0; i < s.h; i++)
      for (int j = 0; j < s.w; j++) {
        const int p = shown(i - a->top, xs.h, a->pad_mode), q = shown(j - a->left, xs.w, a->pad_mode);
        if (p < 0 || q < 0)
          clear(row, (gsize)s.c);
        else
          ref_get_all(&call->in[0], ref_pixel(xs, n, p, q), row);
        ref_put_all(&call->out, ref_pixel(s, n, i, j), row);
      }
}

const RefKernel ref_pad = {.run = run_pad, .rows = 1};

static void add_row_of_pixels(const RefCall *call, int n, int i, double *sums) {
  const TmAttrs *a = &call->node->attrs;
  const TmShape s = call->out.shape, ys = call->in[0].shape;
  double *row = ref_row(call, 0);
  for (int j = 0; j < ys.w; j++) {
    const int q = shown(j - a->left, s.w, a->pad_mode);
    if (q < 0) continue;
    ref_get_all(&call->in[0], ref_pixel(ys, n, i, j), row);
    for (int c = 0; c < s.c; c++) sums[(gsize)q * s.c + c] += row[c];
  }
}

static void run_pad_dx(const RefCall *call) {
  const TmAttrs *a = &call->node->attrs;
  const TmShape s = call->out.shape, ys = call->in[0].shape;
  for (int n = 0; n < s.n; n++)
    for (int p = 0; p < s.h; p++) {
      clear(call->extra, (gsize)s.w * s.c);
      for (int i = 0; i < ys.h; i++)
        if (shown(i - a->top, s.h, a->pad_mode) == p) add_row_of_pixels(call, n, i, call->extra);
      for (int q = 0; q < s.w; q++)
        ref_put_all(&call->out, ref_pixel(s, n, p, q), call->extra + (gsize)q * s.c);
    }
}

const RefKernel ref_pad_dx = {.run = run_pad_dx, .rows = 1, .extra = extra_row};

/* Copies the smaller picture out of or into the larger one. */
static void copy_window(const RefCall *call, TmShape small, gboolean into) {
  const TmAttrs *a = &call->node->attrs;
  const TmShape large = into ? call->out.shape : call->in[0].shape;
  double *row = ref_row(call, 0);
  for (int n = 0; n < small.n; n++)
    for (int i = 0; i < small.h; i++)
      for (int j = 0; j < small.w; j++) {
        const gsize inner = ref_pixel(small, n, i, j), outer = ref_pixel(large, n, i + a->top, j + a->left);
        ref_get_all(&call->in[0], into ? inner : outer, row);
        ref_put_all(&call->out, into ? outer : inner, row);
      }
}

static void run_crop(const RefCall *call) {
  copy_window(call, call->out.shape, FALSE);
}

static void run_crop_dx(const RefCall *call) {
  put_zeros(call, ref_row(call, 0));
  copy_window(call, call->in[0].shape, TRUE);
}

const RefKernel ref_crop = {.run = run_crop, .rows = 1};
const RefKernel ref_crop_dx = {.run = run_crop_dx, .rows = 1};

/* ---- channels ---- */

static void run_concat(const RefCall *call) {
  double *row = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++)
    for (guint i = 0, c = 0; i < call->n_in; c += (guint)call->in[i++].shape.c) {
      ref_get_all(&call->in[i], p, row);
      ref_put(&call->out, p, (int)c, call->in[i].shape.c, row);
    }
}

const RefKernel ref_concat = {.run = run_concat, .rows = 1};

static void run_slice(const RefCall *call) {
  double *row = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get(&call->in[0], p, call->node->attrs.from, call->out.shape.c, row);
    ref_put_all(&call->out, p, row);
  }
}

static void run_slice_dx(const RefCall *call) {
  double *row = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    clear(row, (gsize)call->out.shape.c);
    ref_get_all(&call->in[0], p, row + call->node->attrs.from);
    ref_put_all(&call->out, p, row);
  }
}

const RefKernel ref_slice = {.run = run_slice, .rows = 1};
const RefKernel ref_slice_dx = {.run = run_slice_dx, .rows = 1};
