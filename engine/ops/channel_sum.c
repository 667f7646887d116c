/* channel_sum.c: x (N,C,H,W) -> STAT (1,C,1,1): the sum over pictures and pixels; the gradient of a bias. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean channel_sum_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  return tm_rule_out(n, 1, n->in[0]->shape.c, 1, 1, out, error);
}

static double channel_sum_flops(const TmNode *n) {
  return tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_channel_sum = {
    .name = "channel_sum",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_STAT,
    .shape = channel_sum_shape,
    .flops = channel_sum_flops,
    .explain = N_("A bias is added at every pixel of its channel, so its gradient is simply the sum of the "
                  "gradients of all those pixels."),
};
