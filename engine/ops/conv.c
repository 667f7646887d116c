/* conv.c: convolution, transposed convolution and the gradient of both by their weights.
 *
 * conv            x (N,I,H,W), w (O, I/g, kH, kW) [, b (1,O,1,1)] -> y (N,O,oH,oW)
 *                 oH = floor((H + 2 pad - dilation (kH-1) - 1) / stride) + 1
 *                 y[o,i,j] = b[o] + sum over c,u,v of w[o,c,u,v] x[c,p,q], x being 0 outside, with
 *                 p = i*stride - pad + u*dilation, q = j*stride - pad + v*dilation
 *
 * conv_transpose  x (N,I,H,W), w (I, O/g, kH, kW) [, b (1,O,1,1)] -> y (N,O,oH,oW)
 *                 The adjoint of the conv of the same attributes that makes (H,W) from (oH,oW). Its smallest
 *                 oH is (H-1) stride - 2 pad + dilation (kH-1) + 1. Up to stride-1 more rows give the same
 *                 H; out_h and out_w say how many there are to be (0: the smallest).
 *
 * conv_dw         x, dy -> STAT dw (O, I/g, kH, kW)
 *                 dw[o,c,u,v] = sum over pictures and i,j of dy[o,i,j] x[c,p,q]
 *
 * The three close under differentiation: conv's dx is a conv_transpose of dy with the same w,
 * conv_transpose's dx is a conv, and a transposed one's dw is conv_dw with x and dy in each other's place.
 * Attributes: stride, pad, dilation, groups; 0 reads as 1 but for pad. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

enum { LIMIT = 1 << 20 }; /* of an attribute: keeps every product below within 64 bits */

typedef struct {
  gint64 stride, pad, dilation;
  int groups;
} Geometry;

static Geometry geometry(const TmAttrs *a) {
  return (Geometry){MAX(a->stride, 1), a->pad, MAX(a->dilation, 1), MAX(a->groups, 1)};
}

static gboolean check_attrs(const TmNode *n, GError **error) {
  const TmAttrs *a = &n->attrs;
  if (a->stride < 0 || a->pad < 0 || a->dilation < 0 || a->groups < 0)
    return tm_rule_setting(n, error, _("stride %d, pad %d, dilation %d and groups %d must not be negative."),
                           a->stride, a->pad, a->dilation, a->groups);
  if (MAX(MAX(a->stride, a->pad), MAX(a->dilation, a->groups)) > LIMIT)
    return tm_rule_setting(n, error, _("stride, pad, dilation and groups must be %d at most."), LIMIT);
  return TRUE;
}

/* Extent of the result of a conv over @in; <= 0 when the kernel does not fit. */
static gint64 conv_extent(gint64 in, Geometry g, gint64 kernel) {
  const gint64 room = in + 2 * g.pad - g.dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / g.stride + 1;
}

static gboolean check_groups(const TmNode *n, int channels, int groups, GError **error) {
  if (channels % groups == 0) return TRUE;
  return tm_rule_setting(n, error, _("%d channels cannot be split into %d groups."), channels, groups);
}

static gboolean conv_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_attrs(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  const Geometry g = geometry(&n->attrs);
  if (!check_groups(n, x.c, g.groups, error) || !check_groups(n, w.n, g.groups, error)) return FALSE;
  if (w.c != x.c / g.groups)
    return tm_rule_fail(n, error,
                        _("the weight takes %d channels a group, and the input has %d (%d in %d groups)."),
                        w.c, x.c / g.groups, x.c, g.groups);
  if (n->n_in == 3 && !tm_rule_vector(n, 2, w.n, error)) return FALSE;
  const gint64 h = conv_extent(x.h, g, w.h), wide = conv_extent(x.w, g, w.w);
  if (h < 1 || wide < 1)
    return tm_rule_fail(n, error, _("a %d×%d kernel does not fit in a picture of %d×%d with padding %d."),
                        w.h, w.w, x.h, x.w, n->attrs.pad);
  return tm_rule_out(n, x.n, w.n, h, wide, out, error);
}

/* The gradients by weight and bias, @x being what the kernel slides over and @y what has one value a
 * position. */
static TmNode *weight_gradient(TmGraph *g, const TmNode *n, TmNode *x, TmNode *y) {
  TmAttrs a = n->attrs;
  a.kernel_h = n->in[1]->shape.h;
  a.kernel_w = n->in[1]->shape.w;
  a.out_h = a.out_w = 0;
  return tm_node(g, TM_OP_CONV_DW, NULL, &a, x, y);
}

static void conv_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  /* The weights' first: x is often not needed after it, and dx can lie in its memory. */
  if (want[1]) dx[1] = weight_gradient(g, n, n->in[0], dy);
  if (want[0]) {
    TmAttrs a = n->attrs;
    a.out_h = n->in[0]->shape.h;
    a.out_w = n->in[0]->shape.w;
    dx[0] = tm_node(g, TM_OP_CONV_TRANSPOSE, NULL, &a, dy, n->in[1]);
  }
  if (n->n_in == 3 && want[2]) dx[2] = tm_node(g, TM_OP_CHANNEL_SUM, NULL, NULL, dy);
}

static double conv_flops(const TmNode *n) {
  const TmShape w = n->in[1]->shape;
  return tm_rule_count(n) * (2.0 * w.c * w.h * w.w + (n->n_in == 3));
}

const TmOpInfo tm_op_conv = {
    .name = "conv",
    .min_in = 2,
    .max_in = 3,
    .kind = TM_KIND_ACT,
    .shape = conv_shape,
    .gradient = conv_gradient,
    .flops = conv_flops,
    .onnx = "Conv",
    .explain =
        N_("A convolution slides a small window, often 3×3 pixels, over the picture. At every place it "
           "multiplies what it sees by its "
           "weights and adds up; each set of weights answers strongly to one pattern, such as an edge or a "
           "stripe, wherever it is. The same "
           "few weights serve the whole picture, which is why a network can learn from few examples and take "
           "pictures of any size. "
           "Stacked convolutions see ever larger surroundings and put patterns together from patterns."),
};

static gboolean conv_transpose_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_attrs(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape, w = n->in[1]->shape;
  const Geometry g = geometry(&n->attrs);
  if (!check_groups(n, x.c, g.groups, error)) return FALSE;
  if (w.n != x.c)
    return tm_rule_fail(n, error, _("the weight takes %d channels, and the input has %d."), w.n, x.c);
  const gint64 channels = (gint64)w.c * g.groups;
  if (channels > G_MAXINT) return tm_rule_fail(n, error, _("the result would be too large to address."));
  if (n->n_in == 3 && !tm_rule_vector(n, 2, (int)channels, error)) return FALSE;
  const gint64 least_h = (x.h - 1) * g.stride - 2 * g.pad + g.dilation * (w.h - 1) + 1;
  const gint64 least_w = (x.w - 1) * g.stride - 2 * g.pad + g.dilation * (w.w - 1) + 1;
  const gint64 h = n->attrs.out_h ? n->attrs.out_h : least_h,
               wide = n->attrs.out_w ? n->attrs.out_w : least_w;
  if (h < least_h || h > least_h + g.stride - 1 || wide < least_w || wide > least_w + g.stride - 1)
    return tm_rule_setting(n, error,
                           _("the result cannot be %" G_GINT64_FORMAT "×%" G_GINT64_FORMAT
                             ": it is %" G_GINT64_FORMAT "×%" G_GINT64_FORMAT " and up to %" G_GINT64_FORMAT
                             " more each way."),
                           h, wide, least_h, least_w, g.stride - 1);
  return tm_rule_out(n, x.n, channels, h, wide, out, error);
}

static void conv_transpose_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[1]) dx[1] = weight_gradient(g, n, dy, n->in[0]);
  if (want[0]) {
    TmAttrs a = n->attrs;
    a.out_h = a.out_w = 0;
    dx[0] = tm_node(g, TM_OP_CONV, NULL, &a, dy, n->in[1]);
  }
  if (n->n_in == 3 && want[2]) dx[2] = tm_node(g, TM_OP_CHANNEL_SUM, NULL, NULL, dy);
}

static double conv_transpose_flops(const TmNode *n) {
  const TmShape w = n->in[1]->shape;
  return tm_rule_count_in(n, 0) * 2.0 * w.c * w.h * w.w + (n->n_in == 3 ? tm_rule_count(n) : 0);
}

const TmOpInfo tm_op_conv_transpose = {
    .name = "conv_transpose",
    .min_in = 2,
    .max_in = 3,
    .kind = TM_KIND_ACT,
    .shape = conv_transpose_shape,
    .gradient = conv_transpose_gradient,
    .flops = conv_transpose_flops,
    .onnx = "ConvTranspose",
    .explain = N_("A transposed convolution runs a convolution backwards: every pixel stamps a small learnt "
                  "pattern onto a larger picture, and "
                  "where stamps overlap they add up. With a step of two it doubles the size. The network "
                  "uses it on the way up, to turn a coarse "
                  "map of what is there into a fine map of where it is. The same operation carries gradients "
                  "back through an ordinary "
                  "convolution."),
};

static gboolean conv_dw_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_attrs(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape, dy = n->in[1]->shape;
  const TmAttrs *a = &n->attrs;
  const Geometry g = geometry(a);
  if (a->kernel_h < 1 || a->kernel_w < 1 || a->kernel_h > LIMIT || a->kernel_w > LIMIT)
    return tm_rule_setting(n, error, _("a kernel of %d×%d cannot be made."), a->kernel_h, a->kernel_w);
  if (!check_groups(n, x.c, g.groups, error) || !check_groups(n, dy.c, g.groups, error)) return FALSE;
  const gint64 h = conv_extent(x.h, g, a->kernel_h), w = conv_extent(x.w, g, a->kernel_w);
  if (x.n != dy.n || h != dy.h || w != dy.w)
    return tm_rule_fail(n, error,
                        _("a %d×%d kernel over %d pictures of %d×%d gives %" G_GINT64_FORMAT
                          "×%" G_GINT64_FORMAT ", but the gradient is %d pictures of %d×%d."),
                        a->kernel_h, a->kernel_w, x.n, x.h, x.w, h, w, dy.n, dy.h, dy.w);
  return tm_rule_out(n, dy.c, x.c / g.groups, a->kernel_h, a->kernel_w, out, error);
}

static double conv_dw_flops(const TmNode *n) {
  return 2.0 * tm_rule_count_in(n, 1) * n->shape.c * n->shape.h * n->shape.w;
}

const TmOpInfo tm_op_conv_dw = {
    .name = "conv_dw",
    .min_in = 2,
    .max_in = 2,
    .kind = TM_KIND_STAT,
    .shape = conv_dw_shape,
    .flops = conv_dw_flops,
    .explain = N_("This is the gradient of a convolution by its weights: how the loss would change if a "
                  "weight were a little larger. A weight "
                  "meets every pixel of every picture, so its gradient adds up, over all of them, what the "
                  "window saw there times how much the "
                  "result at that place matters."),
};
