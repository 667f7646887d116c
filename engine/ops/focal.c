/* focal.c: the focal loss of Lin et al. (2017), for several classes; value = gamma >= 0.
 * logits z (N,C,H,W), labels y (N,1,H,W), weights w (1,C,1,1); a label >= C is void.
 *
 * With p_i the softmax share of pixel i's true class and W = sum over pixels i of w[y_i]:
 *
 * focal     logits, labels, weights -> STAT scalar
 *           sum_i w[y_i] (1-p_i)^gamma (-log p_i) / W; 0 when W is 0. With gamma 0 it is the cross-entropy.
 *
 * focal_dx  dloss, logits, labels, weights -> dz
 *           dz_ik = dloss w[y_i] / W * pull_i (softmax(z_i)_k - [k = y_i])
 *           pull_i = (1-p_i)^gamma - gamma p_i (1-p_i)^(gamma-1) log p_i */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>
#include <math.h>

static gboolean check_gamma(const TmNode *n, GError **error) {
  if (n->attrs.value >= 0 && isfinite(n->attrs.value)) return TRUE;
  return tm_rule_setting(n, error, _("gamma is %g; it must be 0 or more."), (double)n->attrs.value);
}

static gboolean focal_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xlx", error) || !check_gamma(n, error) || !tm_rule_labels(n, 1, 0, error) ||
      !tm_rule_vector(n, 2, n->in[0]->shape.c, error))
    return FALSE;
  return tm_rule_out(n, 1, 1, 1, 1, out, error);
}

static void focal_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  const TmAttrs gamma = {.value = n->attrs.value};
  if (want[0]) dx[0] = tm_node(g, TM_OP_FOCAL_DX, NULL, &gamma, dy, n->in[0], n->in[1], n->in[2]);
}

static double focal_flops(const TmNode *n) {
  return 4 * tm_rule_count_in(n, 0) + 8 * tm_rule_count_in(n, 1);
}

const TmOpInfo tm_op_focal = {
    .name = "focal",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_STAT,
    .shape = focal_shape,
    .gradient = focal_gradient,
    .flops = focal_flops,
    .explain = N_("The focal loss is a cross-entropy that loses interest in what is already right. At each "
                  "pixel it is multiplied by what is missing to "
                  "certainty, raised to the power gamma: with gamma 2, a pixel that is 90 % sure counts a "
                  "hundredth. Training then spends "
                  "itself on the hard pixels instead of the endless easy ones of road and sky."),
};

static gboolean focal_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xxlx", error) || !check_gamma(n, error) || !tm_rule_vector(n, 0, 1, error) ||
      !tm_rule_labels(n, 2, 1, error) || !tm_rule_vector(n, 3, n->in[1]->shape.c, error))
    return FALSE;
  *out = n->in[1]->shape;
  return TRUE;
}

static double focal_dx_flops(const TmNode *n) {
  return 6 * tm_rule_count(n) + 12 * tm_rule_count_in(n, 2);
}

const TmOpInfo tm_op_focal_dx = {
    .name = "focal_dx",
    .min_in = 4,
    .max_in = 4,
    .kind = TM_KIND_ACT,
    .shape = focal_dx_shape,
    .flops = focal_dx_flops,
    .explain = N_("The gradient of the focal loss points where the cross-entropy's does, and is the smaller "
                  "the surer the network already is of the truth."),
};
