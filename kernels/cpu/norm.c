/* norm.c: batch normalisation (Ioffe and Szegedy, 2015), in the parts that fuse, and sums over pixels.
 *
 * All walk one row of pixels at a time for VL channels at a time: the sums and the channels' constants stay
 * in registers, and the row stays in the cache for the next channels. */
#include "kernels/cpu/isa.h"

/* Sum and sum of squares of x - shift over one row. Shifting by the first pixel keeps the variance exact
 * where |mean| is large. */
TM_INLINE void stats_row(int n, TmDType t, const void *x, gsize i, int width, int ld, const float *shift,
                         double *sum, double *square) {
  const vf s = v_get(shift, 0, TM_F32, n);
  vf a0 = v_set(0), a1 = v_set(0), q0 = v_set(0), q1 = v_set(0);
  int w = 0;
  for (; w + 2 <= width; w += 2, i += 2 * (gsize)ld) {
    const vf u = v_get(x, i, t, n) - s, v = v_get(x, i + (gsize)ld, t, n) - s;
    a0 = a0 + u;
    a1 = a1 + v;
    q0 = v_fma(u, u, q0);
    q1 = v_fma(v, v, q1);
  }
  if (w < width) {
    const vf u = v_get(x, i, t, n) - s;
    a0 = a0 + u;
    q0 = v_fma(u, u, q0);
  }
  add_lanes(sum, a0 + a1, n);
  add_lanes(square, q0 + q1, n);
}

void KERNEL(bn_stats)(const TmTeam *team, const TmView *x, float *stats) {
  const int C = x->shape.c;
  const gsize rows = view_rows(x);
  float *shift = stats; /* the first pixel, until the sums are in */
  for (FOR_LANES(c, n, C)) v_put(shift, (gsize)c, TM_F32, n, v_get(x->data, (gsize)c, x->dtype, n));
  clear_sums(team, 2 * (gsize)C);
  TM_PARALLEL(team, view_count(x)) {
    double *sum = my_work(team);
    for (TmRange r = my_share(rows); r.at < r.end; r.at++)
      for (FOR_LANES(c, n, C))
        BY_TYPE(x->dtype, n, stats_row, x->data, view_at(x, r.at, 0) + (gsize)c, x->shape.w, x->ld, shift + c,
                sum + c, sum + C + c);
  }
  const double inv = 1 / (double)tm_shape_pixels(x->shape);
  for (int c = 0; c < C; c++) {
    const double d = total(team, (gsize)c) * inv, q = total(team, (gsize)(C + c)) * inv - d * d;
    stats[C + c] = (float)(q < 0 ? 0 : q); /* NaN stays */
    stats[c] = (float)(shift[c] + d);
  }
}

/* y = (x - mean) * scale + beta, over one row. Subtracting first keeps y exact where |mean| is large. */
TM_INLINE void affine_row(int n, TmDType t, gboolean relu, const void *x, gsize i, int ldx, void *y, gsize k,
                          int ldy, int width, const float *mean, const float *scale, const float *beta) {
  const vf m = v_get(mean, 0, TM_F32, n), a = v_get(scale, 0, TM_F32, n), b = v_get(beta, 0, TM_F32, n);
  for (int w = 0; w < width; w++, i += (gsize)ldx, k += (gsize)ldy) {
    const vf v = v_fma(v_get(x, i, t, n) - m, a, b);
    v_put(y, k, t, n, relu ? v_relu(v) : v);
  }
}

/* Two rows of y and one of their 2x2 maxima. */
TM_INLINE void affine_pool_rows(int n, TmDType t, gboolean relu, const TmView *x, const TmView *y,
                                const TmView *p, gsize row, gsize prow, int c, const float *mean,
                                const float *scale, const float *beta) {
  const vf m = v_get(mean, 0, TM_F32, n), a = v_get(scale, 0, TM_F32, n), b = v_get(beta, 0, TM_F32, n);
  gsize i0 = view_at(x, row, 0) + (gsize)c, i1 = view_at(x, row + 1, 0) + (gsize)c;
  gsize k0 = view_at(y, row, 0) + (gsize)c, k1 = view_at(y, row + 1, 0) + (gsize)c,
        j = view_at(p, prow, 0) + (gsize)c;
  const gsize lx = (gsize)x->ld, ly = (gsize)y->ld;
  for (int w = 0; w < p->shape.w; w++) {
    vf v00 = v_fma(v_get(x->data, i0, t, n) - m, a, b), v01 = v_fma(v_get(x->data, i0 + lx, t, n) - m, a, b);
    vf v10 = v_fma(v_get(x->data, i1, t, n) - m, a, b), v11 = v_fma(v_get(x->data, i1 + lx, t, n) - m, a, b);
    if (relu) v00 = v_relu(v00), v01 = v_relu(v01), v10 = v_relu(v10), v11 = v_relu(v11);
    v_put(y->data, k0, t, n, v00);
    v_put(y->data, k0 + ly, t, n, v01);
    v_put(y->data, k1, t, n, v10);
    v_put(y->data, k1 + ly, t, n, v11);
    v_put(p->data, j, t, n, v_greatest(v_greatest(v00, v01), v_greatest(v10, v11)));
    i0 += 2 * lx, i1 += 2 * lx, k0 += 2 * ly, k1 += 2 * ly, j += (gsize)p->ld;
  }
  for (int w = 2 * p->shape.w; w < x->shape.w; w++, i0 += lx, i1 += lx, k0 += ly, k1 += ly) {
    const vf v0 = v_fma(v_get(x->data, i0, t, n) - m, a, b), v1 = v_fma(v_get(x->data, i1, t, n) - m, a, b);
    v_put(y->data, k0, t, n, relu ? v_relu(v0) : v0);
    v_put(y->data, k1, t, n, relu ? v_relu(v1) : v1);
  }
}

void KERNEL(bn_apply)(const TmTeam *team, const TmView *x, const TmBatchNorm *bn, gboolean relu,
                      const TmView *y, const TmView *p) {
  const int C = x->shape.c, H = x->shape.h, W = x->shape.w, pairs = p ? (H + 1) / 2 : H;
  float *scale = team->work;
  for (int c = 0; c < C; c++) scale[c] = bn->gamma[c] / sqrtf(bn->var[c] + bn->eps);
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share((gsize)x->shape.n * (gsize)pairs); r.at < r.end; r.at++) {
    const gsize image = r.at / (gsize)pairs, k = r.at % (gsize)pairs;
    const gsize row = p ? image * (gsize)H + 2 * k : r.at;
    const gboolean both = p && 2 * k + 1 < (gsize)H;
    for (FOR_LANES(c, n, C)) {
      if (both) {
        const gsize prow = image * (gsize)p->shape.h + k;
        if (relu)
          BY_TYPE(x->dtype, n, affine_pool_rows, TRUE, x, y, p, row, prow, c, bn->mean + c, scale + c,
                  bn->beta + c);
        else
          BY_TYPE(x->dtype, n, affine_pool_rows, FALSE, x, y, p, row, prow, c, bn->mean + c, scale + c,
                  bn->beta + c);
      } else {
        const gsize i = view_at(x, row, 0) + (gsize)c, j = view_at(y, row, 0) + (gsize)c;
        if (relu)
          BY_TYPE(x->dtype, n, affine_row, TRUE, x->data, i, x->ld, y->data, j, y->ld, W, bn->mean + c,
                  scale + c, bn->beta + c);
        else
          BY_TYPE(x->dtype, n, affine_row, FALSE, x->data, i, x->ld, y->data, j, y->ld, W, bn->mean + c,
                  scale + c, bn->beta + c);
      }
    }
  }
}

/* bn_apply's constants of a channel. */
typedef struct {
  const float *mean, *scale, *beta;
} Affine;

/* Sums of dz and dz * (x - mean) over one row. Whether ReLU let a value pass is seen again from x, by the same
 * arithmetic: reading y too would take longer, and y would have to be kept. */
TM_INLINE void reduce_row(int n, TmDType t, gboolean relu, const TmView *dy, const TmView *x, const TmView *dz,
                          gsize row, int c, Affine bn, double *sum, double *dot) {
  const vf m = v_get(bn.mean, (gsize)c, TM_F32, n);
  const vf scale = relu ? v_get(bn.scale, (gsize)c, TM_F32, n) : m,
           beta = relu ? v_get(bn.beta, (gsize)c, TM_F32, n) : m;
  vf s0 = v_set(0), q0 = v_set(0), s1 = v_set(0), q1 = v_set(0);
  gsize i = view_at(x, row, 0) + (gsize)c, k = view_at(dy, row, 0) + (gsize)c;
  gsize d = relu ? view_at(dz, row, 0) + (gsize)c : 0;
  for (int w = 0; w < x->shape.w; w++, i += (gsize)x->ld, k += (gsize)dy->ld) {
    vf g = v_get(dy->data, k, t, n);
    const vf u = v_get(x->data, i, t, n) - m;
    if (relu) {
      g = v_keep(v_gt(v_fma(u, scale, beta), v_set(0)), g);
      v_put(dz->data, d, t, n, g);
      d += (gsize)dz->ld;
    }
    if (w & 1) {
      s1 = s1 + g;
      q1 = v_fma(g, u, q1);
    } else {
      s0 = s0 + g;
      q0 = v_fma(g, u, q0);
    }
  }
  add_lanes(sum, s0 + s1, n);
  add_lanes(dot, q0 + q1, n);
}

void KERNEL(bn_reduce)(const TmTeam *team, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                       gboolean relu, const TmView *dz, float *r) {
  const int C = x->shape.c;
  float *scale = (float *)((double *)team->work + 2 * (gsize)C); /* behind the first thread's sums */
  const Affine affine = {bn->mean, scale, bn->beta};
  clear_sums(team, 2 * (gsize)C);
  for (int c = 0; relu && c < C; c++) scale[c] = bn->gamma[c] / sqrtf(bn->var[c] + bn->eps);
  TM_PARALLEL(team, view_count(x)) {
    double *sum = my_work(team);
    for (TmRange rows = my_share(view_rows(x)); rows.at < rows.end; rows.at++)
      for (FOR_LANES(c, n, C)) {
        if (relu)
          BY_TYPE(x->dtype, n, reduce_row, TRUE, dy, x, dz, rows.at, c, affine, sum + c, sum + C + c);
        else
          BY_TYPE(x->dtype, n, reduce_row, FALSE, dy, x, NULL, rows.at, c, affine, sum + c, sum + C + c);
      }
  }
  for (int c = 0; c < C; c++) {
    r[C + c] = (float)(total(team, (gsize)(C + c)) / sqrt((double)bn->var[c] + bn->eps));
    r[c] = (float)total(team, (gsize)c);
  }
}

/* dx = a dy + b (x - mean) + s, over one row. */
TM_INLINE void combine_row(int n, TmDType t, const TmView *dy, const TmView *x, const TmView *dx, gsize row,
                           int c, const float *mean, const float *a, const float *b, const float *s) {
  const vf m = v_get(mean, 0, TM_F32, n), va = v_get(a, 0, TM_F32, n), vb = v_get(b, 0, TM_F32, n),
           vs = v_get(s, 0, TM_F32, n);
  gsize i = view_at(x, row, 0) + (gsize)c, k = view_at(dy, row, 0) + (gsize)c,
        d = view_at(dx, row, 0) + (gsize)c;
  for (int w = 0; w < x->shape.w; w++, i += (gsize)x->ld, k += (gsize)dy->ld, d += (gsize)dx->ld)
    v_put(dx->data, d, t, n, v_fma(v_get(dy->data, k, t, n), va, v_fma(v_get(x->data, i, t, n) - m, vb, vs)));
}

void KERNEL(bn_dx)(const TmTeam *team, const TmView *dy, const TmView *x, const TmBatchNorm *bn,
                   const float *r, const TmView *dx) {
  const int C = x->shape.c;
  float *a = team->work, *b = a + C, *s = b + C;
  const double inv = 1 / (double)tm_shape_pixels(x->shape);
  for (int c = 0; c < C; c++) {
    const double istd = 1 / sqrt((double)bn->var[c] + bn->eps), g = bn->gamma[c] * istd;
    a[c] = (float)g;
    b[c] = (float)(-g * istd * r[C + c] * inv);
    s[c] = (float)(-g * r[c] * inv);
  }
  TM_PARALLEL(team, view_count(x))
  for (TmRange rows = my_share(view_rows(x)); rows.at < rows.end; rows.at++)
    for (FOR_LANES(c, n, C))
      BY_TYPE(x->dtype, n, combine_row, dy, x, dx, rows.at, c, bn->mean + c, a + c, b + c, s + c);
}

TM_INLINE void sum_row(int n, TmDType t, const TmView *x, gsize row, int c, double *sum) {
  vf s0 = v_set(0), s1 = v_set(0);
  gsize i = view_at(x, row, 0) + (gsize)c;
  int w = 0;
  for (; w + 2 <= x->shape.w; w += 2, i += 2 * (gsize)x->ld) {
    s0 = s0 + v_get(x->data, i, t, n);
    s1 = s1 + v_get(x->data, i + (gsize)x->ld, t, n);
  }
  if (w < x->shape.w) s0 = s0 + v_get(x->data, i, t, n);
  add_lanes(sum, s0 + s1, n);
}

void KERNEL(channel_sum)(const TmTeam *team, const TmView *x, float *sum) {
  const int C = x->shape.c;
  clear_sums(team, (gsize)C);
  TM_PARALLEL(team, view_count(x)) {
    double *mine = my_work(team);
    for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++)
      for (FOR_LANES(c, n, C)) BY_TYPE(x->dtype, n, sum_row, x, r.at, c, mine + c);
  }
  for (int c = 0; c < C; c++) sum[c] = (float)total(team, (gsize)c);
}

TM_INLINE void bias_row(int n, TmDType t, const TmView *x, const float *bias, const TmView *y, gsize row,
                        int c) {
  const vf b = v_get(bias, 0, TM_F32, n);
  gsize i = view_at(x, row, 0) + (gsize)c, k = view_at(y, row, 0) + (gsize)c;
  for (int w = 0; w < x->shape.w; w++, i += (gsize)x->ld, k += (gsize)y->ld)
    v_put(y->data, k, t, n, v_get(x->data, i, t, n) + b);
}

void KERNEL(bias)(const TmTeam *team, const TmView *x, const float *bias, const TmView *y) {
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, x->shape.c)) BY_TYPE(x->dtype, n, bias_row, x, bias + c, y, r.at, c);
}
