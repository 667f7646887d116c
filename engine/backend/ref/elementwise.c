#include "engine/backend/ref/ref.h"

#include "engine/core/random.h"

#include <math.h>

/* out = F(a, b) at every element, k being the op's value. Each instance is a loop of its own. */
#define BINARY(name, expression)                                                                             \
  static void run_##name(const RefCall *call) {                                                              \
    double *x = ref_row(call, 0), *y = ref_row(call, 1);                                                     \
    for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {                                           \
      ref_get_all(&call->in[0], p, x);                                                                       \
      ref_get_all(&call->in[1], p, y);                                                                       \
      for (int c = 0; c < call->out.shape.c; c++) {                                                          \
        const double a = x[c], b = y[c];                                                                     \
        x[c] = (expression);                                                                                 \
      }                                                                                                      \
      ref_put_all(&call->out, p, x);                                                                         \
    }                                                                                                        \
  }                                                                                                          \
  const RefKernel ref_##name = {.run = run_##name, .rows = 2};

#define UNARY(name, expression)                                                                              \
  static void run_##name(const RefCall *call) {                                                              \
    double *x = ref_row(call, 0);                                                                            \
    for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {                                           \
      ref_get_all(&call->in[0], p, x);                                                                       \
      for (int c = 0; c < call->out.shape.c; c++) {                                                          \
        const double a = x[c];                                                                               \
        x[c] = (expression);                                                                                 \
      }                                                                                                      \
      ref_put_all(&call->out, p, x);                                                                         \
    }                                                                                                        \
  }                                                                                                          \
  const RefKernel ref_##name = {.run = run_##name, .rows = 1};

UNARY(relu, a <= 0 ? 0 : a) /* a NaN stays one, so that it is found */
BINARY(relu_dx, b > 0 ? a : 0)
UNARY(sigmoid, 1 / (1 + exp(-a)))
BINARY(sigmoid_dx, a *b *(1 - b))
BINARY(add, a + b)
BINARY(mul, a *b)
UNARY(scale, a *(double)call->node->attrs.value)

static void run_dropout(const RefCall *call) {
  const double share = (double)call->node->attrs.value;
  const guint64 key = call->node->attrs.key, tick = (guint64) * (const gint32 *)call->in[1].data;
  const gsize n_c = (gsize)call->out.shape.c;
  double *x = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get_all(&call->in[0], p, x);
    for (gsize c = 0; c < n_c; c++) {
      const double u = (double)(tm_random_hash(key, tick, p * n_c + c) >> 40) * 0x1p-24;
      x[c] = u >= share ? x[c] / (1 - share) : 0;
    }
    ref_put_all(&call->out, p, x);
  }
}

const RefKernel ref_dropout = {.run = run_dropout, .rows = 1};

static void run_normalize(const RefCall *call) {
  double *x = ref_row(call, 0), *mean = ref_row(call, 1), *deviation = ref_row(call, 2);
  ref_get_all(&call->in[1], 0, mean);
  ref_get_all(&call->in[2], 0, deviation);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get_all(&call->in[0], p, x);
    for (int c = 0; c < call->out.shape.c; c++) x[c] = (x[c] - mean[c]) / deviation[c];
    ref_put_all(&call->out, p, x);
  }
}

const RefKernel ref_normalize = {.run = run_normalize, .rows = 3};
