#include "engine/predict/reliability.h"

#include <math.h>

void tm_reliability_add(TmReliabilityBin *bins, const guint8 *truth, const guint8 *call, const float *sure,
                        gsize count, guint classes) {
  for (gsize i = 0; i < count; i++) {
    if (truth[i] >= classes) continue;
    const int m = (int)ceilf(sure[i] * TM_RELIABILITY_BINS) - 1;
    TmReliabilityBin *b = &bins[CLAMP(m, 0, TM_RELIABILITY_BINS - 1)];
    b->pixels++;
    b->right += truth[i] == call[i];
    b->sure += (double)sure[i];
  }
}

double tm_reliability_error(const TmReliabilityBin *bins) {
  double gap = 0;
  guint64 all = 0;
  for (guint m = 0; m < TM_RELIABILITY_BINS; m++) {
    gap += fabs((double)bins[m].right - bins[m].sure); /* pixels times |share right - mean sureness| */
    all += bins[m].pixels;
  }
  return all ? gap / (double)all : NAN;
}
