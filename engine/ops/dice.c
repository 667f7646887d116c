/* dice.c: the soft Dice loss of Milletari, Navab and Ahmadi (2016), for several classes.
 * logits (N,C,H,W), labels (N,1,H,W); a label >= C is void.
 *
 * With p = softmax(logits), t = 1 where the label is the class and 0 elsewhere, and all sums over the judged
 * pixels of the whole batch:
 *
 *   D_c = U_c / V_c,  U_c = 2 sum p_c t_c + s,  V_c = sum p_c^2 + sum t_c + s,  s = 1e-6
 *
 * dice     logits, labels -> STAT scalar
 *          1 - mean of D_c over the K classes present in the labels; 0 when K is 0. (V's sum t is sum t^2,
 *          since t is 0 or 1.)
 *
 * dice_dx  dloss, logits, labels -> dz, through the softmax
 *          q_c = -(2 t_c V_c - 2 p_c U_c) / (K V_c^2) for present classes, 0 for absent ones
 *          dz_c = dloss p_c (q_c - sum_k p_k q_k), 0 at void pixels */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean dice_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xl", error) || !tm_rule_labels(n, 1, 0, error)) return FALSE;
  return tm_rule_out(n, 1, 1, 1, 1, out, error);
}

static void dice_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_DICE_DX, NULL, NULL, dy, n->in[0], n->in[1]);
}

static double dice_flops(const TmNode *n) {
  return 8 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_dice = {
    .name = "dice",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_STAT,
    .shape = dice_shape,
    .gradient = dice_gradient,
    .flops = dice_flops,
    .explain = N_(
        "The Dice loss looks at areas instead of pixels: how well the region the network paints for a class "
        "covers the true one, 0 for a perfect "
        "match and 1 for none. Every class counts alike however small it is, so a thin pole matters as much "
        "as the wide road. Its gradient "
        "is noisy when regions are tiny, and it is often added to the cross-entropy rather than used alone."),
};

static gboolean dice_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "xxl", error) || !tm_rule_vector(n, 0, 1, error) || !tm_rule_labels(n, 2, 1, error))
    return FALSE;
  *out = n->in[1]->shape;
  return TRUE;
}

static double dice_dx_flops(const TmNode *n) {
  return 18 * tm_rule_count(n);
}

const TmOpInfo tm_op_dice_dx = {
    .name = "dice_dx",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_ACT,
    .shape = dice_dx_shape,
    .flops = dice_dx_flops,
    .explain = N_("The gradient of the Dice loss raises the share of the true class and lowers every class "
                  "where it does not belong, harder the smaller "
                  "the region is."),
};
