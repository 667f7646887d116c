/* pool.c: maximum over windows of factor x factor pixels that do not overlap. What does not fill a window is
 * cut. */
#include "kernels/cpu/isa.h"

TM_INLINE void pool_row(int n, TmDType t, int f, const TmView *x, const TmView *y, gsize yrow, gsize xrow,
                        int c) {
  for (int w = 0; w < y->shape.w; w++) {
    vf m = v_get(x->data, view_at(x, xrow, w * f) + (gsize)c, t, n);
    for (int i = 0; i < f; i++)
      for (int j = i == 0; j < f; j++)
        m = v_greatest(m, v_get(x->data, view_at(x, xrow + (gsize)i, w * f + j) + (gsize)c, t, n));
    v_put(y->data, view_at(y, yrow, w) + (gsize)c, t, n, m);
  }
}

/* Bytes: the compiler finds the vectors. */
TM_INLINE void pool_row_u8(int f, const TmView *x, const TmView *y, gsize yrow, gsize xrow) {
  const gsize C = (gsize)x->shape.c;
  for (int w = 0; w < y->shape.w; w++) {
    guint8 *to = (guint8 *)y->data + view_at(y, yrow, w);
    memset(to, 0, C);
    for (int i = 0; i < f; i++)
      for (int j = 0; j < f; j++) {
        const guint8 *from = (const guint8 *)x->data + view_at(x, xrow + (gsize)i, w * f + j);
        for (gsize c = 0; c < C; c++) to[c] = from[c] > to[c] ? from[c] : to[c];
      }
  }
}

void KERNEL(max_pool)(const TmTeam *team, const TmView *x, int factor, const TmView *y) {
  const gsize H = (gsize)y->shape.h;
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) {
    const gsize xrow = r.at / H * (gsize)x->shape.h + r.at % H * (gsize)factor;
    if (x->dtype == TM_U8) {
      pool_row_u8(factor, x, y, r.at, xrow);
      continue;
    }
    for (FOR_LANES(c, n, x->shape.c)) {
      if (factor == 2)
        BY_TYPE(x->dtype, n, pool_row, 2, x, y, r.at, xrow, c);
      else
        BY_TYPE(x->dtype, n, pool_row, factor, x, y, r.at, xrow, c);
    }
  }
}

/* The windows of one row of y. The first pixel that holds the maximum takes the gradient. */
TM_INLINE void pool_dx_row(int n, TmDType t, int f, const TmView *dy, const TmView *x, const TmView *y,
                           const TmView *d, const TmView *dx, gsize yrow, gsize xrow, int c) {
  for (int w = 0; w < y->shape.w; w++) {
    const vf m = v_get(y->data, view_at(y, yrow, w) + (gsize)c, t, n),
             g = v_get(dy->data, view_at(dy, yrow, w) + (gsize)c, t, n);
    vm open = v_eq(v_set(0), v_set(0)); /* lanes whose maximum was not met yet */
    for (int i = 0; i < f; i++)
      for (int j = 0; j < f; j++) {
        const gsize row = xrow + (gsize)i;
        const vm hit = v_and(open, v_eq(v_get(x->data, view_at(x, row, w * f + j) + (gsize)c, t, n), m));
        open = v_and(open, v_not(hit));
        vf v = v_keep(hit, g);
        if (d) v = v + v_get(d->data, view_at(d, row, w * f + j) + (gsize)c, t, n);
        v_put(dx->data, view_at(dx, row, w * f + j) + (gsize)c, t, n, v);
      }
  }
}

/* Pixels from..W-1 of a row that no window covers: d, or 0. */
TM_INLINE void uncovered(int n, TmDType t, const TmView *d, const TmView *dx, gsize row, int from, int c) {
  for (int w = from; w < dx->shape.w; w++)
    v_put(dx->data, view_at(dx, row, w) + (gsize)c, t, n,
          d ? v_get(d->data, view_at(d, row, w) + (gsize)c, t, n) : v_set(0));
}

TM_INLINE void pool_dx_rows(int n, TmDType t, const TmView *dy, const TmView *x, const TmView *y,
                            const TmView *d, int f, const TmView *dx, gsize image, gsize k, int c) {
  const gsize H = (gsize)x->shape.h, xrow = image * H + k * (gsize)f, yrow = image * (gsize)y->shape.h + k;
  const gboolean covered = k < (gsize)y->shape.h;
  const gsize height = k * (gsize)f + (gsize)f <= H ? (gsize)f : H - k * (gsize)f;
  if (covered) {
    if (f == 2 && d)
      pool_dx_row(n, t, 2, dy, x, y, d, dx, yrow, xrow, c);
    else if (f == 2)
      pool_dx_row(n, t, 2, dy, x, y, NULL, dx, yrow, xrow, c);
    else
      pool_dx_row(n, t, f, dy, x, y, d, dx, yrow, xrow, c);
  }
  for (gsize i = 0; i < height; i++) uncovered(n, t, d, dx, xrow + i, covered ? y->shape.w * f : 0, c);
}

void KERNEL(max_pool_dx)(const TmTeam *team, const TmView *dy, const TmView *x, const TmView *y,
                         const TmView *d, int factor, const TmView *dx) {
  const gsize bands = ((gsize)x->shape.h + (gsize)factor - 1) / (gsize)factor;
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share((gsize)x->shape.n * bands); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, x->shape.c))
      BY_TYPE(x->dtype, n, pool_dx_rows, dy, x, y, d, factor, dx, r.at / bands, r.at % bands, c);
}
