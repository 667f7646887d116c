/* loss.c: softmax, losses and readings over the classes of each pixel.
 *
 * VL pixels at a time are turned on their side: tile[c * VL + i] is class c of pixel i, so that all classes
 * of a pixel stay in one lane and nothing is summed across lanes. Lanes past the last pixel hold 0. */
#include "kernels/cpu/isa.h"
#include "kernels/cpu/pairs.h"

#ifdef TM_SIMD_AVX512
/* 16 classes at a time: pixels are rows of words, which are turned. */
TM_INLINE void load_tile(TmDType t, const TmView *x, gsize row, int w, int n, float *tile) {
  const int C = x->shape.c;
  const gsize i = view_at(x, row, w), ld = (gsize)x->ld;
  for (int c = 0; c < C; c += 16) {
    const int part = C - c < 16 ? C - c : 16;
    __m512i r[16];
    for (int k = 0; k < 16; k++)
      r[k] = k < n ? v_bits(v_get(x->data, i + (gsize)k * ld + (gsize)c, t, part)) : vi_set(0);
    transpose16(r);
    for (int j = 0; j < part; j++) v_store(tile + (c + j) * VL, v_of_bits(r[j]));
  }
}

TM_INLINE void store_tile(TmDType t, const TmView *y, gsize row, int w, int n, const float *tile) {
  const int C = y->shape.c;
  const gsize i = view_at(y, row, w), ld = (gsize)y->ld;
  for (int c = 0; c < C; c += 16) {
    const int part = C - c < 16 ? C - c : 16;
    __m512i r[16];
    for (int j = 0; j < 16; j++) r[j] = j < part ? v_bits(v_load(tile + (c + j) * VL)) : vi_set(0);
    transpose16(r);
    for (int k = 0; k < n; k++) v_put(y->data, i + (gsize)k * ld + (gsize)c, t, part, v_of_bits(r[k]));
  }
}
#else
TM_INLINE void load_tile(TmDType t, const TmView *x, gsize row, int w, int n, float *tile) {
  const int C = x->shape.c;
  if (n < VL) memset(tile, 0, sizeof(float) * VL * (gsize)C);
  gsize i = view_at(x, row, w);
  for (int k = 0; k < n; k++, i += (gsize)x->ld)
    for (int c = 0; c < C; c++)
      tile[c * VL + k] = t == TM_BF16 ? tm_bf16_to_f32(((const guint16 *)x->data)[i + (gsize)c])
                                      : ((const float *)x->data)[i + (gsize)c];
}

TM_INLINE void store_tile(TmDType t, const TmView *y, gsize row, int w, int n, float *tile) {
  const int C = y->shape.c;
  gsize i = view_at(y, row, w);
  if (t == TM_F32) {
    for (int k = 0; k < n; k++, i += (gsize)y->ld)
      for (int c = 0; c < C; c++) ((float *)y->data)[i + (gsize)c] = tile[c * VL + k];
    return;
  }
  guint16 *half = (guint16 *)tile; /* class c's values shrink onto the first half of its place */
  for (int c = 0; c < C; c++) v_store_bf16(half + 2 * c * VL, v_load(tile + c * VL));
  for (int k = 0; k < n; k++, i += (gsize)y->ld)
    for (int c = 0; c < C; c++) ((guint16 *)y->data)[i + (gsize)c] = half[2 * c * VL + k];
}
#endif

/* tile = e^(x - max) per pixel; returns the sums. @top gets the maxima. */
TM_INLINE vf exp_tile(int C, float *tile, vf *top) {
  vf m = v_load(tile), s = v_set(0);
  for (int c = 1; c < C; c++) m = v_greatest(m, v_load(tile + c * VL));
  for (int c = 0; c < C; c++) {
    const vf e = v_exp(v_load(tile + c * VL) - m);
    v_store(tile + c * VL, e);
    s = s + e;
  }
  *top = m;
  return s;
}

TM_INLINE int lanes_left(int width, int w) {
  return width - w < VL ? width - w : VL;
}

/* Of n pixels: labels as floats, -1 in the other lanes; tile[label], of what counts; weights[label], 0 where
 * the label does not count. */
#ifdef TM_SIMD_AVX512
TM_INLINE vi label_ints(const guint8 *labels, int n) {
  return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(v_first(n), labels));
}
TM_INLINE vf load_labels(const guint8 *labels, int n) {
  return v_select(v_first(n), v_from_int(label_ints(labels, n)), v_set(-1));
}
TM_INLINE vf pick(const float *tile, const guint8 *labels, int n, int C) {
  const vi lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const vi l = label_ints(labels, n);
  const vm in = _mm512_mask_cmplt_epi32_mask(v_first(n), l, vi_set(C));
  return _mm512_mask_i32gather_ps(v_load(tile), in, vi_add(vi_shl(l, 4), lane), tile, sizeof(float));
}
TM_INLINE vf weights_of(const float *weights, const guint8 *labels, int n, int C) {
  const vi l = label_ints(labels, n);
  const vm in = _mm512_mask_cmplt_epi32_mask(v_first(n), l, vi_set(C));
  return _mm512_mask_i32gather_ps(v_set(0), in, l, weights, sizeof(float));
}
#else
TM_INLINE vf load_labels(const guint8 *labels, int n) {
  float l[VL];
  for (int k = 0; k < VL; k++) l[k] = k < n ? (float)labels[k] : -1;
  return v_load(l);
}
TM_INLINE vf pick(const float *tile, const guint8 *labels, int n, int C) {
  float p[VL];
  for (int k = 0; k < VL; k++) p[k] = tile[(k < n && labels[k] < C ? labels[k] : 0) * VL + k];
  return v_load(p);
}
TM_INLINE vf weights_of(const float *weights, const guint8 *labels, int n, int C) {
  float p[VL];
  for (int k = 0; k < VL; k++) p[k] = k < n && labels[k] < C ? weights[labels[k]] : 0;
  return v_load(p);
}
#endif

/* Where a label counts. */
TM_INLINE vm counted(vf label, int C) {
  return v_and(v_gt(v_set((float)C), label), v_gt(label, v_set(-1)));
}

TM_INLINE const guint8 *label_row(const TmView *labels, gsize row) {
  return (const guint8 *)labels->data + row * (gsize)labels->shape.w;
}

TM_INLINE void softmax_row(TmDType t, const TmView *x, const TmView *y, gsize row, float *tile) {
  const int C = x->shape.c, W = x->shape.w;
  for (int w = 0; w < W; w += VL) {
    const int n = lanes_left(W, w);
    vf top;
    load_tile(t, x, row, w, n, tile);
    const vf inv = v_set(1) / exp_tile(C, tile, &top);
    for (int c = 0; c < C; c++) v_store(tile + c * VL, v_load(tile + c * VL) * inv);
    store_tile(t, y, row, w, n, tile);
  }
}

void KERNEL(softmax)(const TmTeam *team, const TmView *x, const TmView *y) {
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++) {
    if (x->dtype == TM_BF16)
      softmax_row(TM_BF16, x, y, r.at, my_work(team));
    else
      softmax_row(TM_F32, x, y, r.at, my_work(team));
  }
}

/* Sum of the weights of all counted labels. */
static double weight_sum(const TmTeam *team, const TmView *labels, const float *weights, int C) {
  double sum = 0;
  gsize counts[256] = {0};
  clear_sums(team, 256);
  TM_PARALLEL(team, view_count(labels)) {
    double *mine = my_work(team);
    guint32 n[4][256]; /* a picture's neighbours are often alike: one count would wait for itself */
    for (TmRange r = my_share(view_rows(labels)); r.at < r.end; r.at++) {
      const guint8 *l = label_row(labels, r.at);
      memset(n, 0, sizeof n);
      for (int w = 0; w < labels->shape.w; w++) n[w % 4][l[w]]++;
      for (int c = 0; c < 256; c++) mine[c] += n[0][c] + n[1][c] + n[2][c] + n[3][c];
    }
  }
  for (int c = 0; c < 256 && c < C; c++) {
    counts[c] = (gsize)total(team, (gsize)c);
    if (counts[c]) sum += (double)weights[c] * (double)counts[c];
  }
  return sum;
}

typedef struct {
  const TmView *x, *labels, *dx; /* dx or NULL */
  const float *weights;
  float gamma;
  float scale; /* dloss / sum of weights */
} CrossEntropy;

/* (1 - p)^e for p in [0, 1]. Few whole exponents are common; others take the library's pow. */
TM_INLINE vf power_of_rest(vf p, float e) {
  const vf q = v_max(v_set(0), v_set(1) - p);
  if (e == 0) return v_set(1);
  if (e == 1) return q;
  if (e == 2) return q * q;
  float t[VL];
  v_store(t, q);
  for (int k = 0; k < VL; k++) t[k] = powf(t[k], e);
  return v_load(t);
}

/* One row: returns the sum of w (1-p)^gamma nll; with dx also writes the gradient. */
TM_INLINE double cross_entropy_row(TmDType t, const CrossEntropy *a, gsize row, float *tile) {
  const int C = a->x->shape.c, W = a->x->shape.w;
  const guint8 *labels = label_row(a->labels, row);
  vf loss = v_set(0);
  for (int w = 0; w < W; w += VL) {
    const int n = lanes_left(W, w);
    const vf label = load_labels(labels + w, n);
    const vm in = counted(label, C);
    load_tile(t, a->x, row, w, n, tile);
    const vf z = pick(tile, labels + w, n, C);
    vf top;
    const vf sum = exp_tile(C, tile, &top), inv = v_set(1) / sum;
    const vf log_p = v_keep(in, z - top - v_log(sum));
    const vf wt = weights_of(a->weights, labels + w, n, C);
    vf slope = wt * v_set(a->scale);
    if (a->gamma == 0) {
      loss = loss - wt * log_p;
    } else {
      const vf p = v_exp(log_p), rest = power_of_rest(p, a->gamma);
      loss = loss - wt * rest * log_p;
      /* -(gamma p (1-p)^(gamma-1) log p - (1-p)^gamma); at p = 1 the first part is 0, for log p is 0 faster
       * than a negative power grows */
      const vf near =
          v_keep(v_gt(v_set(0), log_p), v_set(a->gamma) * p * power_of_rest(p, a->gamma - 1) * log_p);
      slope = slope * (rest - near);
    }
    if (!a->dx) continue;
    slope = v_keep(in, slope);
    for (int c = 0; c < C; c++) {
      const vf share = v_load(tile + c * VL) * inv;
      const vf hit = v_keep(v_eq(label, v_set((float)c)), v_set(1));
      v_store(tile + c * VL, v_keep(in, slope * (share - hit)));
    }
    store_tile(t, a->dx, row, w, n, tile);
  }
  return v_sum(loss);
}

void KERNEL(cross_entropy)(const TmTeam *team, const TmView *x, const TmView *labels, const float *weights,
                           float gamma, float *loss, const float *dloss, const TmView *dx) {
  const double sum = weight_sum(team, labels, weights, x->shape.c);
  const double inv = sum > 0 ? 1 / sum : 0;
  const CrossEntropy a = {.x = x,
                          .labels = labels,
                          .dx = dx,
                          .weights = weights,
                          .gamma = gamma,
                          .scale = dloss ? (float)(*dloss * inv) : 0};
  clear_sums(team, 1);
  TM_PARALLEL(team, view_count(x)) {
    double *mine = my_work(team);
    float *tile = (float *)(mine + 8);
    for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++)
      *mine += x->dtype == TM_BF16 ? cross_entropy_row(TM_BF16, &a, r.at, tile)
                                   : cross_entropy_row(TM_F32, &a, r.at, tile);
  }
  if (loss) *loss = (float)(total(team, 0) * inv);
}

/* Per class of one row: sum of p where it is the truth, of p^2, and the truth's pixels. */
TM_INLINE void dice_sums_row(TmDType t, const TmView *x, const TmView *labels, gsize row, float *tile,
                             double *hit, double *square, double *truth) {
  const int C = x->shape.c, W = x->shape.w;
  const guint8 *l = label_row(labels, row);
  for (int w = 0; w < W; w += VL) {
    const int n = lanes_left(W, w);
    const vf label = load_labels(l + w, n);
    vf top;
    load_tile(t, x, row, w, n, tile);
    const vf inv = v_keep(counted(label, C), v_set(1) / exp_tile(C, tile, &top));
    for (int c = 0; c < C; c++) {
      const vf p = v_load(tile + c * VL) * inv;
      const vm here = v_eq(label, v_set((float)c));
      hit[c] += v_sum(v_keep(here, p));
      square[c] += v_sum(p * p);
      truth[c] += v_sum(v_keep(here, v_set(1)));
    }
  }
}

/* q = b p - a t, t being 1 at the truth: the loss's slope by the share p of class c; a and b hold dloss and
 * the classes' fractions. */
TM_INLINE vf dice_slope(vf p, vf label, int c, const float *a, const float *b) {
  return v_set(b[c]) * p - v_keep(v_eq(label, v_set((float)c)), v_set(a[c]));
}

/* dz = p (q - sum p q). */
TM_INLINE void dice_dx_row(TmDType t, const TmView *x, const TmView *labels, const float *a, const float *b,
                           const TmView *dx, gsize row, float *tile) {
  const int C = x->shape.c, W = x->shape.w;
  const guint8 *l = label_row(labels, row);
  for (int w = 0; w < W; w += VL) {
    const int n = lanes_left(W, w);
    const vf label = load_labels(l + w, n);
    const vm in = counted(label, C);
    vf top, dot = v_set(0);
    load_tile(t, x, row, w, n, tile);
    const vf inv = v_set(1) / exp_tile(C, tile, &top);
    for (int c = 0; c < C; c++) {
      const vf p = v_load(tile + c * VL) * inv;
      dot = v_fma(p, dice_slope(p, label, c, a, b), dot);
      v_store(tile + c * VL, p);
    }
    for (int c = 0; c < C; c++) {
      const vf p = v_load(tile + c * VL);
      v_store(tile + c * VL, v_keep(in, p * (dice_slope(p, label, c, a, b) - dot)));
    }
    store_tile(t, dx, row, w, n, tile);
  }
}

void KERNEL(dice)(const TmTeam *team, const TmView *x, const TmView *labels, float *loss, const float *dloss,
                  const TmView *dx) {
  const double smooth = 1e-6;
  const gsize C = (gsize)x->shape.c;
  clear_sums(team, 3 * C);
  TM_PARALLEL(team, view_count(x)) {
    double *hit = my_work(team);
    float *tile = (float *)(hit + 3 * C);
    for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++) {
      if (x->dtype == TM_BF16)
        dice_sums_row(TM_BF16, x, labels, r.at, tile, hit, hit + C, hit + 2 * C);
      else
        dice_sums_row(TM_F32, x, labels, r.at, tile, hit, hit + C, hit + 2 * C);
    }
  }
  int present = 0;
  double score = 0;
  for (gsize c = 0; c < C; c++) {
    if (total(team, 2 * C + c) <= 0) continue;
    present++;
    score += (2 * total(team, c) + smooth) / (total(team, C + c) + total(team, 2 * C + c) + smooth);
  }
  if (loss) *loss = present ? (float)(1 - score / present) : 0;
  if (!dx) return;
  float *a = (float *)((double *)team->work + 3 * C),
        *b = a + C; /* in the calling thread's space, past its sums; read by all */
  for (gsize c = 0; c < C; c++) {
    const double u = 2 * total(team, c) + smooth, truth = total(team, 2 * C + c),
                 v = total(team, C + c) + truth + smooth;
    const double k = truth > 0 ? (double)*dloss / present : 0;
    a[c] = (float)(2 * k / v);
    b[c] = (float)(2 * k * u / (v * v));
  }
  TM_PARALLEL(team, view_count(x)) {
    float *tile = (float *)((double *)my_work(team) + 4 * C); /* 2C floats are C doubles */
    for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++) {
      if (x->dtype == TM_BF16)
        dice_dx_row(TM_BF16, x, labels, a, b, dx, r.at, tile);
      else
        dice_dx_row(TM_F32, x, labels, a, b, dx, r.at, tile);
    }
  }
}

/* Classes of n pixels: the largest logit's, the lower one on a tie; a NaN never wins. */
TM_INLINE void argmax_tile(TmDType t, const TmView *x, gsize row, int w, int n, float *tile, guint8 *out) {
  load_tile(t, x, row, w, n, tile);
  vf best = v_set(-INFINITY), at = v_set(0);
  for (int c = 0; c < x->shape.c; c++) {
    const vf v = v_load(tile + c * VL);
    const vm more = v_gt(v, best);
    best = v_select(more, v, best);
    at = v_select(more, v_set((float)c), at);
  }
  float f[VL];
  v_store(f, at);
  for (int k = 0; k < n; k++) out[k] = (guint8)f[k];
}

void KERNEL(argmax)(const TmTeam *team, const TmView *x, const TmView *labels) {
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++) {
    guint8 *l = (guint8 *)labels->data + r.at * (gsize)labels->shape.w;
    for (int w = 0; w < x->shape.w; w += VL) {
      if (x->dtype == TM_BF16)
        argmax_tile(TM_BF16, x, r.at, w, lanes_left(x->shape.w, w), my_work(team), l + w);
      else
        argmax_tile(TM_F32, x, r.at, w, lanes_left(x->shape.w, w), my_work(team), l + w);
    }
  }
}

void KERNEL(confusion)(const TmTeam *team, const TmView *x, const TmView *labels, gint32 *counts) {
  const int C = x->shape.c;
  memset(counts, 0, sizeof(gint32) * (gsize)C * (gsize)C);
  TM_PARALLEL(team, view_count(x))
  for (TmRange r = my_share(view_rows(x)); r.at < r.end; r.at++) {
    const guint8 *l = label_row(labels, r.at);
    for (int w = 0; w < x->shape.w; w += VL) {
      const int n = lanes_left(x->shape.w, w);
      guint8 call[VL];
      argmax_tile(x->dtype, x, r.at, w, n, my_work(team), call);
      for (int k = 0; k < n; k++) {
        if (l[w + k] >= C) continue;
#pragma omp atomic
        counts[(int)l[w + k] * C + call[k]]++;
      }
    }
  }
}
