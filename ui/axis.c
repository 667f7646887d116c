#include "ui/axis.h"

#include <math.h>

void tm_axis_fit(TmAxis *a, double lo, double hi, gboolean log) {
  a->log = log;
  if (!isfinite(lo) || !isfinite(hi) || lo > hi || (log && hi <= 0)) {
    a->lo = log ? 0.1 : 0.0;
    a->hi = 1.0;
    return;
  }
  if (log) {
    if (lo <= 0) lo = hi / 1e3;
    double l = log10(lo), h = log10(hi);
    double air = MAX((h - l) * 0.04, 0.02);
    if (h - l < 0.1) air = (0.3 - (h - l)) / 2;
    a->lo = pow(10, l - air);
    a->hi = pow(10, h + air);
    return;
  }
  double span = hi - lo, size = MAX(fabs(lo), fabs(hi));
  double air = span > size * 1e-6 ? span * 0.05 : (size > 0 ? size * 0.5 : 0.5);
  a->lo = lo >= 0 && lo - air < 0 ? 0 : lo - air; /* a loss never shows a negative axis */
  a->hi = hi + air;
}

double tm_axis_place(const TmAxis *a, double v) {
  if (!a->log) return (v - a->lo) / (a->hi - a->lo);
  if (!(v > 0)) return NAN;
  return (log(v) - log(a->lo)) / (log(a->hi) - log(a->lo));
}

double tm_axis_value(const TmAxis *a, double t) {
  if (!a->log) return a->lo + t * (a->hi - a->lo);
  return exp(log(a->lo) + t * (log(a->hi) - log(a->lo)));
}

static double nice_step(double raw) {
  double p = pow(10, floor(log10(raw)));
  double m = raw / p;
  return (m <= 1.0001 ? 1 : m <= 2.0001 ? 2 : m <= 5.0001 ? 5 : 10) * p;
}

static guint linear_ticks(const TmAxis *a, guint most, double *out) {
  double span = a->hi - a->lo;
  double step = nice_step(span / MAX(most, 1u));
  double first = ceil(a->lo / step - 1e-9);
  guint n = 0;
  for (double k = first; n < TM_AXIS_MAX_TICKS && k * step <= a->hi + span * 1e-9; k++) out[n++] = k * step;
  return n;
}

/* Mantissas of the finest set that still fits: a decade shows 1 2 3 5, then 1 2 5, 1 3, 1, then every second
 * power and so on. */
static guint log_ticks(const TmAxis *a, guint most, double *out) {
  static const double sets[4][5] = {{1, 2, 3, 5, 0}, {1, 2, 5, 0, 0}, {1, 3, 0, 0, 0}, {1, 0, 0, 0, 0}};
  int first = (int)floor(log10(a->lo)), last = (int)ceil(log10(a->hi));
  for (guint set = 0; set < 24; set++) {
    int stride = set < 4 ? 1 : (int)set - 2;
    const double *mantissa = sets[MIN(set, 3u)];
    guint n = 0;
    gboolean fits = TRUE;
    for (int d = first; d <= last && fits; d++) {
      if (((d % stride) + stride) % stride != 0) continue;
      for (guint m = 0; mantissa[m] > 0 && fits; m++) {
        double v = mantissa[m] * pow(10, d);
        if (v < a->lo * (1 - 1e-9) || v > a->hi * (1 + 1e-9)) continue;
        if (n == MIN(most, (guint)TM_AXIS_MAX_TICKS))
          fits = FALSE;
        else
          out[n++] = v;
      }
    }
    if (fits) return n;
  }
  return 0;
}

guint tm_axis_ticks(const TmAxis *a, guint most, double out[TM_AXIS_MAX_TICKS]) {
  most = CLAMP(most, 2u, (guint)TM_AXIS_MAX_TICKS - 2);
  if (a->log) {
    guint n = log_ticks(a, most, out);
    if (n >= 2) return n;
  }
  return linear_ticks(a, most, out);
}

char *tm_axis_label(const TmAxis *a, double v, double step) {
  if (v == 0) return g_strdup("0");
  double m = fabs(v);
  if (m < 1e-6 || m >= 1e7) return g_strdup_printf("%.3g", v);
  int decimals = 0;
  if (a->log) { /* no common step: as many as this one needs */
    while (decimals < 8 && fabs(m - round(m * pow(10, decimals)) / pow(10, decimals)) > m * 1e-6) decimals++;
  } else {
    double unit = MIN(fabs(step), m);
    decimals = unit > 0 ? (int)CLAMP(-floor(log10(unit) + 1e-9), 0, 8) : 0;
  }
  return g_strdup_printf("%.*f", decimals, v);
}
