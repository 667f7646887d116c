/* samples.h: op cases of random sizes, from one row an op. */
#pragma once

#include "tests/ops/op_cases.h"

typedef struct {
  TmOp op;
  const char *inputs; /* one letter an input: x of the drawn shape, u enlarged by the factor, D the same with
                         a rest, b enlarged by the border, l labels, w weights, p pixels, c vector, v
                         statistics made of the input before, r 2C sums, s scalar, t tick, o pooled from the
                         input before */
  guint classes_of;
} Sampled;

const Sampled *sampled_ops(guint *n);
/** Draws sizes 1..40 and channels 1..70 by @k: the same @k gives the same case. */
void sample_case(const Sampled *s, guint k, TmOpCase *c);
