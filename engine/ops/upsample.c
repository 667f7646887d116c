/* upsample.c: (N,C,H,W) -> (N, C, H*factor, W*factor), and the adjoints back.
 *
 * upsample_nearest   y[i,j] = x[i/factor, j/factor]
 * upsample_bilinear  Half-pixel centres (PyTorch's align_corners = false): the source of row i is
 *                    s = max((i + 0.5)/factor - 0.5, 0), t = s - floor s, and
 *                    y = (1-t) x[floor s] + t x[min(floor s + 1, H-1)]; the same along columns.
 * *_dx               dy (N, C, H*factor, W*factor) -> dx (N,C,H,W): the adjoint.
 *                    To be written as a gather: the same sum in the same order for any number of threads. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean check_factor(const TmNode *n, GError **error) {
  if (n->attrs.factor >= 1) return TRUE;
  return tm_rule_setting(n, error, _("a factor of %d cannot be; it must be at least 1."), n->attrs.factor);
}

static gboolean up_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_factor(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  const gint64 f = n->attrs.factor;
  return tm_rule_out(n, x.n, x.c, x.h * f, x.w * f, out, error);
}

static gboolean down_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_factor(n, error)) return FALSE;
  const TmShape y = n->in[0]->shape;
  const int f = n->attrs.factor;
  if (y.h % f || y.w % f)
    return tm_rule_fail(n, error, _("a gradient of %d×%d does not come from an enlargement by %d."), y.h, y.w,
                        f);
  return tm_rule_out(n, y.n, y.c, y.h / f, y.w / f, out, error);
}

static void nearest_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_UPSAMPLE_NEAREST_DX, NULL, &n->attrs, dy);
}

static void bilinear_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_UPSAMPLE_BILINEAR_DX, NULL, &n->attrs, dy);
}

static double nearest_dx_flops(const TmNode *n) {
  return tm_rule_count_in(n, 0);
}
static double bilinear_flops(const TmNode *n) {
  return 8 * tm_rule_count(n);
}
static double bilinear_dx_flops(const TmNode *n) {
  return 8 * tm_rule_count_in(n, 0);
}

const TmOpInfo tm_op_upsample_nearest = {
    .name = "upsample_nearest",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = up_shape,
    .gradient = nearest_gradient,
    .onnx = "Resize",
    .explain = N_("The picture is enlarged by repeating every pixel. Nothing is learnt and nothing invented; "
                  "edges show as little stairs."),
};

const TmOpInfo tm_op_upsample_nearest_dx = {
    .name = "upsample_nearest_dx",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = down_shape,
    .flops = nearest_dx_flops,
    .explain = N_("A pixel that was repeated receives the sum of the gradients of all its copies."),
};

const TmOpInfo tm_op_upsample_bilinear = {
    .name = "upsample_bilinear",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = up_shape,
    .gradient = bilinear_gradient,
    .flops = bilinear_flops,
    .onnx = "Resize",
    .explain = N_("The picture is enlarged smoothly: every new pixel is a mixture of the four old ones "
                  "around it, by distance. It has nothing to "
                  "learn, unlike a transposed convolution, and leaves no chequerboard pattern."),
};

const TmOpInfo tm_op_upsample_bilinear_dx = {
    .name = "upsample_bilinear_dx",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = down_shape,
    .flops = bilinear_dx_flops,
    .explain = N_("Every old pixel receives the gradients of the new pixels it was mixed into, each in the "
                  "share it had in the mixture."),
};
