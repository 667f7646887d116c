/* upsample.c: enlarging by a whole factor, nearest and bilinear (half-pixel centres, edges clamped), and the
 * adjoints.
 *
 * The adjoints gather: each pixel of dx adds up what it gave to its neighbours, in a fixed order, so that no
 * two threads write one pixel. */
#include "kernels/cpu/isa.h"

TM_INLINE void nearest_row(int n, TmDType t, const TmView *x, const TmView *y, gsize xrow, gsize yrow, int f,
                           int c) {
  for (int w = 0; w < x->shape.w; w++) {
    const vf v = v_get(x->data, view_at(x, xrow, w) + (gsize)c, t, n);
    for (int j = 0; j < f; j++) v_put(y->data, view_at(y, yrow, w * f + j) + (gsize)c, t, n, v);
  }
}

void KERNEL(upsample_nearest)(const TmTeam *team, const TmView *x, int factor, const TmView *y) {
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, x->shape.c))
      BY_TYPE(x->dtype, n, nearest_row, x, y, r.at / (gsize)factor, r.at, factor, c);
}

TM_INLINE void nearest_dx_row(int n, TmDType t, const TmView *dy, const TmView *dx, gsize row, int f, int c) {
  for (int w = 0; w < dx->shape.w; w++) {
    vf s = v_set(0);
    for (int i = 0; i < f; i++)
      for (int j = 0; j < f; j++)
        s = s + v_get(dy->data, view_at(dy, row * (gsize)f + (gsize)i, w * f + j) + (gsize)c, t, n);
    v_put(dx->data, view_at(dx, row, w) + (gsize)c, t, n, s);
  }
}

void KERNEL(upsample_nearest_dx)(const TmTeam *team, const TmView *dy, int factor, const TmView *dx) {
  TM_PARALLEL(team, view_count(dy))
  for (TmRange r = my_share(view_rows(dx)); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, dx->shape.c)) BY_TYPE(dx->dtype, n, nearest_dx_row, dy, dx, r.at, factor, c);
}

/* Where output coordinate @o reads: x[lo] (1 - part) + x[hi] part. */
typedef struct {
  int lo, hi;
  float part;
} Tap;

TM_INLINE Tap tap(int o, int factor, int size) {
  const float at = ((float)o + 0.5f) / (float)factor - 0.5f;
  const float clamped = at < 0 ? 0 : at;
  Tap p = {.lo = (int)clamped};
  p.part = clamped - (float)p.lo;
  p.hi = p.lo + 1 < size ? p.lo + 1 : size - 1;
  return p;
}

TM_INLINE void bilinear_row(int n, TmDType t, const TmView *x, const TmView *y, gsize top, gsize bottom,
                            float part, gsize yrow, int f, int c) {
  for (int w = 0; w < y->shape.w; w++) {
    const Tap p = tap(w, f, x->shape.w);
    const vf a = v_get(x->data, view_at(x, top, p.lo) + (gsize)c, t, n),
             b = v_get(x->data, view_at(x, top, p.hi) + (gsize)c, t, n);
    const vf d = v_get(x->data, view_at(x, bottom, p.lo) + (gsize)c, t, n),
             e = v_get(x->data, view_at(x, bottom, p.hi) + (gsize)c, t, n);
    const vf u = v_fma(b - a, v_set(p.part), a), v = v_fma(e - d, v_set(p.part), d);
    v_put(y->data, view_at(y, yrow, w) + (gsize)c, t, n, v_fma(v - u, v_set(part), u));
  }
}

void KERNEL(upsample_bilinear)(const TmTeam *team, const TmView *x, int factor, const TmView *y) {
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) {
    const gsize first = r.at / (gsize)y->shape.h * (gsize)x->shape.h;
    const Tap p = tap((int)(r.at % (gsize)y->shape.h), factor, x->shape.h);
    for (FOR_LANES(c, n, x->shape.c))
      BY_TYPE(x->dtype, n, bilinear_row, x, y, first + (gsize)p.lo, first + (gsize)p.hi, p.part, r.at, factor,
              c);
  }
}

/* The share of input @i in output @o. */
TM_INLINE float tap_weight(int o, int i, int factor, int size) {
  const Tap p = tap(o, factor, size);
  return (p.lo == i ? 1 - p.part : 0) + (p.hi == i ? p.part : 0);
}

/* Outputs that may read input @i: those within one input pixel of it. */
TM_INLINE void reach(int i, int factor, int size, int *from, int *to) {
  *from = i == 0 ? 0 : (i - 1) * factor;
  *to = i == size - 1 ? size * factor : (i + 2) * factor;
}

TM_INLINE void bilinear_dx_row(int n, TmDType t, const TmView *dy, const TmView *dx, gsize image, int h,
                               int f, int c) {
  const int H = dx->shape.h, W = dx->shape.w;
  int top, bottom;
  reach(h, f, H, &top, &bottom);
  for (int w = 0; w < W; w++) {
    int left, right;
    reach(w, f, W, &left, &right);
    vf s = v_set(0);
    for (int i = top; i < bottom; i++) {
      const float a = tap_weight(i, h, f, H);
      if (a == 0) continue;
      for (int j = left; j < right; j++) {
        const vf g = v_get(dy->data, view_at(dy, image * (gsize)dy->shape.h + (gsize)i, j) + (gsize)c, t, n);
        s = v_fma(g, v_set(a * tap_weight(j, w, f, W)), s);
      }
    }
    v_put(dx->data, view_at(dx, image * (gsize)H + (gsize)h, w) + (gsize)c, t, n, s);
  }
}

void KERNEL(upsample_bilinear_dx)(const TmTeam *team, const TmView *dy, int factor, const TmView *dx) {
  const gsize H = (gsize)dx->shape.h;
  TM_PARALLEL(team, view_count(dy))
  for (TmRange r = my_share(view_rows(dx)); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, dx->shape.c))
      BY_TYPE(dx->dtype, n, bilinear_dx_row, dy, dx, r.at / H, (int)(r.at % H), factor, c);
}
