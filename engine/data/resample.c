#include "engine/data/resample.h"

#include "engine/core/label.h"

#include <math.h>
#include <string.h>

/* Weights are 14-bit fixed point and each pixel's sum to exactly ONE, so a flat colour stays exactly what it
 * is. */
enum { WEIGHT_BITS = 14, ONE = 1 << WEIGHT_BITS, ROW_BITS = 6 };

/* Which source pixels make one output pixel along an axis. */
typedef struct {
  int first; /* -1: outside of the picture */
  int n;
} Taps;

typedef struct {
  Taps *taps;       /* one per output pixel */
  guint16 *weights; /* max_taps per output pixel */
  int max_taps;
} Axis;

static void axis_clear(Axis *a) {
  g_free(a->taps);
  g_free(a->weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Axis, axis_clear)

/* Rounds @w (which sum to 1) to fixed point. The running sum is rounded, so that the whole is exact and
 * nothing negative. */
static void weights_to_fixed(const double *w, int n, guint16 *out) {
  double sum = 0;
  long before = 0;
  for (int i = 0; i < n; i++) {
    sum += w[i];
    const long now = i == n - 1 ? ONE : CLAMP(lrint(sum * ONE), before, ONE);
    out[i] = (guint16)(now - before);
    before = now;
  }
}

/* Bilinear: two neighbours at half-pixel centres, clamped at the border. */
static void taps_enlarge(double centre, int size, Taps *t, double *w) {
  const double c = CLAMP(centre, 0.0, (double)size - 1.0);
  const int i = MIN((int)c, MAX(size - 2, 0));
  *t = (Taps){i, size > 1 ? 2 : 1};
  w[0] = size > 1 ? 1.0 - (c - i) : 1.0;
  w[1] = c - i;
}

/* Area: each source pixel by the share that it has in [lo, hi). */
static void taps_shrink(double lo, double hi, int size, int max_taps, Taps *t, double *w) {
  const int first = CLAMP((int)floor(lo), 0, size - 1);
  const int last = CLAMP((int)ceil(hi) - 1, first, MIN(size, first + max_taps) - 1);
  double sum = 0;
  for (int i = first; i <= last; i++) sum += w[i - first] = MAX(MIN(hi, i + 1.0) - MAX(lo, (double)i), 0.0);
  if (sum <= 0) sum = w[0] = 1;
  for (int i = first; i <= last; i++) w[i - first] /= sum;
  *t = (Taps){first, last - first + 1};
}

/* The taps of output pixels 0..n-1, which lie at @offset in an axis of @size pixels scaled to @scaled. */
static gboolean axis_init(Axis *a, int size, int scaled, int offset, int n, gboolean flip) {
  const double ratio = (double)size / scaled;
  a->max_taps = ratio > 1 ? (int)ceil(ratio) + 1 : 2;
  a->taps = g_try_new(Taps, n);
  a->weights = g_try_malloc0_n((gsize)n, (gsize)a->max_taps * sizeof(guint16));
  g_autofree double *w = g_try_malloc_n((gsize)a->max_taps, sizeof(double));
  if (!a->taps || !a->weights || !w) return FALSE;
  for (int i = 0; i < n; i++) {
    const int x = offset + (flip ? n - 1 - i : i);
    Taps *t = a->taps + i;
    if (x < 0 || x >= scaled) {
      *t = (Taps){-1, 0};
      continue;
    }
    if (ratio > 1)
      taps_shrink(x * ratio, (x + 1) * ratio, size, a->max_taps, t, w);
    else
      taps_enlarge((x + 0.5) * ratio - 0.5, size, t, w);
    weights_to_fixed(w, t->n, a->weights + (gsize)i * (gsize)a->max_taps);
  }
  return TRUE;
}

/* The axis across, laid out for a loop without branches: rows are of four bytes a pixel, the fourth of no
 * meaning, and tap k of all output pixels stands together. */
typedef struct {
  int w, taps;
  int *from;        /* taps * w: byte offset of the source pixel */
  guint16 *weights; /* taps * 4w; 0 for a tap that a pixel does not have */
  guint8 *source;   /* one row and a pixel more, so that four bytes may be read of each pixel */
  guint32 *taken;   /* taps * w: the source pixels of the row at hand */
  guint32 *sums;    /* 4w */
  gsize source_bytes;
} Across;

static void across_clear(Across *a) {
  g_free(a->from);
  g_free(a->weights);
  g_free(a->source);
  g_free(a->taken);
  g_free(a->sums);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Across, across_clear)

static gboolean across_init(Across *a, const Axis *ax, int w, int source_w) {
  const gsize n = (gsize)w, taps = (gsize)ax->max_taps;
  *a = (Across){.w = w, .taps = ax->max_taps, .source_bytes = (gsize)source_w * 3};
  a->from = g_try_malloc0_n(taps, n * sizeof *a->from);
  a->weights = g_try_malloc0_n(taps, n * 4 * sizeof *a->weights);
  a->source = g_try_malloc0(a->source_bytes + 4);
  a->taken = g_try_malloc_n(taps, n * sizeof *a->taken);
  a->sums = g_try_malloc_n(n, 4 * sizeof *a->sums);
  if (!a->from || !a->weights || !a->source || !a->taken || !a->sums) return FALSE;
  for (gsize x = 0; x < n; x++)
    for (int k = 0; k < ax->taps[x].n; k++) {
      const gsize at = (gsize)k * n + x;
      a->from[at] = 3 * (ax->taps[x].first + k);
      for (gsize c = 0; c < 4; c++) a->weights[at * 4 + c] = ax->weights[x * taps + (gsize)k];
    }
  return TRUE;
}

/* Two taps, as in all enlarging, in one go. */
static void sum_two(const guint8 *p, const guint8 *q, const guint16 *wp, const guint16 *wq, int n,
                    guint16 *restrict out) {
  for (int i = 0; i < n; i++) out[i] = (guint16)((guint32)(wp[i] * p[i] + wq[i] * q[i]) >> ROW_BITS);
}

static void sum_many(const Across *a, int n, guint16 *restrict out) {
  const guint8 *p = (const guint8 *)a->taken;
  const guint16 *w = a->weights;
  guint32 *restrict sums = a->sums;
  for (int i = 0; i < n; i++) sums[i] = (guint32)(w[i] * p[i]);
  for (int k = 1; k < a->taps; k++) {
    p += n;
    w += n;
    for (int i = 0; i < n; i++) sums[i] += (guint32)(w[i] * p[i]);
  }
  for (int i = 0; i < n; i++) out[i] = (guint16)(sums[i] >> ROW_BITS);
}

/* One source row along x: 14 bits of weight and 8 of colour, kept to 16 bits. Outside of the picture: 0. */
static void row_across(const Across *a, const guint8 *row, guint16 *out) {
  const int n = 4 * a->w, all = a->taps * a->w;
  memcpy(a->source, row, a->source_bytes);
  for (int i = 0; i < all; i++) memcpy(a->taken + i, a->source + a->from[i], 4);
  const guint8 *p = (const guint8 *)a->taken;
  if (a->taps == 2)
    sum_two(p, p + n, a->weights, a->weights + n, n, out);
  else
    sum_many(a, n, out);
}

static void rows_down(const guint16 *const *rows, const guint16 *wt, int n, guint32 *restrict acc, int count,
                      guint8 *restrict out) {
  enum { SHIFT = 2 * WEIGHT_BITS - ROW_BITS };
  if (n == 2) {
    const guint16 *a = rows[0], *b = rows[1];
    const guint16 wa = wt[0], wb = wt[1];
    for (int i = 0; i < count; i++)
      out[i] = (guint8)(((guint32)wa * a[i] + (guint32)wb * b[i] + (1u << (SHIFT - 1))) >> SHIFT);
    return;
  }
  for (int i = 0; i < count; i++) acc[i] = 1u << (SHIFT - 1);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < count; i++) acc[i] += (guint32)wt[k] * rows[k][i];
  for (int i = 0; i < count; i++) out[i] = (guint8)(acc[i] >> SHIFT);
}

static void fill_pixels(guint8 *out, int n, const guint8 fill[3]) {
  for (int i = 0; i < n; i++, out += 3) memcpy(out, fill, 3);
}

/* A row of four bytes a pixel into one of three; @fill where the axis is outside. */
static void row_out(const guint8 *row, const Axis *ax, int w, const guint8 fill[3], guint8 *rgb) {
  for (int x = 0; x < w; x++) memcpy(rgb + 3 * x, ax->taps[x].first < 0 ? fill : row + 4 * x, 3);
}

static gboolean resample_scaled(const TmSample *in, const TmWindow *win, const guint8 fill[3], guint8 *rgb) {
  g_auto(Axis) ax = {0}, ay = {0};
  g_auto(Across) across = {0};
  if (!axis_init(&ax, in->w, win->sw, win->x, win->w, win->flip)) return FALSE;
  if (!axis_init(&ay, in->h, win->sh, win->y, win->h, FALSE)) return FALSE;
  if (!across_init(&across, &ax, win->w, in->w)) return FALSE;
  const int count = win->w * 4, slots = ay.max_taps;
  g_autofree guint16 *ring = g_try_malloc_n((gsize)slots, (gsize)count * sizeof *ring);
  g_autofree guint8 *whole = g_try_malloc((gsize)count);
  g_autofree int *held = g_try_new(int, slots);
  g_autofree const guint16 **rows = g_try_new(const guint16 *, slots);
  if (!ring || !whole || !held || !rows) return FALSE;
  for (int i = 0; i < slots; i++) held[i] = -1;
  for (int y = 0; y < win->h; y++, rgb += win->w * 3) {
    const Taps t = ay.taps[y];
    if (t.first < 0) {
      fill_pixels(rgb, win->w, fill);
      continue;
    }
    for (int i = 0; i < t.n; i++) {
      const int r = t.first + i, slot = r % slots;
      guint16 *row = ring + (gsize)slot * (gsize)count;
      if (held[slot] != r) row_across(&across, in->rgb + (gsize)r * (gsize)in->w * 3, row);
      held[slot] = r;
      rows[i] = row;
    }
    rows_down(rows, ay.weights + (gsize)y * (gsize)ay.max_taps, t.n, across.sums, count, whole);
    row_out(whole, &ax, win->w, fill, rgb);
  }
  return TRUE;
}

/* Size unchanged: rows are copied, mirrored if need be. */
static void copy_window(const TmSample *in, const TmWindow *win, const guint8 fill[3], guint8 *rgb) {
  const int x0 = CLAMP(-win->x, 0, win->w), x1 = CLAMP(in->w - win->x, x0, win->w);
  for (int y = 0; y < win->h; y++, rgb += (gsize)win->w * 3) {
    const int sy = win->y + y;
    if (sy < 0 || sy >= in->h || x0 >= x1) {
      fill_pixels(rgb, win->w, fill);
      continue;
    }
    const guint8 *src = in->rgb + ((gsize)sy * (gsize)in->w + (gsize)(win->x + x0)) * 3;
    if (!win->flip) {
      fill_pixels(rgb, x0, fill);
      memcpy(rgb + x0 * 3, src, (gsize)(x1 - x0) * 3);
      fill_pixels(rgb + x1 * 3, win->w - x1, fill);
      continue;
    }
    guint8 *dst = rgb + (win->w - 1 - x0) * 3;
    fill_pixels(rgb + (win->w - x0) * 3, x0, fill);
    for (int x = x0; x < x1; x++, src += 3, dst -= 3) memcpy(dst, src, 3);
    fill_pixels(rgb, win->w - x1, fill);
  }
}

gboolean tm_resample_rgb(const TmSample *in, const TmWindow *win, const guint8 fill[3], guint8 *rgb) {
  if (win->sw == in->w && win->sh == in->h) {
    copy_window(in, win, fill, rgb);
    return TRUE;
  }
  return resample_scaled(in, win, fill, rgb);
}

gboolean tm_resample_labels(const TmSample *in, const TmWindow *win, guint8 *labels) {
  const gsize w = (gsize)win->w;
  if (!in->labels) {
    memset(labels, TM_VOID, w * (gsize)win->h);
    return TRUE;
  }
  g_autofree int *from = g_try_new(int, win->w);
  if (!from) return FALSE;
  for (int i = 0; i < win->w; i++) {
    const gint64 x = win->x + (win->flip ? win->w - 1 - i : i);
    from[i] = x < 0 || x >= win->sw ? -1 : (int)((2 * x + 1) * in->w / (2 * (gint64)win->sw));
  }
  for (int y = 0; y < win->h; y++, labels += w) {
    const gint64 sy = win->y + y;
    if (sy < 0 || sy >= win->sh) {
      memset(labels, TM_VOID, w);
      continue;
    }
    const guint8 *src = in->labels + (gsize)((2 * sy + 1) * in->h / (2 * (gint64)win->sh)) * (gsize)in->w;
    for (int x = 0; x < win->w; x++) labels[x] = from[x] < 0 ? TM_VOID : src[from[x]];
  }
  return TRUE;
}
