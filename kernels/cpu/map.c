/* map.c: elementwise kernels. A row of a dense view is one run of W*C elements; a row of a slice is W runs of
 * C. */
#include "engine/core/random.h"
#include "kernels/cpu/isa.h"

TM_INLINE vf sigmoid(vf x) {
  return v_set(1) / (v_set(1) + v_exp(v_set(0) - x));
}

TM_INLINE vf apply(TmMapOp op, vf a, vf b, float k) {
  switch (op) {
  case TM_MAP_RELU:
    return v_relu(a);
  case TM_MAP_RELU_DX:
    return v_keep(v_gt(b, v_set(0)), a);
  case TM_MAP_SIGMOID:
    return sigmoid(a);
  case TM_MAP_SIGMOID_DX:
    return a * b * (v_set(1) - b);
  case TM_MAP_ADD:
    return a + b;
  case TM_MAP_MUL:
    return a * b;
  default:
    return a * v_set(k);
  }
}

TM_INLINE void map_lanes(int n, TmMapOp op, TmDType ta, TmDType tb, TmDType ty, const void *a, gsize i,
                         const void *b, gsize j, float k, void *y, gsize o) {
  const vf u = v_get(a, i, ta, n), v = b ? v_get(b, j, tb, n) : v_set(0);
  v_put(y, o, ty, n, apply(op, u, v, k));
}

TM_INLINE void map_run(TmMapOp op, TmDType ta, TmDType tb, TmDType ty, const void *a, gsize i, const void *b,
                       gsize j, float k, void *y, gsize o, gsize count) {
  gsize e = 0;
  for (; e + VL <= count; e += VL) map_lanes(VL, op, ta, tb, ty, a, i + e, b, j + e, k, y, o + e);
  if (e < count) map_lanes((int)(count - e), op, ta, tb, ty, a, i + e, b, j + e, k, y, o + e);
}

TM_INLINE void map_row(TmMapOp op, TmDType ta, TmDType tb, TmDType ty, const TmView *a, const TmView *b,
                       float k, const TmView *y, gsize row) {
  const gboolean whole = tm_view_dense(a) && tm_view_dense(y) && (!b || tm_view_dense(b));
  const int runs = whole ? 1 : y->shape.w;
  const gsize count = (gsize)y->shape.c * (gsize)(whole ? y->shape.w : 1);
  for (int w = 0; w < runs; w++)
    map_run(op, ta, tb, ty, a->data, view_at(a, row, w), b ? b->data : NULL, b ? view_at(b, row, w) : 0, k,
            y->data, view_at(y, row, w), count);
}

TM_INLINE void map_types(TmMapOp op, const TmView *a, const TmView *b, float k, const TmView *y, gsize row) {
  const TmDType ta = a->dtype, tb = b ? b->dtype : ta, ty = y->dtype;
  if (ta == TM_F32 && tb == TM_F32 && ty == TM_F32)
    map_row(op, TM_F32, TM_F32, TM_F32, a, b, k, y, row);
  else if (ta == TM_BF16 && tb == TM_BF16 && ty == TM_BF16)
    map_row(op, TM_BF16, TM_BF16, TM_BF16, a, b, k, y, row);
  else
    map_row(op, ta, tb, ty, a, b, k, y, row);
}

void KERNEL(map)(const TmTeam *team, TmMapOp op, const TmView *a, const TmView *b, float k, const TmView *y) {
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) switch (op) {
    case TM_MAP_RELU:
      map_types(TM_MAP_RELU, a, NULL, k, y, r.at);
      break;
    case TM_MAP_RELU_DX:
      map_types(TM_MAP_RELU_DX, a, b, k, y, r.at);
      break;
    case TM_MAP_SIGMOID:
      map_types(TM_MAP_SIGMOID, a, NULL, k, y, r.at);
      break;
    case TM_MAP_SIGMOID_DX:
      map_types(TM_MAP_SIGMOID_DX, a, b, k, y, r.at);
      break;
    case TM_MAP_ADD:
      map_types(TM_MAP_ADD, a, b, k, y, r.at);
      break;
    case TM_MAP_MUL:
      map_types(TM_MAP_MUL, a, b, k, y, r.at);
      break;
    case TM_MAP_SCALE:
      map_types(TM_MAP_SCALE, a, NULL, k, y, r.at);
      break;
    }
}

TM_INLINE void dropout_row(int n, TmDType t, const TmView *x, float p, guint64 key, guint64 tick,
                           const TmView *y, gsize row, int c) {
  const vf scale = v_set(1 / (1 - p));
  for (int w = 0; w < y->shape.w; w++) {
    const gsize first = (row * (gsize)y->shape.w + (gsize)w) * (gsize)y->shape.c + (gsize)c;
    float keep[VL] = {0};
    for (int i = 0; i < n; i++)
      keep[i] = (float)(tm_random_hash(key, tick, first + (gsize)i) >> 40) * 0x1p-24f >= p;
    const vf v = v_get(x->data, view_at(x, row, w) + (gsize)c, t, n) * scale;
    v_put(y->data, view_at(y, row, w) + (gsize)c, t, n, v_keep(v_gt(v_load(keep), v_set(0)), v));
  }
}

void KERNEL(dropout)(const TmTeam *team, const TmView *x, float p, guint64 key, guint64 tick,
                     const TmView *y) {
  TM_PARALLEL(team, view_count(y))
  for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++)
    for (FOR_LANES(c, n, y->shape.c)) BY_TYPE(y->dtype, n, dropout_row, x, p, key, tick, y, r.at, c);
}

/* One row of C-channel pixels through a table of every byte's value. */
TM_INLINE void normalize_row(TmDType t, const guint8 *x, const float *table, int C, int width, void *y,
                             gsize i, int ld) {
  for (int w = 0; w < width; w++, i += (gsize)ld)
    for (int c = 0; c < C; c++) {
      const float v = table[c * 256 + *x++];
      if (t == TM_BF16)
        ((guint16 *)y)[i + (gsize)c] = tm_f32_to_bf16(v);
      else
        ((float *)y)[i + (gsize)c] = v;
    }
}

void KERNEL(normalize)(const TmTeam *team, const TmView *pixels, const float *mean, const float *std,
                       const TmView *y) {
  const int C = pixels->shape.c;
  float table[4 * 256];
  for (int from = 0; from < C; from += 4) { /* four channels at a time: pictures have three */
    const int part = C - from < 4 ? C - from : 4;
    for (int c = 0; c < part; c++)
      for (int v = 0; v < 256; v++) table[c * 256 + v] = ((float)v - mean[from + c]) / std[from + c];
    TM_PARALLEL(team, view_count(y))
    for (TmRange r = my_share(view_rows(y)); r.at < r.end; r.at++) {
      const guint8 *x = (const guint8 *)pixels->data + view_at(pixels, r.at, 0) + from;
      const gsize i = view_at(y, r.at, 0) + (gsize)from;
      if (part == C && tm_view_dense(pixels)) {
        if (y->dtype == TM_BF16)
          normalize_row(TM_BF16, x, table, C, y->shape.w, y->data, i, y->ld);
        else
          normalize_row(TM_F32, x, table, C, y->shape.w, y->data, i, y->ld);
      } else {
        for (int w = 0; w < y->shape.w; w++)
          normalize_row(y->dtype, x + (gsize)w * (gsize)pixels->ld, table, part, 1, y->data,
                        i + (gsize)w * (gsize)y->ld, y->ld);
      }
    }
  }
}
