/* winograd.c: the forward kernel, which is also the adjoint with the weights turned, and the packing of the
 * weights.
 *
 * A tile of 2x2 outputs needs 4x4 inputs d. With V = B^T d B and U = G g G^T, the outputs are A^T (U . V) A,
 * . element by element and summed over input channels: 16 matrix products, one for each element ("plane"),
 * over all tiles of a block. */
#include "kernels/cpu/winograd.h"

/* ---- input ---- */

/* 16 channels of @n tiles of a row, the first at column @w - 1 of the picture: v[plane * f + t * step]. */
static void input_tiles(const Rows *r, int w, int n, guint16 *v, gsize step, gsize plane) {
  vf a[4], b[4], c[4], d[4];
  column(r, w, a);
  column(r, w + 1, b);
  for (int t = 0; t < n; t++, v += step) {
    column(r, w + 2 * t + 2, c);
    column(r, w + 2 * t + 3, d);
    for (int i = 0; i < 4; i++) {
      guint16 *to = v + (gsize)(4 * i) * plane;
      v_store_bf16(to, a[i] - c[i]);
      v_store_bf16(to + plane, b[i] + c[i]);
      v_store_bf16(to + 2 * plane, c[i] - b[i]);
      v_store_bf16(to + 3 * plane, b[i] - d[i]);
      a[i] = c[i];
      b[i] = d[i];
    }
  }
}

/* ---- output ---- */

typedef struct {
  vf sum, square;
} Sums;

/* The 2x2 outputs of 16 channels: A^T m A, A^T = (1 1 1 0; 0 1 -1 -1). */
TM_INLINE void output_tile(const float *m, gsize plane, vf o[4]) {
  vf k[4], l[4];
  for (int j = 0; j < 4; j++) {
    const vf a = v_load(m + (gsize)j * plane), b = v_load(m + (gsize)(4 + j) * plane);
    const vf c = v_load(m + (gsize)(8 + j) * plane), d = v_load(m + (gsize)(12 + j) * plane);
    k[j] = a + (b + c);
    l[j] = (b - c) - d;
  }
  o[0] = k[0] + (k[1] + k[2]);
  o[1] = (k[1] - k[2]) - k[3];
  o[2] = l[0] + (l[1] + l[2]);
  o[3] = (l[1] - l[2]) - l[3];
}

/* One row of tiles, 16 channels. @y: the first tile's first output. */
TM_INLINE void output_row(gboolean with_sums, const float *m, gsize plane, int n, guint16 *y, gsize ld,
                          gsize row, int columns, gboolean below, Sums *s) {
  vf sum = s->sum, square = s->square;
  for (int t = 0; t < n; t++, m += TM_WINOGRAD_OUT, y += 2 * ld) {
    const gboolean right = 2 * t + 1 < columns;
    vf o[4];
    output_tile(m, plane, o);
    v_store_bf16(y, o[0]);
    if (right) v_store_bf16(y + ld, o[1]);
    if (below) v_store_bf16(y + row, o[2]);
    if (right && below) v_store_bf16(y + row + ld, o[3]);
    if (!with_sums) continue;
    const vf none = v_set(0);
    if (!right) o[1] = o[3] = none;
    if (!below) o[2] = o[3] = none;
    sum = sum + ((o[0] + o[1]) + (o[2] + o[3]));
    square = v_fma(o[0], o[0], v_fma(o[1], o[1], v_fma(o[2], o[2], v_fma(o[3], o[3], square))));
  }
  s->sum = sum;
  s->square = square;
}

/* ---- one block of tiles ---- */

typedef struct {
  const TmView *x, *y;
  const guint16 *packed;
  TmWinogradCut cut;
  guint16 *v;
  float *m;
} Winograd;

typedef struct {
  gsize image;
  int top, left, rows, columns; /* in tiles */
} Place;

static Place place_of(const TmWinogradCut *c, gsize piece) {
  const gsize blocks = (gsize)c->down * (gsize)c->across, k = piece % blocks;
  Place p = {.image = piece / blocks,
             .top = (int)(k / (gsize)c->across) * c->rows,
             .left = (int)(k % (gsize)c->across) * c->columns};
  p.rows = c->high - p.top < c->rows ? c->high - p.top : c->rows;
  p.columns = c->wide - p.left < c->columns ? c->wide - p.left : c->columns;
  return p;
}

static void transform_input(const Winograd *z, const Place *p) {
  const gsize C = (gsize)z->x->shape.c;
  for (int i = 0; i < p->rows; i++)
    for (gsize c = 0; c < C; c += 16) {
      const Rows r = rows_of(z->x, p->image, 2 * (p->top + i) - 1, (int)c);
      input_tiles(&r, 2 * p->left - 1, p->columns, z->v + (gsize)(i * p->columns) * C + c, C, z->cut.plane);
    }
}

/* The 16 products for outputs o .. o+31. */
static void multiply(const Winograd *z, const Place *p, int o) {
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

static void transform_output(const Winograd *z, const Place *p, int o, float *sums) {
  const TmView *y = z->y;
  const gsize ld = (gsize)y->ld, row = ld * (gsize)y->shape.w;
  for (int c = o; c < o + TM_WINOGRAD_OUT && c < y->shape.c; c += 16) {
    Sums s = {v_set(0), v_set(0)};
    for (int i = 0; i < p->rows; i++) {
      const int h = 2 * (p->top + i), w = 2 * p->left;
      guint16 *to = (guint16 *)y->data + view_at(y, p->image * (gsize)y->shape.h + (gsize)h, w) + c;
      const float *m = z->m + (gsize)(i * p->columns) * TM_WINOGRAD_OUT + (c - o);
      const gboolean below = h + 1 < y->shape.h;
      if (sums)
        output_row(TRUE, m, z->cut.product, p->columns, to, ld, row, y->shape.w - w, below, &s);
      else
        output_row(FALSE, m, z->cut.product, p->columns, to, ld, row, y->shape.w - w, below, &s);
    }
    if (!sums) continue;
    v_store(sums + c, s.sum);
    v_store(sums + y->shape.c + c, s.square);
  }
}

void KERNEL(winograd)(const TmTeam *team, const TmView *x, const void *packed, const TmView *y,
                      float *stats) {
  const TmWinogradCut cut = tm_winograd_cut(x->shape);
  const gsize pieces = (gsize)x->shape.n * (gsize)cut.down * (gsize)cut.across, C = (gsize)y->shape.c;
  gsize next = 0;
  TM_PARALLEL(team, view_count(x) * 9) {
    const Winograd z = {.x = x,
                        .y = y,
                        .packed = packed,
                        .cut = cut,
                        .v = my_work(team),
                        .m = (float *)((guint16 *)my_work(team) + 16 * cut.plane)};
    for (TmRange r; take(&next, pieces, 1, &r);) {
      const Place p = place_of(&cut, r.at);
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
TM_INLINE void kernel_tiles(const float *w, gsize tap, __mmask16 mask, vf u[16]) {
  const vf half = v_set(0.5f);
  vf t[4][3];
  for (int j = 0; j < 3; j++) {
    const vf a = _mm512_maskz_loadu_ps(mask, w + (gsize)j * tap),
             b = _mm512_maskz_loadu_ps(mask, w + (gsize)(3 + j) * tap);
    const vf c = _mm512_maskz_loadu_ps(mask, w + (gsize)(6 + j) * tap), s = half * (a + c), m = half * b;
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

/* Outputs are w's rows: for 16 of them and 32 inputs, words of two inputs are turned. */
static void pack_forward(const float *w, int I, int first, int out, guint16 *block, gsize plane) {
  for (int half = 0; half < 2; half++)
    for (int k = 0; k < I; k += 32) {
      __m512i word[16][16]; /* by plane and output */
      for (int j = 0; j < 16; j++) {
        const int o = first + half * 16 + j;
        const float *p = w + (gsize)(o < out ? o : 0) * 9 * (gsize)I + k;
        vf low[16], high[16];
        kernel_tiles(p, (gsize)I, o < out ? 0xffff : 0, low);
        kernel_tiles(p + 16, (gsize)I, o < out && k + 16 < I ? 0xffff : 0, high);
        for (int f = 0; f < 16; f++) word[f][j] = (__m512i)_mm512_cvtne2ps_pbh(high[f], low[f]);
      }
      for (int f = 0; f < 16; f++) {
        transpose16(word[f]);
        for (int j = 0; j < 16 && k / 2 + j < I / 2; j++)
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
      const float *p = w + (gsize)k * 9 * (gsize)I + i;
      vf even[16], odd[16];
      kernel_tiles(p, (gsize)I, i < I ? 0xffff : 0, even);
      kernel_tiles(p + 9 * (gsize)I, (gsize)I, i < I ? 0xffff : 0, odd);
      for (int f = 0; f < 16; f++) {
        const gsize to = (gsize)(turned[f / 4] * 4 + turned[f % 4]);
        _mm512_storeu_si512(block + to * plane + ((gsize)k + (gsize)half) * 32, paired(even[f], odd[f]));
      }
    }
}

void KERNEL(winograd_pack)(const TmTeam *team, const float *w, int out, int in, gboolean backward,
                           void *packed) {
  const int outs = backward ? in : out, depth = backward ? out : in;
  const gsize plane = micro_block(TM_BF16, 1, depth) / 2;
  gsize next = 0;
  TM_PARALLEL(team, (gsize)out * (gsize)in * 9)
  for (TmRange r; take(&next, (gsize)(outs + TM_WINOGRAD_OUT - 1) / TM_WINOGRAD_OUT, 1, &r);) {
    guint16 *block = (guint16 *)packed + r.at * 16 * plane;
    if (backward)
      pack_backward(w, in, (int)r.at * TM_WINOGRAD_OUT, depth, block, plane);
    else
      pack_forward(w, in, (int)r.at * TM_WINOGRAD_OUT, out, block, plane);
  }
}
