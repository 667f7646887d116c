/* bn.c: batch normalisation (Ioffe and Szegedy, 2015), in parts that backends can fuse with neighbours.
 *
 * With n = N*H*W values a channel, mean m and biased variance v = sum (x-m)^2 / n,
 * r = 1/sqrt(v + eps) and xhat = (x-m) r:
 *
 * bn_stats    x -> STAT (1,2C,1,1): m, then v
 * bn_apply    x, stats, gamma, beta -> y = gamma xhat + beta; value = eps
 * bn_infer    x, running mean, running variance, gamma, beta -> y, the same with these; value = eps
 * bn_reduce   dy, x, stats -> STAT (1,2C,1,1): sum dy, then sum dy*xhat; value = eps
 * bn_dx       dy, x, stats, gamma, reduce -> dx; value = eps
 *             dx = gamma r (dy - reduce0/n - xhat reduce1/n)
 * bn_running  stats, running mean, running variance -> STAT scalar 0; value = momentum, count = n
 *             In place: mean += value (m - mean), variance += value (v n/(n-1) - variance); v itself when n
 *             is 1.
 *
 * bn_apply's gradient by x goes through the statistics (that is what bn_dx computes); none is given by
 * `stats`, so that it is not counted twice. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>
#include <math.h>

static gboolean check_eps(const TmNode *n, GError **error) {
  if (n->attrs.value > 0 && isfinite(n->attrs.value)) return TRUE;
  return tm_rule_setting(n, error, _("eps is %g; it must be a positive number."), (double)n->attrs.value);
}

/* Inputs from @first on are vectors of @c. */
static gboolean check_vectors(const TmNode *n, guint first, int c, GError **error) {
  for (guint i = first; i < n->n_in; i++)
    if (!tm_rule_vector(n, i, c, error)) return FALSE;
  return TRUE;
}

/* The statistics at input @i belong to pictures of @c channels. */
static gboolean check_stats(const TmNode *n, guint i, int c, GError **error) {
  if (c > G_MAXINT / 2) return tm_rule_fail(n, error, _("the result would be too large to address."));
  return tm_rule_vector(n, i, 2 * c, error);
}

static gboolean as_input(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape;
  return tm_rule_out(n, x.n, x.c, x.h, x.w, out, error);
}

static gboolean bn_stats_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  return tm_rule_out(n, 1, 2 * (gint64)n->in[0]->shape.c, 1, 1, out, error);
}

static double bn_stats_flops(const TmNode *n) {
  return 4 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_bn_stats = {
    .name = "bn_stats",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_STAT,
    .shape = bn_stats_shape,
    .flops = bn_stats_flops,
    .explain = N_("Batch normalisation begins by measuring: for each channel, the mean and the spread of its "
                  "values over all pixels of all "
                  "pictures of the batch."),
};

static gboolean bn_apply_shape(const TmNode *n, TmShape *out, GError **error) {
  const int c = n->in[0]->shape.c;
  if (!tm_rule_kinds(n, "x", error) || !check_eps(n, error) || !check_stats(n, 1, c, error) ||
      !check_vectors(n, 2, c, error))
    return FALSE;
  return as_input(n, out, error);
}

static void bn_apply_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  TmNode *x = n->in[0], *stats = n->in[1], *gamma = n->in[2];
  const TmAttrs eps = {.value = n->attrs.value};
  const int c = x->shape.c;
  TmNode *reduce = tm_node(g, TM_OP_BN_REDUCE, NULL, &eps, dy, x, stats);
  if (want[0]) dx[0] = tm_node(g, TM_OP_BN_DX, NULL, &eps, dy, x, stats, gamma, reduce);
  if (want[2]) dx[2] = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = c, .count = c}), reduce);
  if (want[3]) dx[3] = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = 0, .count = c}), reduce);
}

static double four_each(const TmNode *n) {
  return 4 * tm_rule_count(n);
}

const TmOpInfo tm_op_bn_apply = {
    .name = "bn_apply",
    .min_in = 4,
    .max_in = 4,
    .kind = TM_KIND_ACT,
    .shape = bn_apply_shape,
    .gradient = bn_apply_gradient,
    .flops = four_each,
    .explain = N_("Batch normalisation shifts and scales each channel so that over the batch its mean is 0 "
                  "and its spread 1, then lets two "
                  "learnt numbers, gamma and beta, choose the scale and shift that suit the next layer. "
                  "However the layers before change, the next "
                  "one is fed values of the same size, so training can take larger steps. It is also a mild "
                  "noise: what a pixel becomes depends a "
                  "little on which pictures share its batch."),
};

static gboolean bn_infer_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_eps(n, error) || !check_vectors(n, 1, n->in[0]->shape.c, error))
    return FALSE;
  return as_input(n, out, error);
}

/* The statistics are constants here. dx = dy gamma r is bn_infer itself with mean 0 and beta 0. */
static void bn_infer_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  TmNode *x = n->in[0], *mean = n->in[1], *variance = n->in[2], *gamma = n->in[3], *beta = n->in[4];
  const TmAttrs eps = {.value = n->attrs.value}, none = {.value = 0};
  const int c = x->shape.c;
  if (want[0]) {
    TmNode *no_mean = tm_node(g, TM_OP_SCALE, NULL, &none, mean),
           *no_beta = tm_node(g, TM_OP_SCALE, NULL, &none, beta);
    dx[0] = tm_node(g, TM_OP_BN_INFER, NULL, &eps, dy, no_mean, variance, gamma, no_beta);
  }
  if (!want[3] && !want[4]) return;
  TmNode *stats = tm_node(g, TM_OP_CONCAT, NULL, NULL, mean, variance);
  TmNode *reduce = tm_node(g, TM_OP_BN_REDUCE, NULL, &eps, dy, x, stats);
  if (want[3]) dx[3] = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = c, .count = c}), reduce);
  if (want[4]) dx[4] = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = 0, .count = c}), reduce);
}

const TmOpInfo tm_op_bn_infer = {
    .name = "bn_infer",
    .min_in = 5,
    .max_in = 5,
    .kind = TM_KIND_ACT,
    .shape = bn_infer_shape,
    .gradient = bn_infer_gradient,
    .flops = four_each,
    .onnx = "BatchNormalization",
    .explain = N_(
        "When the network is used instead of trained there may be only one picture, and its answer must not "
        "depend on what else is in "
        "the batch. Batch normalisation then uses the mean and variance that were averaged during training."),
};

static gboolean bn_reduce_shape(const TmNode *n, TmShape *out, GError **error) {
  const int c = n->in[0]->shape.c;
  if (!tm_rule_kinds(n, "x", error) || !check_eps(n, error) || !tm_rule_same(n, 1, 0, error) ||
      !check_stats(n, 2, c, error))
    return FALSE;
  return tm_rule_out(n, 1, 2 * (gint64)c, 1, 1, out, error);
}

static double bn_reduce_flops(const TmNode *n) {
  return 5 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_bn_reduce = {
    .name = "bn_reduce",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_STAT,
    .shape = bn_reduce_shape,
    .flops = bn_reduce_flops,
    .explain = N_("On the way back, batch normalisation needs two sums a channel: of the gradients, and of "
                  "the gradients times the normalised "
                  "values. They are the gradients of its shift beta and of its scale gamma."),
};

static gboolean bn_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  const int c = n->in[0]->shape.c;
  if (!tm_rule_kinds(n, "x", error) || !check_eps(n, error) || !tm_rule_same(n, 1, 0, error) ||
      !check_stats(n, 2, c, error) || !tm_rule_vector(n, 3, c, error) || !check_stats(n, 4, c, error))
    return FALSE;
  return as_input(n, out, error);
}

static double bn_dx_flops(const TmNode *n) {
  return 7 * tm_rule_count(n);
}

const TmOpInfo tm_op_bn_dx = {
    .name = "bn_dx",
    .min_in = 5,
    .max_in = 5,
    .kind = TM_KIND_ACT,
    .shape = bn_dx_shape,
    .flops = bn_dx_flops,
    .explain = N_("The gradient through batch normalisation. A pixel also moves its channel's mean and "
                  "spread, and with them every other pixel; so "
                  "the part of the gradient that would only shift or stretch the whole channel is taken out, "
                  "since normalising undoes it."),
};

static gboolean bn_running_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  const TmAttrs *a = &n->attrs;
  if (!(a->value >= 0 && a->value <= 1))
    return tm_rule_setting(n, error, _("the momentum is %g; it must be between 0 and 1."), (double)a->value);
  if (a->count < 1)
    return tm_rule_setting(n, error, _("a channel of %d values has no statistics."), a->count);
  const int c = n->in[1]->shape.c;
  if (!check_vectors(n, 1, c, error) || !check_stats(n, 0, c, error)) return FALSE;
  return tm_rule_out(n, 1, 1, 1, 1, out, error);
}

static double bn_running_flops(const TmNode *n) {
  return 4 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_bn_running = {
    .name = "bn_running",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_STAT,
    .shape = bn_running_shape,
    .flops = bn_running_flops,
    .explain = N_("While training, batch normalisation keeps a running average of the means and variances it "
                  "meets, moving a tenth of the way "
                  "towards each batch. These averages take the batch's place when the network is used."),
};
