/* range.h: how large the numbers of one layer are, gathered over pictures, and where best to cut them off so
 * that bytes can hold them. One thread at a time. */
#pragma once

#include <glib.h>

enum { TM_RANGE_BINS = 2048 };

/* A histogram of sizes whose bins widen as larger numbers come. Exact zeros, which bytes hold exactly, are
 * left out. */
typedef struct {
  double width; /* of a bin; 0: nothing came yet */
  guint64 bins[TM_RANGE_BINS];
} TmRange;

void tm_range_add(TmRange *r, const float *x, gsize n);

/** The size beyond which numbers are cut off, the rest being rounded to @levels steps, so that the mean
 * squared error of both together is least (Nagel et al., A White Paper on Neural Network Quantization,
 * 2021, 3.1). 1 when nothing but zeros came. */
double tm_range_limit(const TmRange *r, int levels);
