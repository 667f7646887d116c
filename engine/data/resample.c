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

/* One source row along x: 14 bits of weight and 8 of colour, kept to 16 bits. */
static void row_across(const guint8 *src, const Axis *ax, int w, const guint8 fill[3], guint16 *out) {
  for (int x = 0; x < w; x++, out += 3) {
    const Taps t = ax->taps[x];
    if (t.first < 0) {
      for (int c = 0; c < 3; c++) out[c] = (guint16)(fill[c] << (WEIGHT_BITS - ROW_BITS));
      continue;
    }
    const guint8 *p = src + (gsize)t.first * 3;
    const guint16 *wt = ax->weights + (gsize)x * (gsize)ax->max_taps;
    guint32 r = 0, g = 0, b = 0;
    for (int i = 0; i < t.n; i++, p += 3) {
      r += (guint32)wt[i] * p[0];
      g += (guint32)wt[i] * p[1];
      b += (guint32)wt[i] * p[2];
    }
    out[0] = (guint16)(r >> ROW_BITS);
    out[1] = (guint16)(g >> ROW_BITS);
    out[2] = (guint16)(b >> ROW_BITS);
  }
}

static void rows_down(const guint16 *const *rows, const guint16 *wt, int n, guint32 *acc, int count,
                      guint8 *out) {
  enum { SHIFT = 2 * WEIGHT_BITS - ROW_BITS };
  if (n == 2) {
    const guint16 *a = rows[0], *b = rows[1];
    const guint32 wa = wt[0], wb = wt[1];
    for (int i = 0; i < count; i++) out[i] = (guint8)((wa * a[i] + wb * b[i] + (1u << (SHIFT - 1))) >> SHIFT);
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

static gboolean resample_scaled(const TmSample *in, const TmWindow *win, const guint8 fill[3], guint8 *rgb) {
  g_auto(Axis) ax = {0}, ay = {0};
  if (!axis_init(&ax, in->w, win->sw, win->x, win->w, win->flip)) return FALSE;
  if (!axis_init(&ay, in->h, win->sh, win->y, win->h, FALSE)) return FALSE;
  const int count = win->w * 3, slots = ay.max_taps;
  g_autofree guint16 *ring = g_try_malloc_n((gsize)slots, (gsize)count * sizeof *ring);
  g_autofree guint32 *acc = g_try_malloc_n((gsize)count, sizeof *acc);
  g_autofree int *held = g_try_new(int, slots);
  g_autofree const guint16 **rows = g_try_new(const guint16 *, slots);
  if (!ring || !acc || !held || !rows) return FALSE;
  for (int i = 0; i < slots; i++) held[i] = -1;
  for (int y = 0; y < win->h; y++, rgb += count) {
    const Taps t = ay.taps[y];
    if (t.first < 0) {
      fill_pixels(rgb, win->w, fill);
      continue;
    }
    for (int i = 0; i < t.n; i++) {
      const int r = t.first + i, slot = r % slots;
      guint16 *row = ring + (gsize)slot * (gsize)count;
      if (held[slot] != r) row_across(in->rgb + (gsize)r * (gsize)in->w * 3, &ax, win->w, fill, row);
      held[slot] = r;
      rows[i] = row;
    }
    rows_down(rows, ay.weights + (gsize)y * (gsize)ay.max_taps, t.n, acc, count, rgb);
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
