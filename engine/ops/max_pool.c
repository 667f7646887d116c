/* max_pool.c: windows of factor x factor that do not overlap.
 *
 * max_pool     x (N,C,H,W) -> y (N, C, floor(H/factor), floor(W/factor)), of x's kind
 *              Rows and columns that do not fill a window are cut.
 *
 * max_pool_dx  dy, x, y -> dx
 *              Each window's gradient goes to its first maximum in row-major order, as in PyTorch, and 0
 *              elsewhere. */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean check_factor(const TmNode *n, GError **error) {
  if (n->attrs.factor >= 1) return TRUE;
  return tm_rule_setting(n, error, _("a factor of %d cannot be; it must be at least 1."), n->attrs.factor);
}

static gboolean max_pool_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "b", error) || !check_factor(n, error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  const int f = n->attrs.factor;
  if (x.h < f || x.w < f)
    return tm_rule_fail(n, error, _("a picture of %d×%d is smaller than the %d×%d window."), x.h, x.w, f, f);
  return tm_rule_out(n, x.n, x.c, x.h / f, x.w / f, out, error);
}

static void max_pool_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (want[0]) dx[0] = tm_node(g, TM_OP_MAX_POOL_DX, NULL, &n->attrs, dy, n->in[0], n);
}

static double max_pool_flops(const TmNode *n) {
  return tm_rule_count(n) * n->attrs.factor * n->attrs.factor;
}

const TmOpInfo tm_op_max_pool = {
    .name = "max_pool",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = max_pool_shape,
    .gradient = max_pool_gradient,
    .flops = max_pool_flops,
    .onnx = "MaxPool",
    .explain = N_("Max-pooling keeps the largest value of each little square and forgets exactly where in it "
                  "it was. The picture becomes half as wide "
                  "and high, so the next convolutions are four times cheaper and their windows cover twice "
                  "the surroundings. What is lost, the "
                  "exact place, comes back over the skip connections."),
};

static gboolean max_pool_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error) || !check_factor(n, error) || !tm_rule_same(n, 2, 0, error)) return FALSE;
  const TmShape x = n->in[1]->shape, y = n->in[2]->shape;
  const int f = n->attrs.factor;
  if (x.n != y.n || x.c != y.c || x.h / f != y.h || x.w / f != y.w)
    return tm_rule_fail(n, error, _("%d×%d×%d×%d is not what pooling %d×%d×%d×%d by %d gives."), y.n, y.c,
                        y.h, y.w, x.n, x.c, x.h, x.w, f);
  *out = x;
  return TRUE;
}

const TmOpInfo tm_op_max_pool_dx = {
    .name = "max_pool_dx",
    .min_in = 3,
    .max_in = 3,
    .kind = TM_KIND_ACT,
    .shape = max_pool_dx_shape,
    .flops = tm_rule_count,
    .explain = N_("Only the largest value of each square had any effect, so it alone receives the gradient; "
                  "the others get 0."),
};
