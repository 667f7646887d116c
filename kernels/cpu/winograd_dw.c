/* winograd_dw.c: the gradient by the weights. Transposing the forward algorithm, with V = B^T d B of each
 * tile of x and M = A dy A^T of each tile of dy, the gradient of U is the sum over tiles of V . M, an outer
 * product over channels in each of 16 planes, and dw = G^T dU G.
 *
 * vdpbf16ps sums two products: tiles are taken in pairs. Each thread adds up blocks of its own, and the sums
 * are added in thread order; or, where the sums are large, all threads transform one block and then take
 * outputs of it, whose sums are nobody else's. */
#include "kernels/cpu/winograd.h"

/* One tile of x; @a and @b, its first two columns, become the next tile's. */
TM_INLINE void x_tile(const Rows *r, int w, vf a[4], vf b[4], vf v[16]) {
  vf c[4], d[4];
  column(r, w + 2, c);
  column(r, w + 3, d);
  for (int i = 0; i < 4; i++) {
    v[4 * i] = a[i] - c[i];
    v[4 * i + 1] = b[i] + c[i];
    v[4 * i + 2] = c[i] - b[i];
    v[4 * i + 3] = b[i] - d[i];
    a[i] = c[i];
    b[i] = d[i];
  }
}

/* 16 channels of @n tiles of x, n even: v[plane * f] holds pairs, @step elements apart. */
static void x_pairs(const Rows *r, int n, guint16 *v, gsize step, gsize plane) {
  vf a[4], b[4], even[16], odd[16];
  column(r, -1, a);
  column(r, 0, b);
  for (int t = 0; t < n; t += 2, v += step) {
    ask_for(r, 2 * t + AHEAD);
    ask_for(r, 2 * t + 2 + AHEAD);
    x_tile(r, 2 * t - 1, a, b, even);
    x_tile(r, 2 * t + 1, a, b, odd);
    for (gsize f = 0; f < 16; f++) _mm512_storeu_si512(v + f * plane, paired(even[f], odd[f]));
  }
}

/* A dy A^T of one tile, A = (1 0; 1 1; 1 -1; 0 -1), pixels outside the picture 0. */
TM_INLINE void dy_tile(const guint16 *y, gsize ld, gsize row, gboolean inside, gboolean right, gboolean below,
                       vf m[16]) {
  const vf none = v_set(0);
  const vf a = inside ? v_load_bf16(y) : none, b = inside && right ? v_load_bf16(y + ld) : none;
  const vf c = inside && below ? v_load_bf16(y + row) : none,
           d = inside && right && below ? v_load_bf16(y + row + ld) : none;
  const vf left[4] = {a, a + c, a - c, none - c}, other[4] = {b, b + d, b - d, none - d};
  for (int i = 0; i < 4; i++) {
    m[4 * i] = left[i];
    m[4 * i + 1] = left[i] + other[i];
    m[4 * i + 2] = left[i] - other[i];
    m[4 * i + 3] = none - other[i];
  }
}

/* 16 channels of a row of @n tiles of dy, n even: pairs of 32 channels. */
static void dy_pairs(const TmView *dy, gsize image, int tile_row, int c, int n, guint16 *out, gsize plane) {
  const int h = 2 * tile_row, W = dy->shape.w;
  const gsize ld = (gsize)dy->ld, row = ld * (gsize)W;
  const guint16 *y = (const guint16 *)dy->data + view_at(dy, image * (gsize)dy->shape.h + (gsize)h, 0) + c;
  const gboolean below = h + 1 < dy->shape.h;
  for (int t = 0; t < n; t += 2, y += 4 * ld, out += 2 * TM_WINOGRAD_OUT) {
    vf even[16], odd[16];
    for (gsize i = 0; i < 4; i++) {
      _mm_prefetch(y + (AHEAD + i) * ld, _MM_HINT_T0);
      _mm_prefetch(y + row + (AHEAD + i) * ld, _MM_HINT_T0);
    }
    dy_tile(y, ld, row, 2 * t < W, 2 * t + 1 < W, below, even);
    dy_tile(y + 2 * ld, ld, row, 2 * t + 2 < W, 2 * t + 3 < W, below, odd);
    for (gsize f = 0; f < 16; f++) _mm512_storeu_si512(out + f * plane, paired(even[f], odd[f]));
  }
}

typedef struct {
  const TmView *x, *dy;
  TmWinogradDwCut cut;
  gsize in, out;
  float *sums; /* [plane][out / 32][in][32]; together: [plane][in][32] */
  guint16 *v, *m;
} Dw;

/* Row @i of the @n rows of tiles of a block that begins with row @from, counted over all pictures. */
static void transform_row(const Dw *z, gsize from, int n, int i) {
  const TmWinogradDwCut *cut = &z->cut;
  const gsize pairs = (gsize)n * (gsize)cut->wide / 2, image = (from + (gsize)i) / (gsize)cut->high,
              first = (gsize)(i * cut->wide / 2);
  const int tile_row = (int)((from + (gsize)i) % (gsize)cut->high);
  for (gsize c = 0; c < z->in; c += 16) { /* [channels / 16][pair][16][2] */
    const Rows r = rows_of(z->x, image, 2 * tile_row - 1, (int)c);
    x_pairs(&r, cut->wide, z->v + (c / 16 * pairs + first) * 32, 32, cut->plane);
  }
  for (int c = 0; c < z->dy->shape.c; c += 16) /* [channels / 32][plane][pair][32][2] */
    dy_pairs(z->dy, image, tile_row, c, cut->wide,
             z->m + (gsize)(c / 32) * 16 * cut->deep + first * 64 + (gsize)(c % 32) * 2, cut->deep);
}

/* @sums of plane @f of outputs @o .. @o+31 over the block's @n rows; @add: to those there are. */
static void sum_plane(const Dw *z, int n, gsize f, gsize o, float *sums, gboolean add) {
  const TmWinogradDwCut *cut = &z->cut;
  const gsize pairs = (gsize)n * (gsize)cut->wide / 2;
  for (gsize c = 0; c < z->in; c += 8, sums += 8 * 32)
    outer8(z->v + f * cut->plane + c / 16 * pairs * 32 + c % 16 * 2, 2, 32,
           z->m + (o / 32 * 16 + f) * cut->deep, (int)pairs, sums, 32, add);
}

static int rows_left(const Dw *z, gsize at, gsize end) {
  return end - at < (gsize)z->cut.rows ? (int)(end - at) : z->cut.rows;
}

/* Each thread its own share of the rows. Returns how many threads there were. */
static int sum_apart(const TmTeam *team, const Dw *all, gsize rows) {
  const gsize sums = 16 * all->in * all->out;
  int threads = 1;
  TM_PARALLEL(team, view_count(all->x) * 9) {
    if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
    Dw z = *all;
    z.sums = my_work(team);
    z.v = (guint16 *)(z.sums + sums);
    z.m = z.v + 16 * z.cut.plane;
    const TmRange mine = my_share(rows);
    if (mine.at == mine.end) memset(z.sums, 0, sums * sizeof(float));
    for (gsize at = mine.at; at < mine.end; at += (gsize)z.cut.rows) {
      const int n = rows_left(&z, at, mine.end);
      for (int i = 0; i < n; i++) transform_row(&z, at, n, i);
      for (gsize f = 0; f < 16; f++)
        for (gsize o = 0; o < z.out; o += 32)
          sum_plane(&z, n, f, o, z.sums + (f * z.out + o) * z.in, at > mine.at);
    }
  }
  return threads;
}

/* dw of 16 inputs and 16 outputs, turned into O,3,3,I, from the sums of @threads: those of input c + i begin
 * at
 * @at + 32 i, planes are @plane apart. @add: to dw. */
static void finish(const TmTeam *team, int threads, const Dw *z, gsize c, gsize o, gsize at, gsize plane,
                   float *dw, gboolean add) {
  vf turned[9][16];
  for (gsize i = 0; i < 16; i++) {
    vf g[9];
    winograd_gradient(team, threads, at + 32 * i, plane, g);
    for (int t = 0; t < 9; t++) turned[t][i] = g[t];
  }
  for (gsize t = 0; t < 9; t++) {
    __m512i r[16];
    for (int i = 0; i < 16; i++) r[i] = v_bits(turned[t][i]);
    transpose16(r);
    for (gsize j = 0; j < 16; j++) {
      float *to = dw + ((o + j) * 9 + t) * z->in + c;
      const vf before = add ? v_load(to) : v_set(0);
      v_store(to, before + v_of_bits(r[j]));
    }
  }
}

static void apart(const TmTeam *team, const Dw *z, gsize rows, float *dw) {
  const int threads = sum_apart(team, z, rows);
  const gsize ins = z->in / 16;
  gsize next = 0;
  TM_PARALLEL(team, 16 * z->in * z->out)
  for (TmRange r; take(&next, ins * (z->out / 16), 1, &r);) {
    const gsize c = r.at % ins * 16, o = r.at / ins * 16;
    finish(team, threads, z, c, o, (o / 32 * z->in + c) * 32 + o % 32, z->in * z->out, dw, FALSE);
  }
}

/* dw of outputs @o .. @o+31 over the block's @n rows. */
static void outputs_of_block(const TmTeam *team, const Dw *z, int n, gsize o, float *dw, gboolean add) {
  const TmTeam mine = {.threads = 1, .work = my_work(team)};
  for (gsize f = 0; f < 16; f++) sum_plane(z, n, f, o, (float *)mine.work + f * z->in * 32, FALSE);
  for (gsize c = 0; c < z->in; c += 16)
    for (gsize h = 0; h < 32; h += 16) finish(&mine, 1, z, c, o + h, c * 32 + h, z->in * 32, dw, add);
}

/* All threads on one block after the other, in the shared space. */
static void together(const TmTeam *team, Dw *z, gsize rows, float *dw) {
  z->v = team->shared;
  z->m = z->v + 16 * z->cut.plane;
  for (gsize at = 0; at < rows; at += (gsize)z->cut.rows) {
    const int n = rows_left(z, at, rows);
    gsize row = 0, outs = 0;
    TM_PARALLEL(team, view_count(z->x) * 9) {
      for (TmRange r; take(&row, (gsize)n, 1, &r);) transform_row(z, at, n, (int)r.at);
#pragma omp barrier
      for (TmRange r; take(&outs, z->out / 32, 1, &r);) outputs_of_block(team, z, n, r.at * 32, dw, at > 0);
    }
  }
}

void KERNEL(winograd_dw)(const TmTeam *team, const TmView *x, const TmView *dy, float *dw) {
  const TmWinogradDwCut cut = tm_winograd_dw_cut(x->shape, dy->shape.c, TM_BF16);
  Dw z = {.x = x, .dy = dy, .cut = cut, .in = (gsize)x->shape.c, .out = (gsize)dy->shape.c};
  const gsize rows = (gsize)x->shape.n * (gsize)cut.high;
  if (cut.together)
    together(team, &z, rows, dw);
  else
    apart(team, &z, rows, dw);
}
