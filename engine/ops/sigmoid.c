/* sigmoid.c: sigmoid x -> y = 1 / (1 + exp(-x)); sigmoid_dx dy, y -> dx = dy y (1 - y). */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean sigmoid_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static void sigmoid_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_SIGMOID_DX, NULL, NULL, dy, n);
}

static double sigmoid_flops(const TmNode *n) {
  return 4 * tm_rule_count(n);
}

const TmOpInfo tm_op_sigmoid = {
    .name = "sigmoid",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = sigmoid_shape,
    .gradient = sigmoid_gradient,
    .flops = sigmoid_flops,
    .onnx = "Sigmoid",
    .explain = N_("The sigmoid presses any number into the range from 0 to 1 along a smooth S. It serves "
                  "where a value is to act as a share or a "
                  "gate: 0 shut, 1 open. Far from 0 the curve is flat, so there it learns slowly."),
};

static gboolean sigmoid_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !tm_rule_same(n, 1, 0, error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static double sigmoid_dx_flops(const TmNode *n) {
  return 3 * tm_rule_count(n);
}

const TmOpInfo tm_op_sigmoid_dx = {
    .name = "sigmoid_dx",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_ACT,
    .shape = sigmoid_dx_shape,
    .flops = sigmoid_dx_flops,
    .explain = N_("The slope of the sigmoid is its value times what is missing to 1, at most a quarter; the "
                  "gradient is multiplied by it."),
};
