/* argmax.c: reading the result.
 *
 * argmax     logits (N,C,H,W) -> LABEL (N,1,H,W)
 *            The class of the largest logit; ties go to the lower class; a NaN never wins.
 *
 * confusion  logits (N,C,H,W), labels (N,1,H,W) -> COUNT (1,1,C,C)
 *            Pixels by truth (row, h) and argmax (column, w); void pixels (label >= C) count nowhere. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean argmax_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  if (x.c > TM_VOID)
    return tm_rule_fail(n, error, _("%d classes do not fit in a byte beside void; %d is the most."), x.c,
                        TM_VOID);
  return tm_rule_out(n, x.n, 1, x.h, x.w, out, error);
}

static double one_each(const TmNode *n) {
  return tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_argmax = {
    .name = "argmax",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_LABEL,
    .shape = argmax_shape,
    .flops = one_each,
    .onnx = "ArgMax",
    .explain = N_("At every pixel the class with the highest score wins. This is the mask that is painted "
                  "over the picture."),
};

static gboolean confusion_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xl", error) || !tm_rule_labels(n, 1, 0, error)) return FALSE;
  const int c = n->in[0]->shape.c;
  return tm_rule_out(n, 1, 1, c, c, out, error);
}

const TmOpInfo tm_op_confusion = {
    .name = "confusion",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_COUNT,
    .shape = confusion_shape,
    .flops = one_each,
    .explain = N_("The confusion matrix counts, for every true class, what the network took its pixels for. "
                  "Right answers are on the diagonal. From it "
                  "follow the accuracy and, for each class, the intersection over union: the pixels that are "
                  "rightly of the class, divided by "
                  "all that are of it or were taken for it."),
};
