/* series.h: the points of one curve, made to be drawn: a value per step with its place on three horizontal
 * axes, in growing arrays with a pyramid of minima and maxima over them, so that a million points cost as
 * much to draw as the plot has columns. Main thread. */
#pragma once

#include <glib.h>

typedef enum { TM_UNIT_EPOCHS, TM_UNIT_STEPS, TM_UNIT_MINUTES, TM_N_UNITS } TmUnit;

/* What a stretch of points holds. Values that are not finite count as bad, values <= 0 as low: a logarithmic
 * axis leaves those out. */
typedef struct {
  float lo, hi;       /* of the finite values; lo > hi when there are none */
  float low_positive; /* smallest value > 0; INFINITY when there is none */
  guint n, bad, low;
} TmSpread;

/* One pixel column. */
typedef struct {
  TmSpread spread;
  float first, last; /* finite values at the ends of the column; NAN when there are none */
} TmColumn;

typedef struct _TmSeries TmSeries;

TmSeries *tm_series_new(void);
TmSeries *tm_series_ref(TmSeries *s);
void tm_series_unref(TmSeries *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmSeries, tm_series_unref)

/** Adds a point. A step not after the last one's replaces what was recorded from there on (a resumed run
 * never draws a zigzag). */
void tm_series_add(TmSeries *s, double step, double epoch, double minutes, double value);
void tm_series_clear(TmSeries *s);
guint tm_series_n(const TmSeries *s);
double tm_series_x(const TmSeries *s, TmUnit unit, guint i);
double tm_series_y(const TmSeries *s, guint i);
/** Index of the first point at or after @x; tm_series_n() when there is none. */
guint tm_series_find(const TmSeries *s, TmUnit unit, double x);
/** Index of the point nearest to @x that is finite; G_MAXUINT when there is none. */
guint tm_series_nearest(const TmSeries *s, TmUnit unit, double x);
/** The spread of points @from..@to-1. */
void tm_series_spread(const TmSeries *s, guint from, guint to, TmSpread *out);
/** Divides x0..x1 into @n columns and fills each. */
void tm_series_columns(const TmSeries *s, TmUnit unit, double x0, double x1, guint n, TmColumn *out);

/** Makes @out the running mean of @in: weight @amount 0..1 (0 copies). Begins as a plain mean of what there
 * is; a constant stays exactly constant; values that are not finite leave a gap. Goes on where it stopped
 * when @amount is the same and @in only grew. */
void tm_series_smooth(TmSeries *out, const TmSeries *in, double amount);
