#include "engine/predict/range.h"

#include <math.h>
#include <string.h>

/* Bins twice as wide. */
static void widen(TmRange *r) {
  for (guint i = 0; i < TM_RANGE_BINS / 2; i++) r->bins[i] = r->bins[2 * i] + r->bins[2 * i + 1];
  memset(r->bins + TM_RANGE_BINS / 2, 0, sizeof r->bins / 2);
  r->width *= 2;
}

void tm_range_add(TmRange *r, const float *x, gsize n) {
  float top = 0;
  for (gsize i = 0; i < n; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
  if (!(top > 0) || !isfinite(top)) return;
  if (r->width == 0) r->width = 1.01 * (double)top / TM_RANGE_BINS;
  while ((double)top >= r->width * TM_RANGE_BINS) widen(r);
  const float inverse = (float)(1 / r->width);
  for (gsize i = 0; i < n; i++)
    if (x[i] != 0) r->bins[MIN((guint)(fabsf(x[i]) * inverse), TM_RANGE_BINS - 1)]++;
}

double tm_range_limit(const TmRange *r, int levels) {
  double best = 1, least = INFINITY, below = 0;
  for (guint cut = 1; cut <= TM_RANGE_BINS && r->width > 0; cut++) {
    const double limit = cut * r->width, step = limit / levels;
    below += (double)r->bins[cut - 1];
    double error = below * step * step / 12; /* of numbers spread evenly within a step */
    for (guint i = cut; i < TM_RANGE_BINS && error < least; i++) {
      const double over = (i + 0.5) * r->width - limit;
      error += (double)r->bins[i] * over * over;
    }
    if (error < least) {
      least = error;
      best = limit;
    }
  }
  return best;
}
