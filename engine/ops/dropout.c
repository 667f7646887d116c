/* dropout.c: x, tick (COUNT scalar) -> x / (1 - p) where kept, else 0; value = p in [0, 1), key.
 *
 * Element (n,c,h,w) of index e = ((n*H + h)*W + w)*C + c is kept when (tm_random_hash(key, tick, e) >> 40) *
 * 2^-24 >= p. The mask is a function of its place, so it is never stored: the gradient is the same dropout of
 * dy, and a recomputed step drops the same elements on every backend, whatever its number of threads.
 * Srivastava et al., 2014. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean dropout_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xc", error)) return FALSE;
  if (!(n->attrs.value >= 0 && n->attrs.value < 1))
    return tm_rule_setting(n, error, _("the share to drop is %g; it must be at least 0 and below 1."),
                           (double)n->attrs.value);
  if (!tm_rule_vector(n, 1, 1, error)) return FALSE;
  *out = n->in[0]->shape;
  return TRUE;
}

static void dropout_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_DROPOUT, NULL, &n->attrs, dy, n->in[1]);
}

const TmOpInfo tm_op_dropout = {
    .name = "dropout",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_ACT,
    .shape = dropout_shape,
    .gradient = dropout_gradient,
    .flops = tm_rule_count,
    .onnx = "Dropout",
    .explain = N_("While training, dropout sets a random share of the values to 0 and enlarges the others to "
                  "make up for it. No value can rely on "
                  "another being there, so the network spreads what it knows and learns less by heart. When "
                  "the network is used, nothing is "
                  "dropped."),
};
