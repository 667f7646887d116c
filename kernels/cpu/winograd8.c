/* winograd8.c: 3x3 convolutions of bytes by F(2x2, 3x3) (Lavin and Gray, 2016): 2.25 times fewer
 * multiplications than conv8.c's. Transformed pixels are rounded to bytes again, so that the products stay
 * products of bytes; engine/ops/quantised.c says exactly how. Cut like winograd.c. */
#include "kernels/cpu/micro8.h"
#include "kernels/cpu/winograd_tiles.h"
#include "kernels/winograd.h"

typedef struct {
  const TmView *x, *y;
  const guint8 *packed, *zeros; /* zeros: the bytes that stand for 0, of one pixel */
  const float *scale, *offset;
  TmWinogradCut cut;
  gsize depth;
  guint8 *v; /* 16 planes of [tile][depth] */
  float *m;  /* 16 planes of [tile][TM_WINOGRAD_OUT] */
} Winograd8;

/* Four rows of a picture from one channel on; rows outside show zeros. */
typedef struct {
  const guint8 *at[4], *zeros;
  gsize step[4];
  int width;
} Rows8;

static Rows8 rows_of(const Winograd8 *z, gsize image, int from, int c) {
  const TmView *x = z->x;
  Rows8 r = {.zeros = z->zeros + c, .width = x->shape.w};
  for (int i = 0; i < 4; i++) {
    const int h = from + i;
    const gboolean inside = h >= 0 && h < x->shape.h;
    r.at[i] =
        inside ? (const guint8 *)x->data + view_at(x, image * (gsize)x->shape.h + (gsize)h, 0) + c : r.zeros;
    r.step[i] = inside ? (gsize)x->ld : 0;
  }
  return r;
}

TM_INLINE const guint8 *pixel_of(const Rows8 *r, int i, int w) {
  return w < 0 || w >= r->width ? r->zeros : r->at[i] + (gsize)w * r->step[i];
}

/* ---- one tile, a few channels at a time ---- */

#ifdef TM_SIMD_AVX512

enum { AT_ONCE = 32 };

/* One column of B^T d: B^T = (1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1). */
TM_INLINE void column(const Rows8 *r, int w, __mmask32 mask, __m512i k[4]) {
  __m512i d[4];
  for (int i = 0; i < 4; i++) d[i] = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, pixel_of(r, i, w)));
  k[0] = _mm512_sub_epi16(d[0], d[2]);
  k[1] = _mm512_add_epi16(d[1], d[2]);
  k[2] = _mm512_sub_epi16(d[2], d[1]);
  k[3] = _mm512_sub_epi16(d[1], d[3]);
}

TM_INLINE void put_bytes(guint8 *to, __mmask32 mask, __m512i t, gboolean all_sums) {
  const __m512i r = all_sums
                        ? _mm512_srai_epi16(_mm512_add_epi16(t, _mm512_set1_epi16(2)), 2)
                        : _mm512_max_epi16(_mm512_srai_epi16(_mm512_add_epi16(t, _mm512_set1_epi16(257)), 1),
                                           _mm512_setzero_si512());
  const __m256i b = _mm512_cvtusepi16_epi8(r);
  if (mask == 0xffffffffu)
    _mm256_storeu_si256((__m256i *)to, b);
  else
    _mm256_mask_storeu_epi8(to, mask, b);
}

static void input_tiles(const Rows8 *r, int w, int n, int channels, guint8 *v, gsize step, gsize plane) {
  const __mmask32 load = channels >= 32 ? 0xffffffffu : (1u << channels) - 1;
  const gsize filled = tm_conv8_depth(channels);
  const __mmask32 store = filled >= 32 ? 0xffffffffu : (1u << filled) - 1;
  __m512i a[4], b[4], c[4], d[4];
  column(r, w, load, a);
  column(r, w + 1, load, b);
  for (int t = 0; t < n; t++, v += step) {
    column(r, w + 2 * t + 2, load, c);
    column(r, w + 2 * t + 3, load, d);
    for (int i = 0; i < 4; i++) {
      guint8 *to = v + (gsize)(4 * i) * plane;
      put_bytes(to, store, _mm512_sub_epi16(a[i], c[i]), FALSE);
      put_bytes(to + plane, store, _mm512_add_epi16(b[i], c[i]), i == 1);
      put_bytes(to + 2 * plane, store, _mm512_sub_epi16(c[i], b[i]), FALSE);
      put_bytes(to + 3 * plane, store, _mm512_sub_epi16(b[i], d[i]), FALSE);
      a[i] = c[i];
      b[i] = d[i];
    }
  }
}

/* as_bytes() of 32 channels, still words: packing cuts at 0. */
TM_INLINE __m512i as_words(__m512 low, __m512 high) {
  const __m512 top = _mm512_set1_ps(255);
  return _mm512_packs_epi32(_mm512_cvtps_epi32(_mm512_min_ps(low, top)),
                            _mm512_cvtps_epi32(_mm512_min_ps(high, top)));
}

/* 32 channels of two pixels side by side; packing leaves groups of four in this order. */
TM_INLINE void put_two(guint8 *y, gsize ld, __m512i first, __m512i second) {
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i both = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(first, second));
  _mm256_storeu_si256((__m256i *)y, _mm512_castsi512_si256(both));
  _mm256_storeu_si256((__m256i *)(y + ld), _mm512_extracti64x4_epi64(both, 1));
}

TM_INLINE void output_tile(const float *m, gsize plane, int keep, int outs, guint8 *y, gsize ld, gsize row) {
  __m512 low[4], high[4];
  winograd_output(m, plane, low);
  winograd_output(m + 16, plane, high);
  if (keep == 15 && outs == MICRO8_OUT) {
    put_two(y, ld, as_words(low[0], high[0]), as_words(low[1], high[1]));
    put_two(y + row, ld, as_words(low[2], high[2]), as_words(low[3], high[3]));
    return;
  }
  for (int i = 0; i < 4; i++) {
    if (!(keep >> i & 1)) continue;
    guint8 *to = y + (gsize)(i / 2) * row + (gsize)(i % 2) * ld;
    _mm_mask_storeu_epi8(to, v_first(outs < 16 ? outs : 16), as_bytes(low[i]));
    if (outs > 16) _mm_mask_storeu_epi8(to + 16, v_first(outs - 16), as_bytes(high[i]));
  }
}

#else

enum { AT_ONCE = 64 };

static void column(const Rows8 *r, int w, int channels, int k[4][AT_ONCE]) {
  const guint8 *d[4];
  for (int i = 0; i < 4; i++) d[i] = pixel_of(r, i, w);
  for (int c = 0; c < channels; c++) {
    k[0][c] = d[0][c] - d[2][c];
    k[1][c] = d[1][c] + d[2][c];
    k[2][c] = d[2][c] - d[1][c];
    k[3][c] = d[1][c] - d[3][c];
  }
}

TM_INLINE guint8 to_byte(int t, gboolean all_sums) {
  const int r = all_sums ? (t + 2) >> 2 : (t + 257) >> 1;
  return (guint8)(r < 0 ? 0 : r > 255 ? 255 : r);
}

static void input_tiles(const Rows8 *r, int w, int n, int channels, guint8 *v, gsize step, gsize plane) {
  int k[4][4][AT_ONCE];
  for (int t = 0; t < n; t++, v += step) {
    for (int j = 0; j < 4; j++) column(r, w + 2 * t + j, channels, k[j]);
    for (int i = 0; i < 4; i++) {
      guint8 *to = v + (gsize)(4 * i) * plane;
      for (int c = 0; c < channels; c++) {
        to[c] = to_byte(k[0][i][c] - k[2][i][c], FALSE);
        to[plane + (gsize)c] = to_byte(k[1][i][c] + k[2][i][c], i == 1);
        to[2 * plane + (gsize)c] = to_byte(k[2][i][c] - k[1][i][c], FALSE);
        to[3 * plane + (gsize)c] = to_byte(k[1][i][c] - k[3][i][c], FALSE);
      }
      for (gsize c = (gsize)channels; c < tm_conv8_depth(channels); c++) /* whose weights are 0 */
        for (gsize j = 0; j < 4; j++) to[j * plane + c] = 0;
    }
  }
}

static void output_tile(const float *m, gsize plane, int keep, int outs, guint8 *y, gsize ld, gsize row) {
  for (int c = 0; c < outs; c++, m++, y++) {
    float k[4], l[4];
    for (int j = 0; j < 4; j++) {
      const float a = m[(gsize)j * plane], b = m[(gsize)(4 + j) * plane], d = m[(gsize)(8 + j) * plane],
                  e = m[(gsize)(12 + j) * plane];
      k[j] = a + (b + d);
      l[j] = (b - d) - e;
    }
    const float o[4] = {k[0] + (k[1] + k[2]), (k[1] - k[2]) - k[3], l[0] + (l[1] + l[2]),
                        (l[1] - l[2]) - l[3]};
    for (int i = 0; i < 4; i++)
      if (keep >> i & 1) y[(gsize)(i / 2) * row + (gsize)(i % 2) * ld] = as_byte(o[i]);
  }
}

#endif

/* ---- one block of tiles ---- */

static void transform_input(const Winograd8 *z, const TmWinogradPlace *p) {
  const int C = z->x->shape.c;
  for (int i = 0; i < p->rows; i++)
    for (int c = 0; c < C; c += AT_ONCE) {
      const Rows8 r = rows_of(z, p->image, 2 * (p->top + i) - 1, c);
      input_tiles(&r, 2 * p->left - 1, p->columns, C - c < AT_ONCE ? C - c : AT_ONCE,
                  z->v + (gsize)(i * p->columns) * z->depth + c, z->depth, z->cut.plane);
    }
}

/* The 16 products for outputs o .. o+outs-1. */
static void multiply(const Winograd8 *z, const TmWinogradPlace *p, int o, int outs) {
  static const gssize tap = 0;
  const gsize C = (gsize)z->y->shape.c, tap_bytes = z->depth * MICRO8_OUT;
  for (gsize f = 0; f < 16; f++) {
    float scale[MICRO8_OUT] = {0}, offset[MICRO8_OUT] = {0};
    for (int i = 0; i < outs; i++) {
      scale[i] = z->scale[f * C + (gsize)(o + i)];
      offset[i] = z->offset[f * C + (gsize)(o + i)];
    }
    const Micro8 q = {.x = z->v + f * z->cut.plane,
                      .ldx = z->depth,
                      .taps = &tap,
                      .n_taps = 1,
                      .depth = (int)z->depth,
                      .b = (const gint8 *)z->packed + ((gsize)(o / MICRO8_OUT) * 16 + f) * tap_bytes,
                      .scale = scale,
                      .offset = offset,
                      .scores = z->m + f * z->cut.product,
                      .ldy = TM_WINOGRAD_OUT,
                      .outs = outs};
    KERNEL(micro8_row)(&q, p->rows * p->columns);
  }
}

static void transform_output(const Winograd8 *z, const TmWinogradPlace *p, int o, int outs) {
  const TmView *y = z->y;
  const gsize ld = (gsize)y->ld, row = ld * (gsize)y->shape.w;
  for (int i = 0; i < p->rows; i++)
    for (int j = 0; j < p->columns; j++) {
      const int h = 2 * (p->top + i), w = 2 * (p->left + j);
      const int keep = (h + 1 < y->shape.h ? 15 : 3) & (w + 1 < y->shape.w ? 15 : 5);
      guint8 *to = (guint8 *)y->data + view_at(y, p->image * (gsize)y->shape.h + (gsize)h, w) + o;
      output_tile(z->m + (gsize)(i * p->columns + j) * TM_WINOGRAD_OUT, z->cut.product, keep, outs, to, ld,
                  row);
    }
}

void KERNEL(winograd_u8)(const TmTeam *team, const TmView *x, const void *packed, const float *scale,
                         const float *offset, const TmView *y) {
  const gsize depth = tm_conv8_depth(x->shape.c), blocks = ((gsize)y->shape.c + MICRO8_OUT - 1) / MICRO8_OUT;
  TmWinogradCut cut = tm_winograd_cut(TM_SHAPE(x->shape.n, (int)depth, x->shape.h, x->shape.w), TM_U8);
  cut.plane = (cut.plane + 63) / 64 * 64;
  const gsize pieces = (gsize)x->shape.n * (gsize)cut.down * (gsize)cut.across;
  gsize next = 0;
  TM_PARALLEL(team, view_count(x) * 9) {
    const Winograd8 z = {.x = x,
                         .y = y,
                         .packed = packed,
                         .zeros = (const guint8 *)packed + blocks * micro8_block(16, x->shape.c),
                         .scale = scale,
                         .offset = offset,
                         .cut = cut,
                         .depth = depth,
                         .v = my_work(team),
                         .m = (float *)((guint8 *)my_work(team) + 16 * cut.plane)};
    for (TmRange r; take(&next, pieces, 1, &r);) {
      const TmWinogradPlace p = tm_winograd_place(&cut, r.at);
      transform_input(&z, &p);
      for (int o = 0; o < y->shape.c; o += MICRO8_OUT) {
        const int outs = y->shape.c - o < MICRO8_OUT ? y->shape.c - o : MICRO8_OUT;
        multiply(&z, &p, o, outs);
        transform_output(&z, &p, o, outs);
      }
    }
  }
}
