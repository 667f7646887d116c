/* conv3.c: 3x3 convolutions of stride 1 with a border of one pixel of zeros, forward and adjoint (which is
 * forward with the weights turned).
 *
 * A thread copies a block of rows with its border into work space that fits its cache, so that every pixel is
 * treated alike, whatever the picture's edges, slices and channel counts; then it runs the register blocks of
 * micro.c over it for one block of output channels after the other. */
#include "kernels/conv3.h"
#include "kernels/cpu/micro.h"
#include "kernels/cpu/pairs.h"

TM_INLINE int blocks_of(int channels) {
  return (channels + MICRO_OUT - 1) / MICRO_OUT;
}

/* ---- weights ---- */

/* Any table: one weight at a time. out and depth are the packed side's. */
static void pack_block(TmDType type, const float *w, int I, gboolean backward, int first, int out, int depth,
                       void *block) {
  const int last = first + MICRO_OUT < out ? first + MICRO_OUT : out;
  memset(block, 0, micro_block(type, 9, depth));
  for (int t = 0; t < 9; t++)
    for (int k = 0; k < depth; k++)
      for (int o = first; o < last; o++) {
        const gsize at = backward ? ((gsize)k * 9 + (gsize)(8 - t)) * (gsize)I + (gsize)o
                                  : ((gsize)o * 9 + (gsize)t) * (gsize)I + (gsize)k;
        micro_put(type, block, depth, t, k, o - first, w[at]);
      }
}

#ifdef TM_SIMD_AVX512
TM_INLINE __m512i two_to_bf16(__m512 low, __m512 high) {
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

TM_INLINE __mmask16 first_of(int n) {
  return n <= 0 ? 0 : v_first(n < 16 ? n : 16);
}

/* Outputs are w's rows: 16 rows of 32 columns are turned, a pair of columns being one word. */
static void pack_forward(const float *w, int I, int first, int out, guint16 *block) {
  const gsize pairs = (gsize)(I + 1) / 2;
  for (int t = 0; t < 9; t++)
    for (int k = 0; k < I; k += 32)
      for (int half = 0; half < 2; half++) {
        __m512i r[16];
        for (int j = 0; j < 16; j++) {
          const int o = first + half * 16 + j;
          const float *p = w + ((gsize)(o < out ? o : 0) * 9 + (gsize)t) * (gsize)I + k;
          const __mmask16 low = o < out ? first_of(I - k) : 0, high = o < out ? first_of(I - k - 16) : 0;
          r[j] = two_to_bf16(_mm512_maskz_loadu_ps(low, p), _mm512_maskz_loadu_ps(high, p + 16));
        }
        transpose16(r);
        for (int j = 0; j < 16 && k / 2 + j < (int)pairs; j++)
          _mm512_storeu_si512(block + (((gsize)t * pairs + (gsize)(k / 2 + j)) * 2 + (gsize)half) * 32, r[j]);
      }
}

/* Outputs are w's columns: two rows are woven together. */
static void pack_backward(const float *w, int I, int first, int depth, guint16 *block) {
  const gsize pairs = (gsize)(depth + 1) / 2;
  const __mmask16 low = first_of(I - first), high = first_of(I - first - 16);
  for (int t = 0; t < 9; t++)
    for (int k = 0; k < depth; k += 2) {
      const float *p = w + ((gsize)k * 9 + (gsize)(8 - t)) * (gsize)I + first, *q = p + 9 * (gsize)I;
      const gboolean two = k + 1 < depth;
      const __m512i a = two_to_bf16(_mm512_maskz_loadu_ps(low, p), _mm512_maskz_loadu_ps(high, p + 16));
      const __m512i b =
          two_to_bf16(_mm512_maskz_loadu_ps(two ? low : 0, q), _mm512_maskz_loadu_ps(two ? high : 0, q + 16));
      weave(a, b, block + ((gsize)t * pairs + (gsize)(k / 2)) * 64);
    }
}
#endif

void KERNEL(conv3_pack)(const TmTeam *team, const float *w, int out, int in, TmDType type, gboolean backward,
                        void *packed) {
  const int outs = backward ? in : out, depth = backward ? out : in;
  const gsize block = micro_block(type, 9, depth);
  TM_PARALLEL(team, (gsize)out * (gsize)in * 9)
  for (TmRange r = my_share((gsize)blocks_of(outs)); r.at < r.end; r.at++) {
    void *p = (char *)packed + r.at * block;
    const int first = (int)r.at * MICRO_OUT;
#ifdef TM_SIMD_AVX512
    if (type == TM_BF16) {
      if (backward)
        pack_backward(w, in, first, depth, p);
      else
        pack_forward(w, in, first, out, p);
      continue;
    }
#endif
    pack_block(type, w, in, backward, first, outs, depth, p);
  }
}

/* ---- forward ---- */

/* Copies rows from-1 .. from+n of picture @image into @room with zeros around: (n + 2) x (W + 2) pixels of
 * @depth channels. */
static void copy_rows(const TmView *x, gsize image, int from, int n, gsize depth, char *room) {
  const gsize size = tm_dtype_size(x->dtype), pixel = depth * size, used = (gsize)x->shape.c * size,
              W = (gsize)x->shape.w, row_bytes = (W + 2) * pixel;
  for (int i = 0; i < n + 2; i++, room += row_bytes) {
    const int h = from + i - 1;
    if (h < 0 || h >= x->shape.h) {
      memset(room, 0, row_bytes);
      continue;
    }
    const char *p = (const char *)x->data + view_at(x, image * (gsize)x->shape.h + (gsize)h, 0) * size;
    memset(room, 0, pixel);
    memset(room + (W + 1) * pixel, 0, pixel);
    if (tm_view_dense(x) && used == pixel) {
      memcpy(room + pixel, p, W * pixel);
      continue;
    }
    for (gsize k = 0; k < W; k++) {
      memcpy(room + (k + 1) * pixel, p + k * (gsize)x->ld * size, used);
      if (used < pixel) memset(room + (k + 1) * pixel + used, 0, pixel - used);
    }
  }
}

typedef struct {
  const TmView *x, *y;
  const void *packed;
  const float *bias;
  gboolean relu;
  float *sums; /* C sums of y, then C of y squared, of this block of rows; or NULL */
} Conv3;

/* Output channels from @o on, of rows whose input lies in @room. */
static void block_rows(const Conv3 *c, const char *room, gsize row, int n, int o) {
  const TmView *x = c->x, *y = c->y;
  const TmDType type = x->dtype;
  const gsize size = tm_dtype_size(type), depth = tm_conv3_depth(x->shape.c), pixel = depth * size,
              row_bytes = ((gsize)x->shape.w + 2) * pixel;
  const int outs = y->shape.c - o < MICRO_OUT ? y->shape.c - o : MICRO_OUT;
  float start[MICRO_OUT], sums[2 * MICRO_OUT] = {0};
  gssize taps[9];
  for (int t = 0; t < 9; t++) taps[t] = (gssize)((gsize)(t / 3) * row_bytes + (gsize)(t % 3) * pixel);
  for (int i = 0; c->bias && i < MICRO_OUT; i++) start[i] = i < outs ? c->bias[o + i] : 0;
  Micro q = {.ldx = pixel,
             .taps = taps,
             .n_taps = 9,
             .depth = x->shape.c,
             .start = c->bias ? start : NULL,
             .relu = c->relu,
             .ldy = (gsize)y->ld * size,
             .outs = outs,
             .b = (const char *)c->packed + (gsize)(o / MICRO_OUT) * micro_block(type, 9, x->shape.c),
             .sums = c->sums ? sums : NULL};
  for (int k = 0; k < n; k++) {
    q.x = room + (gsize)k * row_bytes;
    q.y = (char *)y->data + (view_at(y, row + (gsize)k, 0) + (gsize)o) * size;
    KERNEL(micro_row)(type, type, &q, x->shape.w);
  }
  for (int i = 0; c->sums && i < outs; i++) {
    c->sums[o + i] = sums[i];
    c->sums[y->shape.c + o + i] = sums[MICRO_OUT + i];
  }
}

void KERNEL(conv3)(const TmTeam *team, const TmView *x, const void *packed, const float *bias, gboolean relu,
                   const TmView *y, float *stats) {
  const int H = x->shape.h, step = tm_conv3_rows(x->shape, x->dtype), C = y->shape.c,
            blocks = (H + step - 1) / step;
  const gsize pieces = (gsize)x->shape.n * (gsize)blocks;
  gsize next = 0;
  TM_PARALLEL(team, view_count(x) * 9) {
    char *room = my_work(team);
    for (TmRange r; take(&next, pieces, 1, &r);) {
      const gsize image = r.at / (gsize)blocks;
      const int from = (int)(r.at % (gsize)blocks) * step, n = H - from < step ? H - from : step;
      const Conv3 c = {.x = x,
                       .y = y,
                       .packed = packed,
                       .bias = bias,
                       .relu = relu,
                       .sums = stats ? (float *)team->shared + 2 * (gsize)C * r.at : NULL};
      copy_rows(x, image, from, n, tm_conv3_depth(x->shape.c), room);
      for (int o = 0; o < C; o += MICRO_OUT) block_rows(&c, room, image * (gsize)H + (gsize)from, n, o);
    }
  }
  if (stats) stats_of_pieces(team->shared, pieces, C, tm_shape_pixels(y->shape), stats);
}
