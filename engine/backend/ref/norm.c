/* Batch normalisation; the formulas are at the head of engine/ops/bn.c. */
#include "engine/backend/ref/ref.h"

#include <math.h>
#include <string.h>

static void run_bn_stats(const RefCall *call) {
  const TmView *v = &call->in[0];
  const int n_c = v->shape.c;
  const gsize n = tm_shape_pixels(v->shape);
  double *x = ref_row(call, 0), *mean = ref_row(call, 1), *variance = mean + n_c;
  memset(mean, 0, 2 * (gsize)n_c * sizeof *mean);
  for (gsize p = 0; p < n; p++) {
    ref_get_all(v, p, x);
    for (int c = 0; c < n_c; c++) mean[c] += x[c];
  }
  for (int c = 0; c < n_c; c++) mean[c] /= (double)n;
  for (gsize p = 0; p < n; p++) {
    ref_get_all(v, p, x);
    for (int c = 0; c < n_c; c++) variance[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
  }
  for (int c = 0; c < n_c; c++) variance[c] /= (double)n;
  ref_put_all(&call->out, 0, mean);
}

const RefKernel ref_bn_stats = {.run = run_bn_stats, .rows = 2};

/* Turns variances into 1/sqrt(variance + eps). */
static void inverse_deviation(const RefCall *call, double *variance, int n_c) {
  for (int c = 0; c < n_c; c++) variance[c] = 1 / sqrt(variance[c] + (double)call->node->attrs.value);
}

static void normalise(const RefCall *call, const double *mean, const double *r, const double *gamma,
                      const double *beta) {
  double *x = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get_all(&call->in[0], p, x);
    for (int c = 0; c < call->out.shape.c; c++) x[c] = (x[c] - mean[c]) * r[c] * gamma[c] + beta[c];
    ref_put_all(&call->out, p, x);
  }
}

static void run_bn_apply(const RefCall *call) {
  const int n_c = call->out.shape.c;
  double *mean = ref_row(call, 1), *r = mean + n_c, *gamma = ref_row(call, 2), *beta = ref_row(call, 3);
  ref_get_all(&call->in[1], 0, mean);
  inverse_deviation(call, r, n_c);
  ref_get_all(&call->in[2], 0, gamma);
  ref_get_all(&call->in[3], 0, beta);
  normalise(call, mean, r, gamma, beta);
}

const RefKernel ref_bn_apply = {.run = run_bn_apply, .rows = 4};

static void run_bn_infer(const RefCall *call) {
  double *mean = ref_row(call, 1), *r = ref_row(call, 2), *gamma = ref_row(call, 3), *beta = ref_row(call, 4);
  ref_get_all(&call->in[1], 0, mean);
  ref_get_all(&call->in[2], 0, r);
  inverse_deviation(call, r, call->out.shape.c);
  ref_get_all(&call->in[3], 0, gamma);
  ref_get_all(&call->in[4], 0, beta);
  normalise(call, mean, r, gamma, beta);
}

const RefKernel ref_bn_infer = {.run = run_bn_infer, .rows = 5};

static void run_bn_reduce(const RefCall *call) {
  const TmView *in = call->in;
  const int n_c = in[0].shape.c;
  double *dy = ref_row(call, 0), *x = ref_row(call, 1), *mean = ref_row(call, 2), *r = mean + n_c;
  double *sum = ref_row(call, 3), *dot = sum + n_c;
  ref_get_all(&in[2], 0, mean);
  inverse_deviation(call, r, n_c);
  memset(sum, 0, 2 * (gsize)n_c * sizeof *sum);
  for (gsize p = 0; p < tm_shape_pixels(in[0].shape); p++) {
    ref_get_all(&in[0], p, dy);
    ref_get_all(&in[1], p, x);
    for (int c = 0; c < n_c; c++) {
      sum[c] += dy[c];
      dot[c] += dy[c] * (x[c] - mean[c]) * r[c];
    }
  }
  ref_put_all(&call->out, 0, sum);
}

const RefKernel ref_bn_reduce = {.run = run_bn_reduce, .rows = 4};

static void run_bn_dx(const RefCall *call) {
  const TmView *in = call->in;
  const int n_c = in[0].shape.c;
  const gsize n = tm_shape_pixels(in[0].shape);
  double *dy = ref_row(call, 0), *x = ref_row(call, 1), *mean = ref_row(call, 2), *r = mean + n_c,
         *gamma = ref_row(call, 3);
  double *sum = ref_row(call, 4), *dot = sum + n_c;
  ref_get_all(&in[2], 0, mean);
  inverse_deviation(call, r, n_c);
  ref_get_all(&in[3], 0, gamma);
  ref_get_all(&in[4], 0, sum);
  for (gsize p = 0; p < n; p++) {
    ref_get_all(&in[0], p, dy);
    ref_get_all(&in[1], p, x);
    for (int c = 0; c < n_c; c++) {
      const double xhat = (x[c] - mean[c]) * r[c];
      dy[c] = gamma[c] * r[c] * (dy[c] - sum[c] / (double)n - xhat * dot[c] / (double)n);
    }
    ref_put_all(&call->out, p, dy);
  }
}

const RefKernel ref_bn_dx = {.run = run_bn_dx, .rows = 5};

static void run_bn_running(const RefCall *call) {
  const int n_c = call->in[1].shape.c, n = call->node->attrs.count;
  const double momentum = (double)call->node->attrs.value, unbiased = n > 1 ? n / (n - 1.0) : 1;
  double *mean = ref_row(call, 0), *variance = mean + n_c, *to_mean = ref_row(call, 1),
         *to_variance = ref_row(call, 2);
  ref_get_all(&call->in[0], 0, mean);
  ref_get_all(&call->in[1], 0, to_mean);
  ref_get_all(&call->in[2], 0, to_variance);
  for (int c = 0; c < n_c; c++) {
    to_mean[c] += momentum * (mean[c] - to_mean[c]);
    to_variance[c] += momentum * (variance[c] * unbiased - to_variance[c]);
  }
  ref_put_all(&call->in[1], 0, to_mean);
  ref_put_all(&call->in[2], 0, to_variance);
  ref_put_scalar(&call->out, 0);
}

const RefKernel ref_bn_running = {.run = run_bn_running, .rows = 3};
