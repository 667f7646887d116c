/* conv.c: convolution steps, each run in the way that conv_choose.c chooses for its shape. */
#include "engine/backend/cpu/conv.h"

#include "engine/backend/cpu/conv_choose.h"
#include "engine/core/tensor.h"
#include "engine/graph/fused.h"

#include <glib/gi18n.h>
#include <math.h>

gboolean tm_cpu_is_conv(int op) {
  switch (op) {
  case TM_OP_CONV:
  case TM_OP_CONV_TRANSPOSE:
  case TM_OP_CONV_DW:
  case TM_OP_CONV_U8:
  case TM_OP_WINOGRAD_U8:
  case TM_OP_CONV_TRANSPOSE_U8:
  case TM_OP_ARGMAX_U8:
  case TM_FUSED_CONV_STATS:
  case TM_FUSED_CONV_BN_INFER:
  case TM_FUSED_CONV_BN_INFER_RELU:
  case TM_FUSED_CONV_ARGMAX:
    return TRUE;
  default:
    return FALSE;
  }
}

static gboolean is_folded(int op) {
  return op == TM_FUSED_CONV_BN_INFER || op == TM_FUSED_CONV_BN_INFER_RELU;
}

static gboolean is_quantised(int op) {
  return op == TM_OP_CONV_U8 || op == TM_OP_WINOGRAD_U8 || op == TM_OP_CONV_TRANSPOSE_U8 || op == TM_OP_ARGMAX_U8;
}

static const CpuConvWay *way_of(CpuBackend *b, int op, const CpuConvShape *s, TmDType type) {
  if (op == TM_FUSED_CONV_ARGMAX) return &tm_cpu_conv_head;
  return is_quantised(op) ? &tm_cpu_conv_u8 : tm_cpu_conv_choose(b, s, type);
}

gboolean tm_cpu_conv_supports(CpuBackend *b, int op, const TmNode *node, TmDType precision) {
  const CpuConvShape s = tm_cpu_conv_shape(node);
  const CpuConvWay *way = way_of(b, op, &s, precision);
  if (op == TM_FUSED_CONV_ARGMAX || is_quantised(op)) return way->takes(b, &s, precision);
  return way && (op != TM_FUSED_CONV_STATS || way->stats) && (!is_folded(op) || way->folds);
}

gboolean tm_cpu_conv_takes_slice(CpuBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  const CpuConvShape s = tm_cpu_conv_shape(node);
  const gboolean weights = operand == (node->op == TM_OP_CONV_DW ? ~0 : 1),
                 numbers = is_quantised(op) && operand > 0, /* scales and the like */
                 labels = (op == TM_FUSED_CONV_ARGMAX || op == TM_OP_ARGMAX_U8) && operand < 0;
  const CpuConvWay *way = weights || numbers || labels ? NULL : way_of(b, op, &s, precision);
  return way && way->slices;
}

/* Room for weights and bias with the normalisation folded in: the weights only while they are packed. */
static gboolean make_fold(CpuConv *v) {
  if (!v->folded) return TRUE;
  v->bias = v->folded_bias = g_try_new0(float, (gsize)v->shape.weights.n);
  return v->folded_bias != NULL;
}

static gboolean make_packed(CpuConv *v) {
  if (v->folded) v->scratch = MAX(v->scratch, tm_shape_count(v->shape.weights) * sizeof(float));
  if (!v->packed_bytes || v->lent) return TRUE;
  return (v->packed = tm_host_alloc(v->packed_bytes)) != NULL;
}

CpuConv *tm_cpu_conv_new_way(CpuBackend *b, const CpuConvWay *way, const CpuConvShape *s, int op,
                             const CpuCall *c, gboolean lent, GError **error) {
  CpuConv *v = g_new0(CpuConv, 1);
  v->backend = b;
  v->way = way;
  v->shape = *s;
  v->type = c->in[0].dtype;
  v->with_stats = op == TM_FUSED_CONV_STATS;
  v->lent = lent;
  v->folded = is_folded(op);
  v->relu = op == TM_FUSED_CONV_BN_INFER_RELU;
  v->bias = s->op != TM_OP_CONV_DW && c->n_in == 3 ? c->in[2].data : NULL;
  gboolean room = make_fold(v), ok = room && way->prepare(v, c, error);
  if (ok) ok = room = make_packed(v);
  if (ok) return v;
  if (!room)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %.1f MB."),
                (double)v->packed_bytes / 1e6);
  tm_cpu_conv_free(v);
  return NULL;
}

CpuConv *tm_cpu_conv_new(CpuBackend *b, int op, const CpuCall *c, gboolean lent, GError **error) {
  const CpuConvShape s = tm_cpu_conv_shape(c->node);
  return tm_cpu_conv_new_way(b, way_of(b, op, &s, c->in[0].dtype), &s, op, c, lent, error);
}

void tm_cpu_conv_free(CpuConv *v) {
  if (!v) return;
  if (v->way->clear) v->way->clear(v);
  if (!v->lent) tm_host_free(v->packed, v->packed_bytes);
  g_free(v->folded_bias);
  g_free(v);
}

gsize tm_cpu_conv_team_work(const CpuConv *v) {
  return v->team_work;
}
gsize tm_cpu_conv_held(const CpuConv *v) {
  return (v->lent ? 0 : v->packed_bytes) + v->held;
}
gsize tm_cpu_conv_packed(const CpuConv *v) {
  return v->packed_bytes;
}
void tm_cpu_conv_lend(CpuConv *v, void *room) {
  v->packed = room;
}
gsize tm_cpu_conv_scratch(const CpuConv *v) {
  return v->scratch;
}

/* bn_infer(conv(x)) = s conv(x) + (beta - s mean), s = gamma / sqrt(var + eps): the weights times s, and a
 * bias. Operands are x, w, mean, var, gamma, beta; the last of the pattern's nodes is bn_infer or its relu.
 */
static const float *fold(CpuConv *v, const CpuCall *c) {
  const TmNode *bn = v->relu ? c->made[0]->in[0] : c->made[0];
  const float *w = c->in[1].data, *mean = c->in[2].data, *var = c->in[3].data, *gamma = c->in[4].data,
              *beta = c->in[5].data;
  const gsize outs = (gsize)v->shape.weights.n, each = tm_shape_count(v->shape.weights) / outs;
  float *folded = c->team->shared;
  for (gsize o = 0; o < outs; o++) {
    const float s = gamma[o] / sqrtf(var[o] + bn->attrs.value);
    v->folded_bias[o] = beta[o] - s * mean[o];
    for (gsize k = 0; k < each; k++) folded[o * each + k] = s * w[o * each + k];
  }
  return folded;
}

gboolean tm_cpu_conv_pack(CpuConv *v, const CpuCall *c, GError **error) {
  if (v->shape.op == TM_OP_CONV_DW || !v->way->pack) return TRUE;
  return v->way->pack(v, c, v->folded ? fold(v, c) : c->in[1].data, error);
}

gboolean tm_cpu_conv_run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  return v->way->run(v, c, scratch, error);
}
