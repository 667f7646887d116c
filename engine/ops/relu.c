/* relu.c: relu x -> y = max(x, 0); relu_dx dy, y -> dx = dy where y > 0, else 0 (0 at the kink, as PyTorch
 * has it). */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean relu_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static void relu_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_RELU_DX, NULL, NULL, dy, n);
}

const TmOpInfo tm_op_relu = {
    .name = "relu",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = relu_shape,
    .gradient = relu_gradient,
    .flops = tm_rule_count,
    .onnx = "Relu",
    .explain = N_("The rectifier keeps positive numbers and turns negative ones into 0. Without such a bend "
                  "between them, any stack of convolutions "
                  "would collapse into a single one; with it, each channel can say “this pattern is here, "
                  "this strongly” or stay silent."),
};

static gboolean relu_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !tm_rule_same(n, 1, 0, error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

const TmOpInfo tm_op_relu_dx = {
    .name = "relu_dx",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_ACT,
    .shape = relu_dx_shape,
    .flops = tm_rule_count,
    .explain = N_("The gradient passes through the rectifier where the value was positive and stops where it "
                  "was cut to 0."),
};
