/* normalize.c: PIXEL (N,C,H,W), mean (1,C,1,1), std (1,C,1,1) -> ACT (x - mean) / std, all in units of a
 * byte, 0..255. No gradient: pictures are not trained. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean normalize_shape(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape;
  if (!tm_rule_kinds(n, "pxx", error) || !tm_rule_vector(n, 1, x.c, error) ||
      !tm_rule_vector(n, 2, x.c, error))
    return FALSE;
  *out = x;
  return TRUE;
}

static double normalize_flops(const TmNode *n) {
  return 2 * tm_rule_count(n);
}

const TmOpInfo tm_op_normalize = {
    .name = "normalize",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_ACT,
    .shape = normalize_shape,
    .flops = normalize_flops,
    .explain = N_("A picture's bytes run from 0 to 255. Here the mean of each colour over the data set is "
                  "taken off and the rest divided by its usual "
                  "spread, so that the first layer is fed numbers around 0 of size 1. A trained network must "
                  "see its pictures prepared in exactly "
                  "the same way."),
};
