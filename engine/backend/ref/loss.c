/* Losses and readings; the formulas are at the heads of
 * engine/ops/{softmax,cross_entropy,dice,focal,argmax}.c. */
#include "engine/backend/ref/ref.h"

#include <math.h>
#include <string.h>

/* Turns logits into shares; gives log sum exp. */
static double softmax(double *z, int n_c) {
  double top = z[0], sum = 0;
  for (int c = 1; c < n_c; c++) top = fmax(top, z[c]);
  for (int c = 0; c < n_c; c++) sum += z[c] = exp(z[c] - top);
  for (int c = 0; c < n_c; c++) z[c] /= sum;
  return top + log(sum);
}

static void run_softmax(const RefCall *call) {
  double *z = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get_all(&call->in[0], p, z);
    softmax(z, call->out.shape.c);
    ref_put_all(&call->out, p, z);
  }
}

const RefKernel ref_softmax = {.run = run_softmax, .rows = 1};

/* Sum of the weights of all judged pixels. */
static double total_weight(const TmView *labels, const double *weight, int n_c) {
  double sum = 0;
  for (gsize p = 0; p < tm_shape_pixels(labels->shape); p++) {
    const int y = ref_label(labels, p, n_c);
    if (y >= 0) sum += weight[y];
  }
  return sum;
}

/* ---- cross-entropy and focal loss, which is the same with gamma = 0 ---- */

static void weighted_loss(const RefCall *call, double gamma) {
  const TmView *logits = &call->in[0], *labels = &call->in[1];
  const int n_c = logits->shape.c;
  double *z = ref_row(call, 0), *weight = ref_row(call, 1), sum = 0;
  ref_get_all(&call->in[2], 0, weight);
  const double total = total_weight(labels, weight, n_c);
  for (gsize p = 0; p < tm_shape_pixels(labels->shape); p++) {
    const int y = ref_label(labels, p, n_c);
    if (y < 0) continue;
    ref_get_all(logits, p, z);
    const double score = z[y], missing = softmax(z, n_c) - score; /* -log of the true class's share */
    sum += weight[y] * (gamma > 0 ? pow(-expm1(-missing), gamma) : 1) * missing;
  }
  ref_put_scalar(&call->out, total > 0 ? sum / total : 0);
}

/* The loss's derivative by log p, negated, is how hard the gradient of the softmax pulls: 1 for the
 * cross-entropy. */
static double focal_pull(double minus_log_p, double gamma) {
  if (gamma <= 0) return 1;
  const double q = -expm1(-minus_log_p); /* 1 - p, exact near p = 1 */
  if (q <= 0) return 0;
  return gamma * (1 - q) * pow(q, gamma - 1) * minus_log_p + pow(q, gamma);
}

static void weighted_loss_dx(const RefCall *call, double gamma) {
  const TmView *logits = &call->in[1], *labels = &call->in[2];
  const int n_c = logits->shape.c;
  double *z = ref_row(call, 0), *weight = ref_row(call, 1);
  ref_get_all(&call->in[3], 0, weight);
  const double total = total_weight(labels, weight, n_c), dloss = ref_get_scalar(&call->in[0]);
  for (gsize p = 0; p < tm_shape_pixels(labels->shape); p++) {
    const int y = ref_label(labels, p, n_c);
    if (y < 0 || !(total > 0)) {
      memset(z, 0, (gsize)n_c * sizeof *z);
    } else {
      ref_get_all(logits, p, z);
      const double score = z[y], missing = softmax(z, n_c) - score;
      const double k = dloss * weight[y] / total * focal_pull(missing, gamma);
      for (int c = 0; c < n_c; c++) z[c] = k * (z[c] - (c == y));
    }
    ref_put_all(&call->out, p, z);
  }
}

static void run_cross_entropy(const RefCall *call) {
  weighted_loss(call, 0);
}
static void run_cross_entropy_dx(const RefCall *call) {
  weighted_loss_dx(call, 0);
}
static void run_focal(const RefCall *call) {
  weighted_loss(call, (double)call->node->attrs.value);
}
static void run_focal_dx(const RefCall *call) {
  weighted_loss_dx(call, (double)call->node->attrs.value);
}

const RefKernel ref_cross_entropy = {.run = run_cross_entropy, .rows = 2};
const RefKernel ref_cross_entropy_dx = {.run = run_cross_entropy_dx, .rows = 2};
const RefKernel ref_focal = {.run = run_focal, .rows = 2};
const RefKernel ref_focal_dx = {.run = run_focal_dx, .rows = 2};

/* ---- Dice ---- */

/* Fills @up and @down with the two parts of each class's fraction and @pixels with its number of true pixels;
 * gives the number of classes present. */
static int dice_sums(const TmView *logits, const TmView *labels, double *z, double *up, double *down,
                     double *pixels) {
  const int n_c = logits->shape.c;
  const double smooth = 1e-6;
  int present = 0;
  for (int c = 0; c < n_c; c++) {
    up[c] = down[c] = smooth;
    pixels[c] = 0;
  }
  for (gsize p = 0; p < tm_shape_pixels(labels->shape); p++) {
    const int y = ref_label(labels, p, n_c);
    if (y < 0) continue;
    ref_get_all(logits, p, z);
    softmax(z, n_c);
    up[y] += 2 * z[y];
    pixels[y]++;
    for (int c = 0; c < n_c; c++) down[c] += z[c] * z[c];
  }
  for (int c = 0; c < n_c; c++) {
    down[c] += pixels[c];
    present += pixels[c] > 0;
  }
  return present;
}

static void run_dice(const RefCall *call) {
  double *up = ref_row(call, 1), *down = ref_row(call, 2), *pixels = ref_row(call, 3), sum = 0;
  const int present = dice_sums(&call->in[0], &call->in[1], ref_row(call, 0), up, down, pixels);
  for (int c = 0; c < call->in[0].shape.c; c++)
    if (pixels[c] > 0) sum += up[c] / down[c];
  ref_put_scalar(&call->out, present ? 1 - sum / present : 0);
}

static void run_dice_dx(const RefCall *call) {
  const TmView *logits = &call->in[1], *labels = &call->in[2];
  const int n_c = logits->shape.c;
  double *z = ref_row(call, 0), *up = ref_row(call, 1), *down = ref_row(call, 2), *pixels = ref_row(call, 3),
         *q = ref_row(call, 4);
  const int present = dice_sums(logits, labels, z, up, down, pixels);
  const double dloss = ref_get_scalar(&call->in[0]);
  for (gsize p = 0; p < tm_shape_pixels(labels->shape); p++) {
    const int y = ref_label(labels, p, n_c);
    if (y < 0) {
      memset(z, 0, (gsize)n_c * sizeof *z);
    } else {
      double mean = 0;
      ref_get_all(logits, p, z);
      softmax(z, n_c);
      for (int c = 0; c < n_c; c++) {
        q[c] =
            pixels[c] > 0 ? -(2 * (c == y) * down[c] - 2 * z[c] * up[c]) / (present * down[c] * down[c]) : 0;
        mean += z[c] * q[c];
      }
      for (int c = 0; c < n_c; c++) z[c] = dloss * z[c] * (q[c] - mean);
    }
    ref_put_all(&call->out, p, z);
  }
}

const RefKernel ref_dice = {.run = run_dice, .rows = 4};
const RefKernel ref_dice_dx = {.run = run_dice_dx, .rows = 5};

/* ---- readings ---- */

static int best_class(const double *z, int n_c) {
  int best = 0;
  for (int c = 1; c < n_c; c++)
    if (z[c] > z[best] || (isnan(z[best]) && !isnan(z[c]))) best = c;
  return best;
}

static void run_argmax(const RefCall *call) {
  double *z = ref_row(call, 0);
  for (gsize p = 0; p < tm_shape_pixels(call->out.shape); p++) {
    ref_get_all(&call->in[0], p, z);
    ((guint8 *)call->out.data)[p * (gsize)call->out.ld] = (guint8)best_class(z, call->in[0].shape.c);
  }
}

static void run_confusion(const RefCall *call) {
  const int n_c = call->in[0].shape.c;
  gint32 *count = call->out.data;
  double *z = ref_row(call, 0);
  for (gsize k = 0; k < (gsize)n_c * n_c; k++) count[k * (gsize)call->out.ld] = 0;
  for (gsize p = 0; p < tm_shape_pixels(call->in[1].shape); p++) {
    const int y = ref_label(&call->in[1], p, n_c);
    if (y < 0) continue;
    ref_get_all(&call->in[0], p, z);
    count[(gsize)(y * n_c + best_class(z, n_c)) * (gsize)call->out.ld]++;
  }
}

const RefKernel ref_argmax = {.run = run_argmax, .rows = 1};
const RefKernel ref_confusion = {.run = run_confusion, .rows = 1};
