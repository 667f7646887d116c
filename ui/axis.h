/* axis.h: the mathematics of one axis of a plot: range, linear or logarithmic placing, ticks and their
 * labels. Plain data; any thread. */
#pragma once

#include <glib.h>

typedef struct {
  double lo, hi; /* lo < hi; both > 0 when log */
  gboolean log;
} TmAxis;

enum { TM_AXIS_MAX_TICKS = 24 };

/** A range that shows @lo..@hi with a little air. A constant series is padded around its value, so it is
 * drawn as a flat line in the middle; a range that is not finite or empty becomes 0..1 (0.1..1 when log). */
void tm_axis_fit(TmAxis *a, double lo, double hi, gboolean log);
/** Where @v lies, 0 at lo and 1 at hi; NAN for values a logarithmic axis cannot show. */
double tm_axis_place(const TmAxis *a, double v);
/** The value at @t, the reverse of tm_axis_place(). */
double tm_axis_value(const TmAxis *a, double t);
/** Round values within the range, at most @most of them (up to TM_AXIS_MAX_TICKS); returns how many. */
guint tm_axis_ticks(const TmAxis *a, guint most, double out[TM_AXIS_MAX_TICKS]);
/** Text of a tick that keeps neighbours apart: "0.0005", "2", "1e-7". Free it. */
char *tm_axis_label(const TmAxis *a, double v, double step);
