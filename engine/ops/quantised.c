/* quantised.c: the layers of a net whose activations are bytes and whose weights are whole numbers, for
 * inference (Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
 * Inference, 2018). What the bytes stand for is known to who made the graph: engine/predict/quantise.h.
 *
 * conv_u8            x (N,I,H,W) bytes, w (O,I,k,k), scale (1,O,1,1), offset (1,O,1,1), zero (1,I,1,1)
 *                    -> y (N,O,H,W) bytes
 *                    a[o,i,j] = sum over c,u,v of w[o,c,u,v] x[c,i+u-k/2,j+v-k/2], k odd, where x is zero[c]
 *                    outside the picture; y = byte(scale[o] a + offset[o])
 * winograd_u8        x (N,I,H,W) bytes, w (O,I,4,4), scale (16,O,1,1), offset (16,O,1,1), zero (1,I,1,1)
 *                    -> y (N,O,H,W) bytes: a 3x3 convolution by F(2x2, 3x3) (Lavin and Gray, 2016), whose
 *                    transformed weights w are. For each tile of 2x2 outputs, with the 4x4 inputs d around it
 *                    (zero[c] outside) and t = B^T d B, B^T = (1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1), as
 * bytes v[1,1] = floor((t[1,1] + 2) / 4), else v = floor((t + 1) / 2) + 128 cut at 0 and 255, m[p,o] =
 * scale[p,o] (sum over c of w[o,c,p] v[c,p]) + offset[p,o] as above, p = 0..15, and y = byte(A^T m A), A^T =
 * (1 1 1 0; 0 1 -1 -1), in floats, columns first, as a + (b + c) and (b - c) - d conv_transpose_u8  x
 * (N,I,H,W) bytes, w (I,O,2,2), scale, offset -> y (N,O,2H,2W) bytes a[o,2i+u,2j+v] = sum over c of
 * w[c,o,u,v] x[c,i,j] argmax_u8          x (N,I,H,W) bytes, w (O,I,1,1), scale, offset -> LABEL
 * (N,1,H-top-bottom,W-left-right) the argmax of scale[o] a + offset[o]
 *
 * a is exact, so weights must be whole and from -127 to 127; scale * a + offset is a float, rounded once
 * (fmaf); byte() rounds to the nearest whole number, ties to even, and cuts at 0 and 255: a ReLU where 0
 * stands for 0. Without gradients. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

enum { LARGEST_SIDE = 7 };

/* Sums of bytes times weights must fit in 31 bits. */
static gboolean check_sums(const TmNode *n, gint64 products, GError **error) {
  const gint64 most = G_MAXINT32 / (255 * 127);
  if (products <= most) return TRUE;
  return tm_rule_fail(n, error,
                      _("%" G_GINT64_FORMAT
                        " products a result are too many to add up in 32 bits: %" G_GINT64_FORMAT
                        " is the most."),
                      products, most);
}

static gboolean check_layer(const TmNode *n, int in, int out, GError **error) {
  const TmShape x = n->in[0]->shape;
  if (!tm_rule_kinds(n, "px", error)) return FALSE;
  if (in != x.c)
    return tm_rule_fail(n, error, _("the weight takes %d channels, and the input has %d."), in, x.c);
  return tm_rule_vector(n, 2, out, error) && tm_rule_vector(n, 3, out, error);
}

static gboolean conv_shape(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  if (!check_layer(n, w.c, w.n, error) || !tm_rule_vector(n, 4, x.c, error)) return FALSE;
  if (w.h != w.w || w.h % 2 == 0 || w.h > LARGEST_SIDE)
    return tm_rule_fail(n, error, _("a %d×%d kernel cannot be quantised; a square of odd size up to %d can."),
                        w.h, w.w, LARGEST_SIDE);
  return check_sums(n, (gint64)w.h * w.w * w.c, error) && tm_rule_out(n, x.n, w.n, x.h, x.w, out, error);
}

static double conv_flops(const TmNode *n) {
  const TmShape w = n->in[1]->shape;
  return tm_rule_count(n) * 2.0 * w.c * w.h * w.w;
}

const TmOpInfo tm_op_conv_u8 = {
    .name = "conv_u8",
    .min_in = 5,
    .max_in = 5,
    .kind = TM_KIND_PIXEL,
    .shape = conv_shape,
    .flops = conv_flops,
    .explain =
        N_("A trained network can be run with bytes in the place of fractions. Each layer's numbers are "
           "measured on some pictures and put on a scale from 0 to 255, and its weights on one from "
           "-127 to 127. Whole numbers of this size are multiplied four times as fast, and the answer "
           "hardly changes, because the network had learned to live with much larger disturbances."),
};

static gboolean winograd_shape(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  if (!tm_rule_kinds(n, "px", error)) return FALSE;
  if (w.c != x.c)
    return tm_rule_fail(n, error, _("the weight takes %d channels, and the input has %d."), w.c, x.c);
  if (w.h != 4 || w.w != 4)
    return tm_rule_fail(n, error, _("a transformed kernel is 4×4, not %d×%d."), w.h, w.w);
  for (guint i = 2; i < 4; i++)
    if (!tm_shape_equal(n->in[i]->shape, TM_SHAPE(16, w.n, 1, 1)))
      return tm_rule_fail(n, error, _("input %u must be 16×%d×1×1: a number for each plane and channel."), i,
                          w.n);
  return tm_rule_vector(n, 4, x.c, error) && check_sums(n, w.c, error) &&
         tm_rule_out(n, x.n, w.n, x.h, x.w, out, error);
}

/* Of the convolution that it stands for. */
static double winograd_flops(const TmNode *n) {
  return tm_rule_count(n) * 2.0 * 9 * n->in[1]->shape.c;
}

const TmOpInfo tm_op_winograd_u8 = {
    .name = "winograd_u8",
    .min_in = 5,
    .max_in = 5,
    .kind = TM_KIND_PIXEL,
    .shape = winograd_shape,
    .flops = winograd_flops,
    .explain = N_(
        "The windows of neighbouring pixels overlap, so that a 3×3 convolution multiplies the same pairs "
        "again and again. Winograd's way first adds and subtracts neighbouring pixels, multiplies those "
        "sums, and puts the products together: 16 multiplications for four pixels where there were 36. Here "
        "the sums are bytes again, rounded once more."),
};

static gboolean transpose_shape(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  if (!check_layer(n, w.n, w.c, error)) return FALSE;
  if (w.h != 2 || w.w != 2)
    return tm_rule_fail(n, error, _("a %d×%d kernel cannot double a picture; 2×2 can."), w.h, w.w);
  return check_sums(n, w.n, error) && tm_rule_out(n, x.n, w.c, 2 * (gint64)x.h, 2 * (gint64)x.w, out, error);
}

static double transpose_flops(const TmNode *n) {
  return tm_rule_count(n) * 2.0 * n->in[1]->shape.n;
}

const TmOpInfo tm_op_conv_transpose_u8 = {
    .name = "conv_transpose_u8",
    .min_in = 4,
    .max_in = 4,
    .kind = TM_KIND_PIXEL,
    .shape = transpose_shape,
    .flops = transpose_flops,
    .explain =
        N_("The transposed convolution that doubles a picture, with bytes in the place of fractions. Its "
           "results may be negative, so the middle of the scale, 128, stands for 0."),
};

static gboolean argmax_shape(const TmNode *n, TmShape *out, GError **error) {
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  const TmAttrs *a = &n->attrs;
  if (!check_layer(n, w.c, w.n, error)) return FALSE;
  if (w.h != 1 || w.w != 1)
    return tm_rule_fail(n, error, _("the last kernel is %d×%d; it must be 1×1."), w.h, w.w);
  if (w.n > TM_VOID)
    return tm_rule_fail(n, error, _("%d classes do not fit in a byte beside void; %d is the most."), w.n,
                        TM_VOID);
  if (a->top < 0 || a->left < 0 || a->bottom < 0 || a->right < 0)
    return tm_rule_setting(n, error, _("the border %d, %d, %d, %d must not be negative."), a->top, a->left,
                           a->bottom, a->right);
  return check_sums(n, w.c, error) && tm_rule_out(n, x.n, 1, (gint64)x.h - a->top - a->bottom,
                                                  (gint64)x.w - a->left - a->right, out, error);
}

static double argmax_flops(const TmNode *n) {
  const TmShape w = n->in[1]->shape;
  return tm_rule_count(n) * (2.0 * w.c + 1) * w.n;
}

const TmOpInfo tm_op_argmax_u8 = {
    .name = "argmax_u8",
    .min_in = 4,
    .max_in = 4,
    .kind = TM_KIND_LABEL,
    .shape = argmax_shape,
    .flops = argmax_flops,
    .explain =
        N_("The last layer of a network of bytes and the choice of the class with the highest score, in one "
           "pass: the scores themselves are not kept."),
};
