#include "engine/predict/sureness.h"

#include <math.h>

void tm_sureness(const float *logits, gsize pixels, guint classes, float *sure) {
#pragma omp parallel for schedule(static)
  for (gsize i = 0; i < pixels; i++) {
    const float *row = logits + i * classes;
    float most = row[0], sum = 0;
    for (guint c = 1; c < classes; c++) most = fmaxf(most, row[c]);
    for (guint c = 0; c < classes; c++) sum += expf(row[c] - most); /* the largest gives exactly 1 */
    sure[i] = isfinite(sum) ? 1 / sum : 0;
  }
}
