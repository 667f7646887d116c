/* concat.c: along the channels.
 *
 * concat    2..8 tensors (N,Ci,H,W) -> (N, sum Ci, H, W)
 * slice     x -> its channels from .. from+count-1
 * slice_dx  dy (N,c,H,W) -> (N,count,H,W): dy at channels from .. from+c-1 and 0 elsewhere */
#include "engine/ops/rule.h"

#include <glib/gi18n.h>

static gboolean concat_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, n->in[0]->kind == TM_KIND_PIXEL ? "p" : "x", error)) return FALSE;
  const TmShape a = n->in[0]->shape;
  gint64 c = a.c;
  for (guint i = 1; i < n->n_in; i++) {
    const TmShape b = n->in[i]->shape;
    if (b.n != a.n || b.h != a.h || b.w != a.w)
      return tm_rule_fail(
          n, error,
          _("input %u is %d pictures of %d×%d and input 0 is %d of %d×%d; only channels may differ."), i, b.n,
          b.h, b.w, a.n, a.h, a.w);
    if ((n->in[i]->kind == TM_KIND_ACT) != (n->in[0]->kind == TM_KIND_ACT))
      return tm_rule_fail(n, error, _("activations and statistics cannot be put side by side."));
    c += b.c;
  }
  return tm_rule_out(n, a.n, c, a.h, a.w, out, error);
}

static void concat_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  int from = 0;
  for (guint i = 0; i < n->n_in; i++) {
    const int count = n->in[i]->shape.c;
    if (want[i]) dx[i] = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = from, .count = count}), dy);
    from += count;
  }
}

const TmOpInfo tm_op_concat = {
    .name = "concat",
    .min_in = 2,
    .max_in = TM_MAX_INPUTS,
    .kind = TM_KIND_ACT,
    .shape = concat_shape,
    .gradient = concat_gradient,
    .onnx = "Concat",
    .explain = N_("Channels of several layers are laid side by side at every pixel. This is the U of the "
                  "UNet: the fine picture from the way down is "
                  "put next to the enlarged coarse one on the way up, so the next convolution knows both "
                  "where edges are and what they bound."),
};

static gboolean slice_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  const TmShape x = n->in[0]->shape;
  const TmAttrs *a = &n->attrs;
  if (a->from < 0 || a->count < 1 || (gint64)a->from + a->count > x.c)
    return tm_rule_setting(n, error, _("%d channels from %d on cannot be taken out of %d."), a->count,
                           a->from, x.c);
  return tm_rule_out(n, x.n, a->count, x.h, x.w, out, error);
}

static void slice_gradient(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  const TmAttrs a = {.from = n->attrs.from, .count = n->in[0]->shape.c};
  if (want[0]) dx[0] = tm_node(g, TM_OP_SLICE_DX, NULL, &a, dy);
}

/* Only the slice is read. */
static double slice_bytes(const TmNode *n, gsize elem) {
  return 2 * tm_rule_count(n) * (double)tm_rule_elem(n, elem);
}

const TmOpInfo tm_op_slice = {
    .name = "slice",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = slice_shape,
    .gradient = slice_gradient,
    .bytes = slice_bytes,
    .onnx = "Slice",
    .explain = N_("A slice takes some neighbouring channels out of many. It undoes a concatenation, and so "
                  "carries each part's gradient back to it."),
};

static gboolean slice_dx_shape(const TmNode *n, TmShape *out, GError **error) {
  if (!tm_rule_kinds(n, "x", error)) return FALSE;
  const TmShape dy = n->in[0]->shape;
  const TmAttrs *a = &n->attrs;
  if (a->from < 0 || (gint64)a->from + dy.c > a->count)
    return tm_rule_setting(n, error, _("%d channels do not fit into %d from channel %d on."), dy.c, a->count,
                           a->from);
  return tm_rule_out(n, dy.n, a->count, dy.h, dy.w, out, error);
}

const TmOpInfo tm_op_slice_dx = {
    .name = "slice_dx",
    .min_in = 1,
    .max_in = 1,
    .kind = TM_KIND_ACT,
    .shape = slice_dx_shape,
    .explain = N_("The channels of a slice receive its gradient; those that were left out had no effect and "
                  "receive 0."),
};
