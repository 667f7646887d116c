/* winograd.c: the forward kernel, which is also the adjoint with the weights turned, and the packing of the
 * weights.
 *
 * A tile of 2x2 outputs needs 4x4 inputs d. With V = B^T d B and U = G g G^T, the outputs are A^T (U . V) A,
 * . element by element and summed over input channels: 16 matrix products, one for each element ("plane"),
 * over all tiles of a block. */
#include "kernels/cpu/winograd.h"

/* ---- input ---- */

/* 32 channels of a pixel: those of even number and those of odd. Splitting so costs one operation each, and
 * writing both as bf16 side by side one more, which leaves them in this order: weights are packed to match.
 */
typedef struct {
  vf even, odd;
} Both;

TM_INLINE Both split(__m512i x) {
  return (Both){_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)),
                _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int)0xffff0000)))};
}
TM_INLINE Both sum(Both a, Both b) {
  return (Both){a.even + b.even, a.odd + b.odd};
}
TM_INLINE Both difference(Both a, Both b) {
  return (Both){a.even - b.even, a.odd - b.odd};
}
TM_INLINE void put_both(guint16 *p, Both a) {
  _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(a.odd, a.even));
}

/* One column of B^T d: B^T = (1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1). */
TM_INLINE void column_of_32(const Rows *r, int w, Both k[4]) {
  if (w < 0 || w >= r->width) {
    for (int i = 0; i < 4; i++) k[i] = (Both){v_set(0), v_set(0)};
    return;
  }
  const gsize at = (gsize)w;
  const Both a = split(_mm512_loadu_si512(r->at[0] + at * r->step[0])),
             b = split(_mm512_loadu_si512(r->at[1] + at * r->step[1])),
             c = split(_mm512_loadu_si512(r->at[2] + at * r->step[2])),
             d = split(_mm512_loadu_si512(r->at[3] + at * r->step[3]));
  k[0] = difference(a, c);
  k[1] = sum(b, c);
  k[2] = difference(c, b);
  k[3] = difference(b, d);
}

/* 32 channels of @n tiles of a row, the first at column @w of the picture: v[plane * f + t * step]. */
static void input_tiles(const Rows *r, int w, int n, guint16 *v, gsize step, gsize plane) {
  Both a[4], b[4], c[4], d[4];
  column_of_32(r, w, a);
  column_of_32(r, w + 1, b);
  for (int t = 0; t < n; t++, v += step) {
    ask_for(r, w + 2 * t + AHEAD);
    column_of_32(r, w + 2 * t + 2, c);
    column_of_32(r, w + 2 * t + 3, d);
    for (int i = 0; i < 4; i++) {
      guint16 *to = v + (gsize)(4 * i) * plane;
      put_both(to, difference(a[i], c[i]));
      put_both(to + plane, sum(b[i], c[i]));
      put_both(to + 2 * plane, difference(c[i], b[i]));
      put_both(to + 3 * plane, difference(b[i], d[i]));
      a[i] = c[i];
      b[i] = d[i];
    }
  }
}

/* ---- output ---- */

/* Of 32 channels: two vectors. */
typedef struct {
  vf sum[2], square[2];
} Sums;

/* What happens to outputs beside being stored. */
typedef enum { AS_THEY_ARE, SUMMED, BIASED, BIASED_RELU } After;

/* A tile of 32 channels. @keep: bit i says whether output i lies in the picture. @s: sums to add to, or, as
 * s->sum, the bias. */
TM_INLINE void output_both(const After after, const float *m, gsize plane, int keep, guint16 *y, gsize ld,
                           gsize row, Sums *s) {
  vf o[2][4];
  winograd_output(m, plane, o[0]);
  winograd_output(m + VL, plane, o[1]);
  for (int i = 0; after >= BIASED && i < 8; i++) {
    vf *x = &o[i / 4][i % 4];
    *x = *x + s->sum[i / 4];
    if (after == BIASED_RELU) *x = v_relu(*x);
  }
  for (int i = 0; i < 4; i++) {
    if (!(keep >> i & 1)) continue;
    _mm512_storeu_si512(y + (gsize)(i / 2) * row + (gsize)(i % 2) * ld,
                        (__m512i)_mm512_cvtne2ps_pbh(o[1][i], o[0][i]));
    for (int h = 0; after == SUMMED && h < 2; h++) {
      s->sum[h] = s->sum[h] + o[h][i];
      s->square[h] = v_fma(o[h][i], o[h][i], s->square[h]);
    }
  }
}

/* One row of tiles. @y: the first tile's first output; @columns of the picture from there on. */
TM_INLINE void output_row(const After after, const float *m, gsize plane, int n, guint16 *y, gsize ld,
                          gsize row, int columns, gboolean below, Sums *s) {
  const int whole = columns / 2 < n ? columns / 2 : n;
  for (int t = 0; t < whole && below; t++)
    output_both(after, m + t * TM_WINOGRAD_OUT, plane, 15, y + (gsize)(2 * t) * ld, ld, row, s);
  for (int t = below ? whole : 0; t < n; t++)
    output_both(after, m + t * TM_WINOGRAD_OUT, plane, (below ? 15 : 3) & (2 * t + 1 < columns ? 15 : 5),
                y + (gsize)(2 * t) * ld, ld, row, s);
}

/* ---- one block of tiles ---- */

typedef struct {
  const TmView *x, *y;
  const guint16 *packed;
  const float *bias; /* or NULL */
  gboolean relu;
  TmWinogradCut cut;
  guint16 *v;
  float *m;
} Winograd;

static void transform_input(const Winograd *z, const TmWinogradPlace *p) {
  const gsize C = (gsize)z->x->shape.c;
  for (int i = 0; i < p->rows; i++)
    for (gsize c = 0; c < C; c += 32) {
      const Rows r = rows_of(z->x, p->image, 2 * (p->top + i) - 1, (int)c);
      input_tiles(&r, 2 * p->left - 1, p->columns, z->v + (gsize)(i * p->columns) * C + c, C, z->cut.plane);
    }
}

/* The 16 products for outputs o .. o+31. */
static void multiply(const Winograd *z, const TmWinogradPlace *p, int o) {
  const int C = z->x->shape.c;
  const gssize tap = 0;
  const gsize block = micro_block(TM_BF16, 1, C);
  Micro q = {.ldx = (gsize)C * 2,
             .taps = &tap,
             .n_taps = 1,
             .depth = C,
             .ldy = TM_WINOGRAD_OUT * sizeof(float),
             .outs = TM_WINOGRAD_OUT};
  for (gsize f = 0; f < 16; f++) {
    q.x = z->v + f * z->cut.plane;
    q.b = (const char *)z->packed + ((gsize)(o / TM_WINOGRAD_OUT) * 16 + f) * block;
    q.y = z->m + f * z->cut.product;
    KERNEL(micro_row)(TM_BF16, TM_F32, &q, p->rows * p->columns);
  }
}

static void transform_output(const Winograd *z, const TmWinogradPlace *p, int o, float *sums) {
  const TmView *y = z->y;
  const gsize ld = (gsize)y->ld, row = ld * (gsize)y->shape.w;
  const After after = sums ? SUMMED : z->relu ? BIASED_RELU : z->bias ? BIASED : AS_THEY_ARE;
  Sums s = {{v_set(0), v_set(0)}, {v_set(0), v_set(0)}};
  for (int h = 0; z->bias && h < 2; h++) s.sum[h] = v_load(z->bias + o + h * VL);
  for (int i = 0; i < p->rows; i++) {
    const int h = 2 * (p->top + i), w = 2 * p->left;
    guint16 *to = (guint16 *)y->data + view_at(y, p->image * (gsize)y->shape.h + (gsize)h, w) + o;
    const float *m = z->m + (gsize)(i * p->columns) * TM_WINOGRAD_OUT;
    const gboolean below = h + 1 < y->shape.h;
#define ROW(kind)                                                                                            \
  case kind:                                                                                                 \
    output_row(kind, m, z->cut.product, p->columns, to, ld, row, y->shape.w - w, below, &s);                 \
    break
    switch (after) {
      ROW(AS_THEY_ARE);
      ROW(SUMMED);
      ROW(BIASED);
      ROW(BIASED_RELU);
    }
#undef ROW
  }
  for (int h = 0; sums && h < 2; h++) {
    v_store(sums + o + h * VL, s.sum[h]);
    v_store(sums + y->shape.c + o + h * VL, s.square[h]);
  }
}

void KERNEL(winograd)(const TmTeam *team, const TmView *x, const void *packed, const float *bias,
                      gboolean relu, const TmView *y, float *stats) {
  const TmWinogradCut cut = tm_winograd_cut(x->shape, TM_BF16);
  const gsize pieces = tm_winograd_pieces(&cut, x->shape), C = (gsize)y->shape.c;
  gsize next = 0;
  TM_PARALLEL(team, view_count(x) * 9) {
    const Winograd z = {.x = x,
                        .y = y,
                        .packed = packed,
                        .bias = bias,
                        .relu = relu,
                        .cut = cut,
                        .v = my_work(team),
                        .m = (float *)((guint16 *)my_work(team) + 16 * cut.plane)};
    for (TmRange r; take(&next, pieces, 1, &r);) {
      const TmWinogradPlace p = tm_winograd_place(&cut, r.at);
      transform_input(&z, &p);
      for (int o = 0; o < y->shape.c; o += TM_WINOGRAD_OUT) {
        multiply(&z, &p, o);
        transform_output(&z, &p, o, stats ? (float *)team->shared + 2 * C * r.at : NULL);
      }
    }
  }
  if (stats) stats_of_pieces(team->shared, pieces, y->shape.c, tm_shape_pixels(y->shape), stats);
}

/* ---- weights ---- */

/* u = G g G^T for 16 kernels side by side: G = (1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1). @w: the first tap;
 * @tap: elements to the next. */
TM_INLINE void kernel_tiles(const float *w, gsize tap, vf u[16]) {
  const vf half = v_set(0.5f);
  vf t[4][3];
  for (int j = 0; j < 3; j++) {
    const vf a = v_load(w + (gsize)j * tap), b = v_load(w + (gsize)(3 + j) * tap),
             c = v_load(w + (gsize)(6 + j) * tap), s = half * (a + c), m = half * b;
    t[0][j] = a;
    t[1][j] = s + m;
    t[2][j] = s - m;
    t[3][j] = c;
  }
  for (int i = 0; i < 4; i++) {
    const vf s = half * (t[i][0] + t[i][2]), m = half * t[i][1];
    u[4 * i] = t[i][0];
    u[4 * i + 1] = s + m;
    u[4 * i + 2] = s - m;
    u[4 * i + 3] = t[i][2];
  }
}

/* The channel at place @k of a transformed input: those of even number come first in each 32. */
TM_INLINE int channel_at(int k) {
  return k / 32 * 32 + (k % 16) * 2 + k % 32 / 16;
}

/* Outputs are w's rows: for 16 of them and 32 inputs, words of two inputs are turned. */
static void pack_forward(const float *w, int I, int first, guint16 *block, gsize plane) {
  const __m512i order =
      _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 30, 28, 26, 24, 22, 20, 18,
                       16, 14, 12, 10, 8, 6, 4, 2, 0); /* channel_at() */
  for (int half = 0; half < 2; half++)
    for (int k = 0; k < I; k += 32) {
      __m512i word[16][16]; /* by plane and output */
      for (int j = 0; j < 16; j++) {
        const float *p = w + (gsize)(first + half * 16 + j) * 9 * (gsize)I + k;
        vf low[16], high[16];
        kernel_tiles(p, (gsize)I, low);
        kernel_tiles(p + 16, (gsize)I, high);
        for (int f = 0; f < 16; f++)
          word[f][j] = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(high[f], low[f]));
      }
      for (int f = 0; f < 16; f++) {
        transpose16(word[f]);
        for (int j = 0; j < 16; j++)
          _mm512_storeu_si512(block + (gsize)f * plane + ((gsize)(k / 2 + j) * 2 + (gsize)half) * 32,
                              word[f][j]);
      }
    }
}

/* Outputs are w's columns, and the kernel is turned by half: planes 0 and 3 of either direction change
 * places. */
static void pack_backward(const float *w, int I, int first, int depth, guint16 *block, gsize plane) {
  static const int turned[4] = {3, 1, 2, 0};
  for (int half = 0; half < 2; half++)
    for (int k = 0; k < depth; k += 2) {
      const int i = first + half * 16;
      vf one[16], next[16];
      kernel_tiles(w + (gsize)channel_at(k) * 9 * (gsize)I + i, (gsize)I, one);
      kernel_tiles(w + (gsize)channel_at(k + 1) * 9 * (gsize)I + i, (gsize)I, next);
      for (int f = 0; f < 16; f++) {
        const gsize to = (gsize)(turned[f / 4] * 4 + turned[f % 4]);
        _mm512_storeu_si512(block + to * plane + ((gsize)k + (gsize)half) * 32, paired(one[f], next[f]));
      }
    }
}

void KERNEL(winograd_pack)(const TmTeam *team, const float *w, int out, int in, gboolean backward,
                           void *packed) {
  const int outs = backward ? in : out, depth = backward ? out : in;
  const gsize plane = micro_block(TM_BF16, 1, depth) / 2;
  gsize next = 0;
  TM_PARALLEL(team, (gsize)out * (gsize)in * 9)
  for (TmRange r; take(&next, (gsize)outs / TM_WINOGRAD_OUT, 1, &r);) {
    guint16 *block = (guint16 *)packed + r.at * 16 * plane;
    if (backward)
      pack_backward(w, in, (int)r.at * TM_WINOGRAD_OUT, depth, block, plane);
    else
      pack_forward(w, in, (int)r.at * TM_WINOGRAD_OUT, block, plane);
  }
}
