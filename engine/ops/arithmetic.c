/* arithmetic.c: add a, b -> a + b; mul a, b -> a * b (of one shape, no broadcasting); scale x -> x * value.
 * They work on activations and, giving f32, on statistics, losses and parameters: the graph lets the output's
 * kind follow input 0. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>
#include <math.h>

static gboolean pair_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !tm_rule_same(n, 1, 0, error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static void add_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  (void)g;
  (void)n;
  for (guint i = 0; i < 2; i++)
    if (want[i]) dx[i] = dy;
}

const TmOpInfo tm_op_add = {
    .name = "add",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_ACT,
    .shape = pair_shape,
    .gradient = add_gradient,
    .flops = tm_rule_count,
    .onnx = "Add",
    .explain = N_("Two values are added, element by element. On the way back both receive the whole "
                  "gradient. Where one value is used in two places, "
                  "its two gradients are added in the same way."),
};

static void mul_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_MUL, NULL, NULL, dy, n->in[1]);
  if (want[1]) dx[1] = tm_node(g, TM_OP_MUL, NULL, NULL, dy, n->in[0]);
}

const TmOpInfo tm_op_mul = {
    .name = "mul",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_ACT,
    .shape = pair_shape,
    .gradient = mul_gradient,
    .flops = tm_rule_count,
    .onnx = "Mul",
    .explain = N_("Two values are multiplied, element by element: one can open or shut the other, as in an "
                  "attention gate. The gradient of each is the "
                  "gradient of the product times the other."),
};

static gboolean scale_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  if (!isfinite(n->attrs.value)) return tm_rule_setting(n, error, _("the factor must be a finite number."));
  *out = n->in[0]->shape;
  return TRUE;
}

static void scale_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_SCALE, NULL, &n->attrs, dy);
}

const TmOpInfo tm_op_scale = {
    .name = "scale",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = scale_shape,
    .gradient = scale_gradient,
    .flops = tm_rule_count,
    .onnx = "Mul",
    .explain = N_("Every element is multiplied by one fixed number: it weighs one loss against another in a "
                  "sum. The gradient is multiplied by the "
                  "same number."),
};
