/* Convolutions: a double sum for each result. The innermost loops run over channels that lie side by side in
 * both operands, so that a compiler can use vectors without changing the order of any sum. */
#include "engine/backend/plain_conv.h"
#include "engine/backend/ref/ref.h"

#include <string.h>

typedef struct {
  int stride, pad, dilation, groups;
  int kh, kw;
  int in_group, out_group; /* channels of the conv's x and y in a group */
} Conv;

/* @w is the weight's shape as the conv sees it: (O, I/g, kH, kW). */
static Conv conv_of(const TmAttrs *a, TmShape w) {
  const int groups = MAX(a->groups, 1);
  return (Conv){MAX(a->stride, 1), a->pad, MAX(a->dilation, 1), groups, w.h, w.w, w.c, w.n / groups};
}

/* Where tap @u of position @i of the conv's y reads its x; FALSE outside of it. */
static gboolean source(const Conv *k, int i, int u, int extent, int *at) {
  const gint64 p = (gint64)i * k->stride - k->pad + (gint64)u * k->dilation;
  *at = (int)p;
  return p >= 0 && p < extent;
}

/* The other way: which position of y reads row @p of x with tap @u. */
static gboolean reader(const Conv *k, int p, int u, int extent, int *at) {
  const gint64 i = (gint64)p + k->pad - (gint64)u * k->dilation;
  if (i < 0 || i % k->stride || i / k->stride >= extent) return FALSE;
  *at = (int)(i / k->stride);
  return TRUE;
}

/* y[o] += sum_c x[c] w[c][o] for each group: @w is [group][c][o]. */
static void multiply(const double *x, const double *w, double *y, int groups, int n_x, int n_y) {
  for (int g = 0; g < groups; g++, x += n_x, y += n_y)
    for (int c = 0; c < n_x; c++, w += n_y)
      for (int o = 0; o < n_y; o++) y[o] += x[c] * w[o];
}

static void start_row(const RefCall *c, double *y) {
  memset(y, 0, (gsize)c->out.shape.c * sizeof *y);
  if (c->n_in == 3) ref_get_all(&c->in[2], 0, y);
}

static gsize weight_doubles(const TmNode *n) {
  return tm_shape_count(n->in[1]->shape);
}

/* From (O, kH, kW, I/g) to [tap][group][c][o]. */
static void turn_weight(const RefCall *call, const Conv *k) {
  const TmView *w = &call->in[1];
  double *row = ref_row(call, 2);
  const gsize tap = (gsize)w->shape.n * (gsize)w->shape.c;
  for (int o = 0; o < w->shape.n; o++)
    for (int t = 0; t < k->kh * k->kw; t++) {
      ref_get_all(w, (gsize)o * (gsize)(k->kh * k->kw) + (gsize)t, row);
      const int g = o / k->out_group;
      double *to = call->extra + (gsize)t * tap + (gsize)g * k->in_group * k->out_group + o % k->out_group;
      for (int c = 0; c < k->in_group; c++) to[(gsize)c * k->out_group] = row[c];
    }
}

static void run_conv(const RefCall *c) {
  const Conv k = conv_of(&c->node->attrs, c->in[1].shape);
  const TmShape xs = c->in[0].shape, ys = c->out.shape;
  const gsize tap = (gsize)ys.c * k.in_group;
  double *x = ref_row(c, 0), *y = ref_row(c, 1);
  turn_weight(c, &k);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i++)
      for (int j = 0; j < ys.w; j++) {
        start_row(c, y);
        for (int t = 0, p, q; t < k.kh * k.kw; t++) {
          if (!source(&k, i, t / k.kw, xs.h, &p) || !source(&k, j, t % k.kw, xs.w, &q)) continue;
          ref_get_all(&c->in[0], ref_pixel(xs, n, p, q), x);
          multiply(x, c->extra + (gsize)t * tap, y, k.groups, k.in_group, k.out_group);
        }
        ref_put_all(&c->out, ref_pixel(ys, n, i, j), y);
      }
}

const RefKernel ref_conv = {.run = run_conv, .rows = 3, .extra = weight_doubles};

/* From (I, kH, kW, O/g) to [tap][I][O/g], which is [tap][group][c][o]. */
static void spread_weight(const RefCall *call) {
  const TmView *w = &call->in[1];
  const int taps = w->shape.h * w->shape.w;
  for (int i = 0; i < w->shape.n; i++)
    for (int t = 0; t < taps; t++)
      ref_get_all(w, (gsize)i * taps + t, call->extra + ((gsize)t * w->shape.n + i) * w->shape.c);
}

/* The conv whose adjoint this is reads our result and writes our input. */
static void run_conv_transpose(const RefCall *c) {
  const Conv k = conv_of(&c->node->attrs, c->in[1].shape);
  const TmShape xs = c->in[0].shape, ys = c->out.shape;
  const gsize tap = (gsize)xs.c * k.in_group;
  double *x = ref_row(c, 0), *y = ref_row(c, 1);
  spread_weight(c);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i++)
      for (int j = 0; j < ys.w; j++) {
        start_row(c, y);
        for (int t = 0, p, q; t < k.kh * k.kw; t++) {
          if (!reader(&k, i, t / k.kw, xs.h, &p) || !reader(&k, j, t % k.kw, xs.w, &q)) continue;
          ref_get_all(&c->in[0], ref_pixel(xs, n, p, q), x);
          multiply(x, c->extra + (gsize)t * tap, y, k.groups, k.out_group, k.in_group);
        }
        ref_put_all(&c->out, ref_pixel(ys, n, i, j), y);
      }
}

const RefKernel ref_conv_transpose = {.run = run_conv_transpose, .rows = 2, .extra = weight_doubles};

static gsize result_doubles(const TmNode *n) {
  return tm_shape_count(n->shape);
}

/* dw[tap][o][c] += dy[o] x[c] for the channels of each group. */
static void outer(const double *x, const double *dy, double *dw, const Conv *k) {
  for (int g = 0; g < k->groups; g++, x += k->in_group)
    for (int o = 0; o < k->out_group; o++, dy++, dw += k->in_group)
      for (int c = 0; c < k->in_group; c++) dw[c] += *dy * x[c];
}

static void run_conv_dw(const RefCall *call) {
  const TmShape ws = call->out.shape, xs = call->in[0].shape, ys = call->in[1].shape;
  const Conv k = conv_of(&call->node->attrs, ws);
  const int taps = k.kh * k.kw;
  const gsize tap = (gsize)ws.n * ws.c;
  double *x = ref_row(call, 0), *dy = ref_row(call, 1), *dw = call->extra;
  memset(dw, 0, tm_shape_count(ws) * sizeof *dw);
  for (int n = 0; n < ys.n; n++)
    for (int i = 0; i < ys.h; i++)
      for (int j = 0; j < ys.w; j++) {
        ref_get_all(&call->in[1], ref_pixel(ys, n, i, j), dy);
        for (int t = 0, p, q; t < taps; t++) {
          if (!source(&k, i, t / k.kw, xs.h, &p) || !source(&k, j, t % k.kw, xs.w, &q)) continue;
          ref_get_all(&call->in[0], ref_pixel(xs, n, p, q), x);
          outer(x, dy, dw + (gsize)t * tap, &k);
        }
      }
  for (int o = 0; o < ws.n; o++)
    for (int t = 0; t < taps; t++)
      ref_put_all(&call->out, (gsize)o * taps + t, dw + (gsize)t * tap + (gsize)o * ws.c);
}

const RefKernel ref_conv_dw = {.run = run_conv_dw, .rows = 2, .extra = result_doubles};

static void run_channel_sum(const RefCall *call) {
  const TmView *v = &call->in[0];
  double *x = ref_row(call, 0), *sum = ref_row(call, 1);
  memset(sum, 0, (gsize)v->shape.c * sizeof *sum);
  for (gsize p = 0; p < tm_shape_pixels(v->shape); p++) {
    ref_get_all(v, p, x);
    for (int c = 0; c < v->shape.c; c++) sum[c] += x[c];
  }
  ref_put_all(&call->out, 0, sum);
}

const RefKernel ref_channel_sum = {.run = run_channel_sum, .rows = 2};

/* ---- for the cpu backend ---- */

static const RefKernel *kernel_of(const TmNode *n) {
  return n->op == TM_OP_CONV ? &ref_conv : n->op == TM_OP_CONV_TRANSPOSE ? &ref_conv_transpose : &ref_conv_dw;
}

static gsize widest(const TmNode *n) {
  int wide = n->shape.c;
  for (guint i = 0; i < n->n_in; i++) wide = MAX(wide, n->in[i]->shape.c);
  return (gsize)wide;
}

gsize tm_plain_conv_work(const TmNode *n) {
  const RefKernel *k = kernel_of(n);
  return (k->rows * widest(n) + k->extra(n)) * sizeof(double);
}

void tm_plain_conv_run(const TmNode *n, guint n_in, const TmView *in, const TmView *out, void *work) {
  const RefKernel *k = kernel_of(n);
  RefCall c = {.node = n, .n_in = n_in, .out = *out, .wide = widest(n), .rows = work};
  for (guint i = 0; i < n_in; i++) c.in[i] = in[i];
  c.extra = c.rows + k->rows * c.wide;
  k->run(&c);
}
