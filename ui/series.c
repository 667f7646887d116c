#include "ui/series.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64, LEVELS = 4 }; /* 64^4 points in the top block */

struct _TmSeries {
  gatomicrefcount refs;
  GArray *x[TM_N_UNITS]; /* double */
  GArray *y;             /* float */
  GArray *level[LEVELS]; /* TmSpread of 64, 4096, … points; only whole blocks */
  guint epoch_of_cuts;   /* raised when points are replaced, so that smoothing starts over */
  double amount, state;  /* of the last tm_series_smooth() into this series */
  guint smoothed, smoothed_cuts, averaged;
};

static const TmSpread nothing = {.lo = INFINITY, .hi = -INFINITY, .low_positive = INFINITY};

TmSeries *tm_series_new(void) {
  TmSeries *s = g_new0(TmSeries, 1);
  g_atomic_ref_count_init(&s->refs);
  for (int u = 0; u < TM_N_UNITS; u++) s->x[u] = g_array_new(FALSE, FALSE, sizeof(double));
  s->y = g_array_new(FALSE, FALSE, sizeof(float));
  for (int l = 0; l < LEVELS; l++) s->level[l] = g_array_new(FALSE, FALSE, sizeof(TmSpread));
  s->amount = NAN;
  return s;
}

TmSeries *tm_series_ref(TmSeries *s) {
  g_atomic_ref_count_inc(&s->refs);
  return s;
}

void tm_series_unref(TmSeries *s) {
  if (!s || !g_atomic_ref_count_dec(&s->refs)) return;
  for (int u = 0; u < TM_N_UNITS; u++) g_array_unref(s->x[u]);
  g_array_unref(s->y);
  for (int l = 0; l < LEVELS; l++) g_array_unref(s->level[l]);
  g_free(s);
}

static void cut_to(TmSeries *s, guint n) {
  for (int u = 0; u < TM_N_UNITS; u++) g_array_set_size(s->x[u], n);
  g_array_set_size(s->y, n);
  guint blocks = n;
  for (int l = 0; l < LEVELS; l++) {
    blocks /= BLOCK;
    if (s->level[l]->len > blocks) g_array_set_size(s->level[l], blocks);
  }
  s->epoch_of_cuts++;
}

void tm_series_clear(TmSeries *s) {
  cut_to(s, 0);
  s->amount = NAN;
}

guint tm_series_n(const TmSeries *s) {
  return s->y->len;
}
double tm_series_x(const TmSeries *s, TmUnit unit, guint i) {
  return g_array_index(s->x[unit], double, i);
}
double tm_series_y(const TmSeries *s, guint i) {
  return (double)g_array_index(s->y, float, i);
}

static void spread_point(TmSpread *d, float v) {
  d->n++;
  if (!isfinite(v)) {
    d->bad++;
    return;
  }
  if (v < d->lo) d->lo = v;
  if (v > d->hi) d->hi = v;
  if (v <= 0)
    d->low++;
  else if (v < d->low_positive)
    d->low_positive = v;
}

static void spread_join(TmSpread *d, const TmSpread *e) {
  d->lo = MIN(d->lo, e->lo);
  d->hi = MAX(d->hi, e->hi);
  d->low_positive = MIN(d->low_positive, e->low_positive);
  d->n += e->n;
  d->bad += e->bad;
  d->low += e->low;
}

/* Closes the blocks that the newest point filled, level by level. */
static void close_blocks(TmSeries *s) {
  guint n = s->y->len;
  for (int l = 0; l < LEVELS && n % BLOCK == 0; l++) {
    n /= BLOCK;
    TmSpread d = nothing;
    for (guint i = (n - 1) * BLOCK; i < n * BLOCK; i++) {
      if (l == 0)
        spread_point(&d, g_array_index(s->y, float, i));
      else
        spread_join(&d, &g_array_index(s->level[l - 1], TmSpread, i));
    }
    g_array_append_val(s->level[l], d);
  }
}

void tm_series_add(TmSeries *s, double step, double epoch, double minutes, double value) {
  guint n = s->y->len;
  if (n > 0 && step <= tm_series_x(s, TM_UNIT_STEPS, n - 1))
    cut_to(s, tm_series_find(s, TM_UNIT_STEPS, step));
  float v = (float)value;
  g_array_append_val(s->x[TM_UNIT_EPOCHS], epoch);
  g_array_append_val(s->x[TM_UNIT_STEPS], step);
  g_array_append_val(s->x[TM_UNIT_MINUTES], minutes);
  g_array_append_val(s->y, v);
  close_blocks(s);
}

guint tm_series_find(const TmSeries *s, TmUnit unit, double x) {
  guint lo = 0, hi = s->y->len;
  while (lo < hi) {
    guint mid = lo + (hi - lo) / 2;
    if (tm_series_x(s, unit, mid) < x)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

guint tm_series_nearest(const TmSeries *s, TmUnit unit, double x) {
  guint n = s->y->len, right = tm_series_find(s, unit, x), left = right;
  while (right < n && !isfinite(tm_series_y(s, right))) right++;
  while (left > 0 && !isfinite(tm_series_y(s, left - 1))) left--;
  gboolean has_left = left > 0, has_right = right < n;
  if (!has_left && !has_right) return G_MAXUINT;
  if (!has_left) return right;
  if (!has_right) return left - 1;
  return x - tm_series_x(s, unit, left - 1) < tm_series_x(s, unit, right) - x ? left - 1 : right;
}

void tm_series_spread(const TmSeries *s, guint from, guint to, TmSpread *out) {
  *out = nothing;
  to = MIN(to, s->y->len);
  for (guint i = from; i < to;) {
    /* The largest whole block that begins here and ends before @to. */
    guint size = 1;
    int level = -1;
    for (guint b = BLOCK; level + 1 < LEVELS && i % b == 0 && i + b <= to; b *= BLOCK) {
      size = b;
      level++;
    }
    if (level < 0)
      spread_point(out, g_array_index(s->y, float, i));
    else
      spread_join(out, &g_array_index(s->level[level], TmSpread, i / size));
    i += size;
  }
}

void tm_series_columns(const TmSeries *s, TmUnit unit, double x0, double x1, guint n, TmColumn *out) {
  guint from = tm_series_find(s, unit, x0);
  for (guint c = 0; c < n; c++) {
    double edge = x0 + (x1 - x0) * (c + 1) / n;
    guint to = tm_series_find(s, unit, edge);
    if (c + 1 == n) /* the last column includes its right edge */
      while (to < s->y->len && tm_series_x(s, unit, to) <= x1) to++;
    tm_series_spread(s, from, to, &out[c].spread);
    out[c].first = out[c].last = NAN;
    if (out[c].spread.n > out[c].spread.bad) {
      guint i = from, j = to - 1;
      while (!isfinite(g_array_index(s->y, float, i))) i++;
      while (!isfinite(g_array_index(s->y, float, j))) j--;
      out[c].first = g_array_index(s->y, float, i);
      out[c].last = g_array_index(s->y, float, j);
    }
    from = to;
  }
}

void tm_series_smooth(TmSeries *out, const TmSeries *in, double amount) {
  guint n = tm_series_n(in);
  if (out->amount != amount || out->smoothed_cuts != in->epoch_of_cuts || out->smoothed > n ||
      out->smoothed != out->y->len) {
    tm_series_clear(out);
    out->amount = amount;
    out->smoothed = 0;
    out->smoothed_cuts = in->epoch_of_cuts;
    out->state = NAN;
    out->averaged = 0;
  }
  for (guint i = out->smoothed; i < n; i++) {
    double v = tm_series_y(in, i);
    if (isfinite(v)) { /* a plain mean until there are enough values for the running one */
      out->averaged++;
      double weight = MAX(1 - amount, 1.0 / out->averaged);
      out->state = out->averaged == 1 ? v : out->state + weight * (v - out->state);
    }
    tm_series_add(out, tm_series_x(in, TM_UNIT_STEPS, i), tm_series_x(in, TM_UNIT_EPOCHS, i),
                  tm_series_x(in, TM_UNIT_MINUTES, i), isfinite(v) ? out->state : v);
  }
  out->smoothed = n;
}
