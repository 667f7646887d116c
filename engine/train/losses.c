#include "engine/train/losses.h"

#include <string.h>

TmLoss tm_loss_build(TmGraph *g, const TmSettings *s, TmNode *logits, TmNode *labels, TmNode *weights) {
  TmLoss l = {0};
  if (g_str_has_prefix(s->loss, "cross-entropy")) {
    l.parts[l.n++] = tm_node(g, TM_OP_CROSS_ENTROPY, "loss.cross_entropy", NULL, logits, labels, weights);
    l.pixelwise = TRUE;
  } else if (g_str_has_prefix(s->loss, "focal")) {
    const TmAttrs gamma = {.value = (float)s->focal_gamma};
    l.parts[l.n++] = tm_node(g, TM_OP_FOCAL, "loss.focal", &gamma, logits, labels, weights);
    l.pixelwise = TRUE;
  }
  if (g_str_has_suffix(s->loss, "dice"))
    l.parts[l.n++] = tm_node(g, TM_OP_DICE, "loss.dice", NULL, logits, labels);
  l.root = l.n == 2 ? tm_node(g, TM_OP_ADD, "loss", NULL, l.parts[0], l.parts[1]) : l.parts[0];
  return l;
}
