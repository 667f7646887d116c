/* pad.c: borders. Attributes of all four: top, left, bottom, right (of the larger picture); pad and pad_dx
 * also pad_mode.
 *
 * pad      x (N,C,H,W) -> (N, C, H+top+bottom, W+left+right), of x's kind
 *          Zero: the border is 0. Reflect: row i of -top .. H+bottom-1 shows row r(i) of x, with r(i) = -i
 *          above, 2(H-1) - i below (the edge is not repeated), and then clamped to 0..H-1, so that any
 *          picture, even 1x1, can be padded by any amount; columns alike.
 *
 * pad_dx   dy -> dx: the adjoint of pad. Under reflect a pixel also receives its mirror images' gradients.
 * crop     x (N,C,H,W) -> (N, C, H-top-bottom, W-left-right)
 * crop_dx  dy -> dx: the adjoint of crop, dy with a border of zeros */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean check_border(const TmNode *n, GError **error) {
  const TmAttrs *a = &n->attrs;
  if (a->top >= 0 && a->left >= 0 && a->bottom >= 0 && a->right >= 0) return TRUE;
  return tm_rule_setting(n, error, _("the border %d, %d, %d, %d must not be negative."), a->top, a->left,
                         a->bottom, a->right);
}

static gboolean larger_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, n->op == TM_OP_PAD ? "b" : "x", error) || !check_border(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  const TmAttrs *a = &n->attrs;
  return tm_rule_out(n, x.n, x.c, (gint64)x.h + a->top + a->bottom, (gint64)x.w + a->left + a->right, out,
                     error);
}

static gboolean smaller_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_border(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  const TmAttrs *a = &n->attrs;
  const gint64 h = (gint64)x.h - a->top - a->bottom, w = (gint64)x.w - a->left - a->right;
  if (h < 1 || w < 1)
    return tm_rule_fail(n, error, _("a border of %d, %d, %d, %d leaves nothing of a picture of %d×%d."),
                        a->top, a->left, a->bottom, a->right, x.h, x.w);
  return tm_rule_out(n, x.n, x.c, h, w, out, error);
}

static void pad_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_PAD_DX, NULL, &n->attrs, dy);
}

static void crop_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_CROP_DX, NULL, &n->attrs, dy);
}

static double pad_dx_flops(const TmNode *n) {
  return n->attrs.pad_mode == TM_PAD_REFLECT ? tm_rule_count_in(n, 0) - tm_rule_count(n) : 0;
}

/* Only what is kept is read. */
static double crop_bytes(const TmNode *n, gsize elem) {
  return 2 * tm_rule_count(n) * (double)tm_rule_elem(n, elem);
}

const TmOpInfo tm_op_pad = {
    .name = "pad",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = larger_shape,
    .gradient = pad_gradient,
    .onnx = "Pad",
    .explain = N_("A UNet halves the picture several times, so its sides must divide evenly. Padding adds "
                  "the missing rows and columns, as a mirror image "
                  "of what is beside the border, which looks more like a picture to the network than black "
                  "would. They are cut off again at the "
                  "end."),
};

const TmOpInfo tm_op_pad_dx = {
    .name = "pad_dx",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = smaller_shape,
    .flops = pad_dx_flops,
    .explain = N_("The gradient of the border is added to the pixels it mirrors; a border of zeros has no "
                  "one to answer for it and is dropped."),
};

const TmOpInfo tm_op_crop = {
    .name = "crop",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = smaller_shape,
    .gradient = crop_gradient,
    .bytes = crop_bytes,
    .onnx = "Slice",
    .explain = N_("Cropping cuts the border off again that padding had added, so that the result fits the "
                  "picture that came in."),
};

const TmOpInfo tm_op_crop_dx = {
    .name = "crop_dx",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = larger_shape,
    .explain = N_("What was cut off had no effect on the loss, so its gradient is 0."),
};
