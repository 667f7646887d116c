/* cross_entropy.c: logits z (N,C,H,W), labels y (N,1,H,W), weights w (1,C,1,1). Pixels whose label is >= C
 * are void and count nowhere. With W = sum over pixels i of w[y_i]:
 *
 * cross_entropy     logits, labels, weights -> STAT scalar
 *                   sum_i w[y_i] (log sum_k exp z_ik - z_i,y_i) / W; 0 when W is 0
 *
 * cross_entropy_dx  dloss, logits, labels, weights -> dz
 *                   dz_ik = dloss w[y_i] (softmax(z_i)_k - [k = y_i]) / W; 0 at void pixels and when W is 0
 *
 * With weights of 1 it is PyTorch's mean over the judged pixels. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean cross_entropy_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xlx", error) || !tm_rule_labels(n, 1, 0, error) ||
      !tm_rule_vector(n, 2, n->in[0]->shape.c, error))
    return FALSE;
  return tm_rule_out(n, 1, 1, 1, 1, out, error);
}

static void cross_entropy_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_CROSS_ENTROPY_DX, NULL, NULL, dy, n->in[0], n->in[1], n->in[2]);
}

static double cross_entropy_flops(const TmNode *n) {
  return 4 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_cross_entropy = {
    .name = "cross_entropy",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_STAT,
    .shape = cross_entropy_shape,
    .gradient = cross_entropy_gradient,
    .flops = cross_entropy_flops,
    .explain = N_("The cross-entropy says how surprised the network is by the truth: at each pixel it is "
                  "minus the logarithm of the share it gave to the true "
                  "class, 0 when it was certain and right, and very large when it was certain and wrong. "
                  "Guessing evenly among 11 classes costs "
                  "2.4. Weights let rare classes count for more; void pixels count for nothing."),
};

static gboolean cross_entropy_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xxlx", error) || !tm_rule_vector(n, 0, 1, error) ||
      !tm_rule_labels(n, 2, 1, error) || !tm_rule_vector(n, 3, n->in[1]->shape.c, error))
    return FALSE;
  *out = n->in[1]->shape;
  return TRUE;
}

static double cross_entropy_dx_flops(const TmNode *n) {
  return 6 * tm_rule_count(n);
}

const TmOpInfo tm_op_cross_entropy_dx = {
    .name = "cross_entropy_dx",
    .min_in = 4,
    .max_in = 4,
    .kind = TM_KIND_ACT,
    .shape = cross_entropy_dx_shape,
    .flops = cross_entropy_dx_flops,
    .explain = N_("The gradient of the cross-entropy is as plain as can be: the shares the network gave, "
                  "minus the truth. Scores of wrong classes are pushed "
                  "down by the share they got, the true one is pulled up by what it lacks."),
};
