/* conv3_dw.c: the gradient of a 3x3 convolution by its weights. Each thread adds up its blocks of rows in an
 * array of its own, [tap][in][out]; the arrays are then added in thread order and turned into O,3,3,I. */
#include "kernels/conv3.h"
#include "kernels/cpu/micro.h"
#include "kernels/cpu/pairs.h"

/* One block of rows: n rows of dy from row @from of picture @image, and the rows of x around them. */
typedef struct {
  const TmView *x, *dy;
  gsize image;
  int from, n;
  gsize in, out; /* padded extents of dw */
  float *dw;
  void *room;
} Block;

#ifdef TM_SIMD_AVX512
/* o[k][i] += sum over pairs p of x[i][p + k] d[p], for four rows i of x, three shifts k by a pixel. Meanwhile
 * line @ask, and every @step elements another, is brought into the second-level cache. */
TM_INLINE void outer4(const guint16 *x, gsize ldx, const guint16 *d, int pairs, float *o, gsize ldi,
                      gsize ldk, const guint16 *ask, gsize step) {
  typedef gint32 __attribute__((may_alias, aligned(2))) Pair;
#define EACH(F)                                                                                              \
  F(0, 0) F(0, 1) F(0, 2) F(1, 0) F(1, 1) F(1, 2) F(2, 0) F(2, 1) F(2, 2) F(3, 0) F(3, 1) F(3, 2)
#define F(i, k) __m512 u##i##k = _mm512_setzero_ps(), v##i##k = u##i##k;
  EACH(F)
#undef F
#define F(i, k)                                                                                              \
  _mm_prefetch(o + i * ldi + k * ldk, _MM_HINT_T0), _mm_prefetch(o + i * ldi + k * ldk + 16, _MM_HINT_T0);
  EACH(F)
#undef F
  for (int p = 0; p < pairs; p++, x += 2, d += 64, ask += step) {
    _mm_prefetch(ask, _MM_HINT_T1);
    __asm__("" : "+r"(x)); /* else the compiler keeps words of the next pair in general registers */
    const __m512bh d0 = (__m512bh)_mm512_loadu_si512(d), d1 = (__m512bh)_mm512_loadu_si512(d + 32);
#define F(i, k)                                                                                              \
  {                                                                                                          \
    const __m512bh s = (__m512bh)_mm512_set1_epi32(*(const Pair *)(x + i * ldx + k));                        \
    u##i##k = _mm512_dpbf16_ps(u##i##k, s, d0);                                                              \
    v##i##k = _mm512_dpbf16_ps(v##i##k, s, d1);                                                              \
  }
    EACH(F)
#undef F
  }
#define F(i, k)                                                                                              \
  {                                                                                                          \
    float *to = o + i * ldi + k * ldk;                                                                       \
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), u##i##k));                                       \
    _mm512_storeu_ps(to + 16, _mm512_add_ps(_mm512_loadu_ps(to + 16), v##i##k));                             \
  }
  EACH(F)
#undef F
#undef EACH
}

/* What the next block will read, a line of every second pixel for each call: memory would else stand still
 * while there is multiplied. NULL when all is asked for. */
static const guint16 *of_next_block(const Block *b, int call, gsize *step) {
  const int line = call / 2 * 32, C = b->x->shape.c;
  const gboolean of_x = line < C;
  const TmView *v = of_x ? b->x : b->dy;
  const int c = of_x ? line : line - (C + 31) / 32 * 32;
  const gsize row = b->image * (gsize)v->shape.h + (gsize)(b->from + b->n + (of_x ? 1 : 0));
  if (c >= v->shape.c || row >= view_rows(v)) return NULL;
  *step = 2 * (gsize)v->ld;
  return (const guint16 *)v->data + view_at(v, row, call % 2) + c;
}

/* Adds the block's products, four channels of x and 32 of dy a call. What the next call reads is asked for
 * too: turned pictures of many channels do not fit the cache. */
static void multiply(const Block *b, const guint16 *xt, gsize ldx, const guint16 *d, int pairs) {
  const gsize width = tm_conv3_dw_width(b->x->shape), block = (gsize)pairs * 64;
  int call = 0;
  for (gsize o = 0; o < b->out; o += 32)
    for (gsize kh = 0; kh < 3; kh++)
      for (gsize c = 0; c < b->in; c += 4, call++) {
        const guint16 *x = xt + c * ldx + kh * width;
        gsize step = 4 * ldx / (gsize)pairs;
        const guint16 *ask = of_next_block(b, call, &step);
        outer4(x, ldx, d + o / 32 * block, pairs, b->dw + (kh * 3 * b->in + c) * b->out + o, b->out,
               b->in * b->out, ask ? ask : x + 4 * ldx, step);
      }
}

/* x's rows turned on their side, one channel after the other, with a border of zeros; dy's pixels in pairs,
 * rows of x's width ending in zeros: so the rows of a block are one long row. */
static void block_pairs(const Block *b) {
  const TmView *x = b->x, *dy = b->dy;
  const int W = x->shape.w, H = x->shape.h, C = x->shape.c, width = (int)tm_conv3_dw_width(x->shape),
            pairs = b->n * width / 2;
  const gsize ldx = tm_conv3_up((gsize)((b->n + 2) * width), 32) + 32, block = (gsize)pairs * 64;
  guint16 *xt = b->room, *d = xt + b->in * ldx;
  for (int i = 0; i < b->n + 2; i++) {
    const int h = b->from + i - 1;
    if (h < 0 || h >= H) {
      for (int c = 0; c < C; c++) memset(xt + (gsize)c * ldx + i * width, 0, (gsize)(width + 2) * 2);
      continue;
    }
    const guint16 *p = (const guint16 *)x->data + view_at(x, b->image * (gsize)H + (gsize)h, 0);
    transpose_pixels(p, (gsize)x->ld, W, C, xt + i * width + 1, ldx);
    for (int c = 0; c < C; c++) { /* two more: the last pair's shifts read them */
      guint16 *row = xt + (gsize)c * ldx + i * width;
      row[0] = 0;
      for (int w = W + 1; w < width + 2; w++) row[w] = 0;
    }
  }
  for (gsize c = (gsize)C; c < b->in; c++) memset(xt + c * ldx, 0, ldx * 2);
  for (int i = 0; i < b->n; i++) {
    const guint16 *p = (const guint16 *)dy->data + view_at(dy, b->image * (gsize)H + (gsize)(b->from + i), 0);
    guint16 *to = d + (gsize)(i * width) * 32;
    interleave_pixels(p, (gsize)dy->ld, W, dy->shape.c, to, block);
    for (gsize o = 0; o < b->out / 32; o++)
      memset(to + o * block + (gsize)((W + 1) / 2) * 64, 0, (gsize)(width / 2 - (W + 1) / 2) * 128);
  }
  multiply(b, xt, ldx, d, pairs);
}
#endif

/* Any table and type: row by row, leaving out what lies in the border. */
static void block_plain(const Block *b) {
  const TmView *x = b->x, *dy = b->dy;
  const int H = x->shape.h, W = x->shape.w;
  const gsize size = tm_dtype_size(x->dtype);
  for (int o = 0; o < dy->shape.c; o += MICRO_OUT)
    for (int t = 0; t < 9; t++)
      for (int c = 0; c < x->shape.c; c += MICRO_PIXELS)
        for (int i = 0; i < b->n; i++) {
          const int h = b->from + i + t / 3 - 1, shift = t % 3 - 1, first = shift < 0 ? 1 : 0,
                    last = shift > 0 ? W - 1 : W;
          if (h < 0 || h >= H || first >= last) continue;
          const gsize at = b->image * (gsize)H, left = (gsize)(x->shape.c - c),
                      right = (gsize)(dy->shape.c - o);
          const MicroDw q = {
              .x = (const char *)x->data + (view_at(x, at + (gsize)h, first + shift) + (gsize)c) * size,
              .ldx = (gsize)x->ld,
              .ins = left < MICRO_PIXELS ? (int)left : MICRO_PIXELS,
              .d = (const char *)dy->data + (view_at(dy, at + (gsize)(b->from + i), first) + (gsize)o) * size,
              .ldd = (gsize)dy->ld,
              .outs = right < MICRO_OUT ? (int)right : MICRO_OUT,
              .pixels = last - first,
              .o = b->dw + ((gsize)t * b->in + (gsize)c) * b->out + (gsize)o,
              .ldo = b->out};
          KERNEL(micro_dw)(x->dtype, &q);
        }
}

/* The sum over threads of VL outs from @o on, of weight (tap, i). */
TM_INLINE vf add_threads(const TmTeam *team, gsize in, gsize out, gsize t, gsize i, gsize o) {
  vf s = v_set(0);
  for (int k = 0; k < team->threads; k++)
    s = s +
        v_load((const float *)((const char *)team->work + team->stride * (gsize)k) + (t * in + i) * out + o);
  return s;
}

/* dw[o][tap][i] = sum over threads of theirs [tap][i][o], for VL outs o and one i after the other. */
static void add_up(const TmTeam *team, gsize in, gsize out, gsize I, int O, int o, float *dw) {
  for (gsize t = 0; t < 9; t++)
    for (gsize i = 0; i < I; i += 16) {
      const gsize part = I - i < 16 ? I - i : 16;
#ifdef TM_SIMD_AVX512
      __m512i r[16];
      for (gsize k = 0; k < 16; k++)
        r[k] = k < part ? v_bits(add_threads(team, in, out, t, i + k, (gsize)o)) : _mm512_setzero_si512();
      transpose16(r);
      for (int j = 0; j < VL && o + j < O; j++)
        v_store_n(dw + ((gsize)(o + j) * 9 + t) * I + i, v_of_bits(r[j]), (int)part);
#else
      float turned[VL * 16];
      for (gsize k = 0; k < part; k++)
        v_store(turned + k * VL, add_threads(team, in, out, t, i + k, (gsize)o));
      for (int j = 0; j < VL && o + j < O; j++)
        for (gsize k = 0; k < part; k++) dw[((gsize)(o + j) * 9 + t) * I + i + k] = turned[k * VL + (gsize)j];
#endif
    }
}

void KERNEL(conv3_dw)(const TmTeam *team, const TmView *x, const TmView *dy, float *dw) {
  const int H = x->shape.h, step = tm_conv3_dw_rows(x->shape, x->dtype, dy->shape.c),
            blocks = (H + step - 1) / step;
  const gsize in = tm_conv3_up((gsize)x->shape.c, 4), out = tm_conv3_up((gsize)dy->shape.c, 32),
              sums = 9 * in * out;
  TmTeam used = *team; /* those who worked: a small picture is one thread's */
  TM_PARALLEL(team, view_count(x) * 9) {
    if (omp_get_thread_num() == 0) used.threads = omp_get_num_threads();
    float *mine = my_work(team);
    memset(mine, 0, sums * sizeof(float));
    for (TmRange r = my_share((gsize)x->shape.n * (gsize)blocks); r.at < r.end; r.at++) {
      const int from = (int)(r.at % (gsize)blocks) * step;
      const Block b = {.x = x,
                       .dy = dy,
                       .image = r.at / (gsize)blocks,
                       .from = from,
                       .n = H - from < step ? H - from : step,
                       .in = in,
                       .out = out,
                       .dw = mine,
                       .room = mine + sums};
#ifdef TM_SIMD_AVX512
      if (x->dtype == TM_BF16) {
        block_pairs(&b);
        continue;
      }
#endif
      block_plain(&b);
    }
  }
  TM_PARALLEL(team, sums)
  for (TmRange r = my_share((gsize)(dy->shape.c + VL - 1) / VL); r.at < r.end; r.at++)
    add_up(&used, in, out, (gsize)x->shape.c, dy->shape.c, (int)r.at * VL, dw);
}
