/* winograd_f32.c: Winograd's F(2x2, 3x3) in f32, for every instruction set: winograd.c and winograd_dw.c
 * without bf16's packing by pairs. The tiles and matrices are explained there. In f32 the noise is that of a
 * sum of another order. */
#include "kernels/cpu/micro.h"
#include "kernels/cpu/winograd_tiles.h"
#include "kernels/winograd.h"

enum { PLANES = 16, AHEAD = 10 };

static const float no_pixel[32] __attribute__((aligned(64)));

/* ---- tiles ---- */

/* Four rows of a picture, VL channels: rows outside read as zeros. */
typedef struct {
  const float *at[4];
  gsize step[4]; /* elements from one pixel to the next; 0 outside */
  int width;
} Rows;

TM_INLINE Rows rows_of(const TmView *v, gsize image, int from, int c) {
  Rows r = {.width = v->shape.w};
  for (int i = 0; i < 4; i++) {
    const int h = from + i;
    const gboolean inside = h >= 0 && h < v->shape.h;
    r.at[i] =
        inside ? (const float *)v->data + view_at(v, image * (gsize)v->shape.h + (gsize)h, 0) + c : no_pixel;
    r.step[i] = inside ? (gsize)v->ld : 0;
  }
  return r;
}

/* One column of B^T d, and what lies AHEAD is asked for. */
TM_INLINE void column(const Rows *r, int w, vf k[4]) {
  if (w < 0 || w >= r->width) {
    k[0] = k[1] = k[2] = k[3] = v_set(0);
    return;
  }
  const gsize at = (gsize)w;
  for (int i = 0; i < 4; i++) __builtin_prefetch(r->at[i] + (at + AHEAD) * r->step[i]);
  const vf a = v_load(r->at[0] + at * r->step[0]), b = v_load(r->at[1] + at * r->step[1]),
           c = v_load(r->at[2] + at * r->step[2]), d = v_load(r->at[3] + at * r->step[3]);
  k[0] = a - c;
  k[1] = b + c;
  k[2] = c - b;
  k[3] = b - d;
}

/* VL channels of @n tiles of a row, the first at column @w of the picture: v[plane * f + t * step]. */
static void input_tiles(const Rows *r, int w, int n, float *v, gsize step, gsize plane) {
  vf a[4], b[4], c[4], d[4];
  column(r, w, a);
  column(r, w + 1, b);
  for (int t = 0; t < n; t++, v += step) {
    column(r, w + 2 * t + 2, c);
    column(r, w + 2 * t + 3, d);
    for (int i = 0; i < 4; i++) {
      float *to = v + (gsize)(4 * i) * plane;
      v_store(to, a[i] - c[i]);
      v_store(to + plane, b[i] + c[i]);
      v_store(to + 2 * plane, c[i] - b[i]);
      v_store(to + 3 * plane, b[i] - d[i]);
      a[i] = c[i];
      b[i] = d[i];
    }
  }
}

/* Where one row of outputs goes. */
typedef struct {
  float *y; /* the first tile's first output */
  gsize ld, row;
  int columns; /* of the picture from there on */
  gboolean below, relu;
  vf bias;
} Out;

typedef struct {
  vf sum, square;
} Sums;

static void output_row(const float *m, gsize plane, int n, const Out *to, Sums *s) {
  float *y = to->y;
  for (int t = 0; t < n; t++, m += MICRO_OUT, y += 2 * to->ld) {
    const gboolean keep[4] = {TRUE, 2 * t + 1 < to->columns, to->below, to->below && 2 * t + 1 < to->columns};
    vf o[4];
    winograd_output(m, plane, o);
    for (int i = 0; i < 4; i++) {
      if (!keep[i]) continue;
      o[i] = o[i] + to->bias;
      if (to->relu) o[i] = v_relu(o[i]);
      v_store(y + (gsize)(i / 2) * to->row + (gsize)(i % 2) * to->ld, o[i]);
      s->sum = s->sum + o[i];
      s->square = v_fma(o[i], o[i], s->square);
    }
  }
}

/* ---- one block of tiles ---- */

typedef struct {
  const TmView *x, *y;
  const char *packed;
  const float *bias; /* or NULL */
  gboolean relu;
  TmWinogradCut cut;
  float *v, *m;
} Winograd;

static void transform_input(const Winograd *z, const TmWinogradPlace *p) {
  const gsize C = (gsize)z->x->shape.c;
  for (int i = 0; i < p->rows; i++)
    for (gsize c = 0; c < C; c += VL) {
      const Rows r = rows_of(z->x, p->image, 2 * (p->top + i) - 1, (int)c);
      input_tiles(&r, 2 * p->left - 1, p->columns, z->v + (gsize)(i * p->columns) * C + c, C, z->cut.plane);
    }
}

static void multiply(const Winograd *z, const TmWinogradPlace *p, int o) {
  const int C = z->x->shape.c;
  const gssize tap = 0;
  const gsize block = micro_block(TM_F32, 1, C);
  Micro q = {.ldx = (gsize)C * sizeof(float),
             .taps = &tap,
             .n_taps = 1,
             .depth = C,
             .ldy = MICRO_OUT * sizeof(float),
             .outs = MICRO_OUT};
  for (gsize f = 0; f < PLANES; f++) {
    q.x = z->v + f * z->cut.plane;
    q.b = z->packed + ((gsize)(o / MICRO_OUT) * PLANES + f) * block;
    q.y = z->m + f * z->cut.product;
    KERNEL(micro_row)(TM_F32, TM_F32, &q, p->rows * p->columns);
  }
}

static void transform_output(const Winograd *z, const TmWinogradPlace *p, int o, float *sums) {
  const TmView *y = z->y;
  const gsize ld = (gsize)y->ld;
  for (int c = o; c < o + MICRO_OUT; c += VL) {
    Sums s = {v_set(0), v_set(0)};
    for (int i = 0; i < p->rows; i++) {
      const int h = 2 * (p->top + i), w = 2 * p->left;
      const Out to = {.y = (float *)y->data + view_at(y, p->image * (gsize)y->shape.h + (gsize)h, w) + c,
                      .ld = ld,
                      .row = ld * (gsize)y->shape.w,
                      .columns = y->shape.w - w,
                      .below = h + 1 < y->shape.h,
                      .relu = z->relu,
                      .bias = z->bias ? v_load(z->bias + c) : v_set(0)};
      output_row(z->m + (gsize)(i * p->columns) * MICRO_OUT + (c - o), z->cut.product, p->columns, &to, &s);
    }
    if (!sums) continue;
    v_store(sums + c, s.sum);
    v_store(sums + y->shape.c + c, s.square);
  }
}

void KERNEL(winograd_f32)(const TmTeam *team, const TmView *x, const void *packed, const float *bias,
                          gboolean relu, const TmView *y, float *stats) {
  const TmWinogradCut cut = tm_winograd_cut(x->shape, TM_F32);
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
                        .m = (float *)my_work(team) + PLANES * cut.plane};
    for (TmRange r; take(&next, pieces, 1, &r);) {
      const TmWinogradPlace p = tm_winograd_place(&cut, r.at);
      transform_input(&z, &p);
      for (int o = 0; o < y->shape.c; o += MICRO_OUT) {
        multiply(&z, &p, o);
        transform_output(&z, &p, o, stats ? (float *)team->shared + 2 * C * r.at : NULL);
      }
    }
  }
  if (stats) stats_of_pieces(team->shared, pieces, y->shape.c, tm_shape_pixels(y->shape), stats);
}

/* ---- weights ---- */

/* u = G g G^T of one kernel whose taps are @tap elements apart. */
static void kernel_tile(const float *w, gsize tap, float u[PLANES]) {
  float t[4][3];
  for (int j = 0; j < 3; j++) {
    const float a = w[(gsize)j * tap], b = w[(gsize)(3 + j) * tap], c = w[(gsize)(6 + j) * tap];
    t[0][j] = a;
    t[1][j] = 0.5f * (a + c) + 0.5f * b;
    t[2][j] = 0.5f * (a + c) - 0.5f * b;
    t[3][j] = c;
  }
  for (int i = 0; i < 4; i++) {
    u[4 * i] = t[i][0];
    u[4 * i + 1] = 0.5f * (t[i][0] + t[i][2]) + 0.5f * t[i][1];
    u[4 * i + 2] = 0.5f * (t[i][0] + t[i][2]) - 0.5f * t[i][1];
    u[4 * i + 3] = t[i][2];
  }
}

void KERNEL(winograd_f32_pack)(const TmTeam *team, const float *w, int out, int in, gboolean backward,
                               void *packed) {
  static const int turned[4] = {3, 1, 2, 0};
  const int outs = backward ? in : out, depth = backward ? out : in;
  const gsize plane = (gsize)depth * MICRO_OUT;
  gsize next = 0;
  TM_PARALLEL(team, (gsize)out * (gsize)in * 9)
  for (TmRange r; take(&next, (gsize)(outs / MICRO_OUT), 1, &r);) {
    float *block = (float *)packed + r.at * PLANES * plane;
    for (int k = 0; k < depth; k++)
      for (int j = 0; j < MICRO_OUT; j++) {
        const int o = (int)r.at * MICRO_OUT + j;
        float u[PLANES];
        kernel_tile(w + (gsize)(backward ? k : o) * 9 * (gsize)in + (backward ? o : k), (gsize)in, u);
        for (int f = 0; f < PLANES; f++) {
          const int to = backward ? turned[f / 4] * 4 + turned[f % 4] : f;
          block[(gsize)to * plane + (gsize)k * MICRO_OUT + (gsize)j] = u[f];
        }
      }
  }
}

/* ---- the gradient by the weights ---- */

typedef struct {
  const TmView *x, *dy;
  TmWinogradDwCut cut;
  gsize in, out;
  float *sums; /* [plane][out / MICRO_OUT][in][MICRO_OUT] */
  float *v, *m;
} Dw;

/* VL channels of a row of @n tiles of dy: A dy A^T. */
static void dy_tiles(const TmView *dy, gsize image, int tile_row, int c, int n, float *out, gsize plane) {
  const int h = 2 * tile_row, W = dy->shape.w;
  const gsize ld = (gsize)dy->ld, row = ld * (gsize)W;
  const float *y = (const float *)dy->data + view_at(dy, image * (gsize)dy->shape.h + (gsize)h, 0) + c;
  const gboolean below = h + 1 < dy->shape.h;
  const vf none = v_set(0);
  for (int t = 0; t < n; t++, y += 2 * ld, out += TM_WINOGRAD_OUT) {
    const gboolean inside = 2 * t < W, right = 2 * t + 1 < W;
    __builtin_prefetch(y + AHEAD * ld);
    __builtin_prefetch(y + row + AHEAD * ld);
    const vf a = inside ? v_load(y) : none, b = right ? v_load(y + ld) : none,
             e = inside && below ? v_load(y + row) : none, d = right && below ? v_load(y + row + ld) : none;
    const vf left[4] = {a, a + e, a - e, none - e}, other[4] = {b, b + d, b - d, none - d};
    for (gsize i = 0; i < 4; i++) {
      v_store(out + 4 * i * plane, left[i]);
      v_store(out + (4 * i + 1) * plane, left[i] + other[i]);
      v_store(out + (4 * i + 2) * plane, left[i] - other[i]);
      v_store(out + (4 * i + 3) * plane, none - other[i]);
    }
  }
}

/* Adds the sums over @n rows of tiles from row @from, counted over all pictures. */
static void sum_rows(const Dw *z, gsize from, int n) {
  const TmWinogradDwCut *cut = &z->cut;
  for (int i = 0; i < n; i++) {
    const gsize image = (from + (gsize)i) / (gsize)cut->high, first = (gsize)(i * cut->wide);
    const int tile_row = (int)((from + (gsize)i) % (gsize)cut->high);
    for (gsize c = 0; c < z->in; c += VL) {
      const Rows r = rows_of(z->x, image, 2 * tile_row - 1, (int)c);
      input_tiles(&r, -1, cut->wide, z->v + first * z->in + c, z->in, cut->plane);
    }
    for (gsize c = 0; c < z->out; c += VL)
      dy_tiles(z->dy, image, tile_row, (int)c, cut->wide,
               z->m + c / TM_WINOGRAD_OUT * PLANES * cut->deep + first * TM_WINOGRAD_OUT +
                   c % TM_WINOGRAD_OUT,
               cut->deep);
  }
  float *sums = z->sums;
  for (gsize f = 0; f < PLANES; f++)
    for (gsize o = 0; o < z->out; o += MICRO_OUT)
      for (gsize c = 0; c < z->in; c += MICRO_PIXELS) {
        const gsize left = z->in - c;
        const MicroDw q = {.x = z->v + f * cut->plane + c,
                           .ldx = z->in,
                           .ins = left < MICRO_PIXELS ? (int)left : MICRO_PIXELS,
                           .d = z->m + (o / TM_WINOGRAD_OUT * PLANES + f) * cut->deep + o % TM_WINOGRAD_OUT,
                           .ldd = TM_WINOGRAD_OUT,
                           .outs = MICRO_OUT,
                           .pixels = n * cut->wide,
                           .o = sums,
                           .ldo = MICRO_OUT};
        KERNEL(micro_dw)(TM_F32, &q);
        sums += q.ins * MICRO_OUT;
      }
}

/* dw of VL outputs from @o on, input by input: O,3,3,I. */
static void finish(const TmTeam *team, int threads, const Dw *z, gsize o, float *dw) {
  for (gsize c = 0; c < z->in; c++) {
    vf g[9];
    float lane[VL];
    winograd_gradient(team, threads, (o / MICRO_OUT * z->in + c) * MICRO_OUT + o % MICRO_OUT, z->in * z->out,
                      g);
    for (gsize t = 0; t < 9; t++) {
      v_store(lane, g[t]);
      for (gsize j = 0; j < VL; j++) dw[((o + j) * 9 + t) * z->in + c] = lane[j];
    }
  }
}

void KERNEL(winograd_f32_dw)(const TmTeam *team, const TmView *x, const TmView *dy, float *dw) {
  const TmWinogradDwCut cut = tm_winograd_dw_cut(x->shape, dy->shape.c, TM_F32);
  const Dw all = {.x = x, .dy = dy, .cut = cut, .in = (gsize)x->shape.c, .out = (gsize)dy->shape.c};
  const gsize sums = PLANES * all.in * all.out;
  int threads = 1;
  TM_PARALLEL(team, view_count(x) * 9) {
    if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
    Dw z = all;
    z.sums = my_work(team);
    z.v = z.sums + sums;
    z.m = z.v + PLANES * cut.plane;
    memset(z.sums, 0, sums * sizeof(float));
    for (TmRange r = my_share((gsize)x->shape.n * (gsize)cut.high); r.at < r.end; r.at += (gsize)cut.rows)
      sum_rows(&z, r.at, r.end - r.at < (gsize)cut.rows ? (int)(r.end - r.at) : cut.rows);
  }
  gsize next = 0;
  TM_PARALLEL(team, sums)
  for (TmRange r; take(&next, all.out / VL, 1, &r);) finish(team, threads, &all, r.at * VL, dw);
}
