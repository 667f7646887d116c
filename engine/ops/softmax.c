/* softmax.c: x (N,C,H,W) -> p[c] = exp(x[c]) / sum_k exp(x[k]) at every pixel. It has no gradient rule: the
 * losses take logits and contain their softmax, which is both quicker and exact where exp would overflow. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean softmax_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static double softmax_flops(const TmNode *n) {
  return 5 * tm_rule_count(n);
}

const TmOpInfo tm_op_softmax = {
    .name = "softmax",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = softmax_shape,
    .flops = softmax_flops,
    .onnx = "Softmax",
    .explain = N_("The network gives each class a score at every pixel. Softmax turns the scores into shares "
                  "that are positive and sum to 1: the larger a "
                  "score above the others, the nearer its share to 1. They read like probabilities, but a "
                  "network can be sure and wrong."),
};
