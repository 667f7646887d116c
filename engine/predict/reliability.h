/* reliability.h: does a net that is 80 % sure get 80 % right? Pixels sorted by sureness into bins of equal width,
 * and the expected calibration error (Guo et al., On Calibration of Modern Neural Networks, 2017): the mean of
 * |share right - mean sureness| over the bins, weighted by their pixels. Pure; any thread. */
#pragma once

#include <glib.h>

enum { TM_RELIABILITY_BINS = 15 };

/* Bin m of M holds sureness in (m/M, (m+1)/M]. */
typedef struct {
  guint64 pixels, right;
  double sure; /* summed */
} TmReliabilityBin;

/** Adds judged pixels to @bins (TM_RELIABILITY_BINS): those whose truth is below @classes. */
void tm_reliability_add(TmReliabilityBin *bins, const guint8 *truth, const guint8 *call, const float *sure,
                        gsize count, guint classes);
/** The expected calibration error, 0..1; NAN without pixels. */
double tm_reliability_error(const TmReliabilityBin *bins);
