/* move.c: copies between views: slices, pads, crops, and their adjoints. */
#include "kernels/cpu/isa.h"

/* @count elements of x to y; x NULL: zeros. */
TM_INLINE void move_run(TmDType tx, TmDType ty, const void *x, gsize i, void *y, gsize k, gsize count) {
  const gsize size = tm_dtype_size(ty);
  if (!x) {
    memset((char *)y + k * size, 0, count * size);
  } else if (tx == ty) {
    memcpy((char *)y + k * size, (const char *)x + i * size, count * size);
  } else {
    gsize e = 0;
    for (; e + VL <= count; e += VL) v_put(y, k + e, ty, VL, v_get(x, i + e, tx, VL));
    if (e < count) v_put(y, k + e, ty, (int)(count - e), v_get(x, i + e, tx, (int)(count - e)));
  }
}

/* Pixels from .. to-1 of row @yrow of y, from row @xrow of x, @left columns further left; x NULL: zeros. */
TM_INLINE void move_pixels(const TmView *x, gsize xrow, int left, const TmView *y, gsize yrow, int from,
                           int to) {
  if (from >= to) return;
  const gsize C = (gsize)y->shape.c;
  const void *data = x ? x->data : NULL;
  const TmDType tx = x ? x->dtype : y->dtype;
  if (tm_view_dense(y) && (!x || tm_view_dense(x))) {
    move_run(tx, y->dtype, data, x ? view_at(x, xrow, from - left) : 0, y->data, view_at(y, yrow, from),
             C * (gsize)(to - from));
    return;
  }
  for (int w = from; w < to; w++)
    move_run(tx, y->dtype, data, x ? view_at(x, xrow, w - left) : 0, y->data, view_at(y, yrow, w), C);
}

TM_INLINE int between(int v, int low, int high) {
  return v < low ? low : v > high ? high : v;
}

void KERNEL(window)(const TmTeam *team, const TmView *x, int top, int left, const TmView *y) {
  const int H = y->shape.h, W = y->shape.w;
  const int from = between(left, 0, W), to = between(left + x->shape.w, from, W);
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) {
    const int h = (int)(r.at % (gsize)H) - top;
    if (h < 0 || h >= x->shape.h) {
      move_pixels(NULL, 0, 0, y, r.at, 0, W);
      continue;
    }
    const gsize xrow = r.at / (gsize)H * (gsize)x->shape.h + (gsize)h;
    move_pixels(NULL, 0, 0, y, r.at, 0, from);
    move_pixels(x, xrow, left, y, r.at, from, to);
    move_pixels(NULL, 0, 0, y, r.at, to, W);
  }
}

void KERNEL(zero)(const TmTeam *team, const TmView *y) {
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++)
    move_pixels(NULL, 0, 0, y, r.at, 0, y->shape.w);
}

/* The pixel that position @i of a reflected axis of @size pixels shows: one reflection without the edge,
 * clamped where that leaves the axis. */
TM_INLINE int reflected(int i, int size) {
  const int k = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
  return between(k, 0, size - 1);
}

void KERNEL(pad_reflect)(const TmTeam *team, const TmView *x, int top, int left, const TmView *y) {
  const int H = y->shape.h, W = y->shape.w;
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) {
    const int h = reflected((int)(r.at % (gsize)H) - top, x->shape.h);
    const gsize xrow = r.at / (gsize)H * (gsize)x->shape.h + (gsize)h;
    for (int w = 0; w < W; w++) move_pixels(x, xrow, w - reflected(w - left, x->shape.w), y, r.at, w, w + 1);
  }
}

TM_INLINE void reflect_dx_pixel(int n, TmDType t, const TmView *dy, int top, int left, const TmView *dx,
                                gsize image, int h, int w, int c) {
  vf s = v_set(0);
  for (int i = 0; i < dy->shape.h; i++) {
    if (reflected(i - top, dx->shape.h) != h) continue;
    for (int j = 0; j < dy->shape.w; j++)
      if (reflected(j - left, dx->shape.w) == w)
        s = s + v_get(dy->data, view_at(dy, image * (gsize)dy->shape.h + (gsize)i, j) + (gsize)c, t, n);
  }
  v_put(dx->data, view_at(dx, image * (gsize)dx->shape.h + (gsize)h, w) + (gsize)c, t, n, s);
}

/* Pixels far from the edges are shown once: only a margin as wide as the pads has to search. */
TM_INLINE gboolean shown_once(int i, int before, int after, int size) {
  return i > before && i < size - 1 - after;
}

void KERNEL(pad_reflect_dx)(const TmTeam *team, const TmView *dy, int top, int left, const TmView *dx) {
  const int H = dx->shape.h, W = dx->shape.w, bottom = dy->shape.h - H - top, right = dy->shape.w - W - left;
  TM_PARALLEL(team, view_count(dy))
  for (TmRange r = my_share(view_rows(dx)); r.at < r.end; r.at++) {
    const gsize image = r.at / (gsize)H;
    const int h = (int)(r.at % (gsize)H);
    for (int w = 0; w < W; w++) {
      if (shown_once(h, top, bottom, H) && shown_once(w, left, right, W)) {
        move_pixels(dy, image * (gsize)dy->shape.h + (gsize)(h + top), -left, dx, r.at, w, w + 1);
        continue;
      }
      for (FOR_LANES(c, n, dx->shape.c))
        BY_TYPE(dx->dtype, n, reflect_dx_pixel, dy, top, left, dx, image, h, w, c);
    }
  }
}
