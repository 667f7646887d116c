/* conv.c: convolution steps, each run in the way that conv_choose.c chooses for its shape. */
#include "engine/backend/cpu/conv.h"

#include "engine/backend/cpu/conv_choose.h"
#include "engine/core/tensor.h"
#include "engine/graph/fused.h"

#include <glib/gi18n.h>

gboolean tm_cpu_is_conv(int op) {
  return op == TM_OP_CONV || op == TM_OP_CONV_TRANSPOSE || op == TM_OP_CONV_DW || op == TM_FUSED_CONV_STATS;
}

gboolean tm_cpu_conv_supports(CpuBackend *b, int op, const TmNode *node, TmDType precision) {
  const CpuConvShape s = tm_cpu_conv_shape(node);
  const CpuConvWay *way = tm_cpu_conv_choose(b, &s, precision);
  return way && (op != TM_FUSED_CONV_STATS || way->stats);
}

gboolean tm_cpu_conv_takes_slice(CpuBackend *b, const TmNode *node, int operand, TmDType precision) {
  const CpuConvShape s = tm_cpu_conv_shape(node);
  const gboolean weights = operand == (node->op == TM_OP_CONV_DW ? ~0 : 1);
  const CpuConvWay *way = weights ? NULL : tm_cpu_conv_choose(b, &s, precision);
  return way && way->slices;
}

CpuConv *tm_cpu_conv_new_way(CpuBackend *b, const CpuConvWay *way, const CpuConvShape *s, gboolean with_stats,
                             const CpuCall *c, GError **error) {
  CpuConv *v = g_new0(CpuConv, 1);
  v->backend = b;
  v->way = way;
  v->shape = *s;
  v->type = c->in[0].dtype;
  v->with_stats = with_stats;
  gboolean ok = way->prepare(v, c, error);
  if (ok && v->packed_bytes) {
    v->packed = tm_host_alloc(v->packed_bytes);
    ok = v->packed != NULL;
    if (!ok)
      g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %.1f MB."),
                  (double)v->packed_bytes / 1e6);
  }
  if (ok) return v;
  tm_cpu_conv_free(v);
  return NULL;
}

CpuConv *tm_cpu_conv_new(CpuBackend *b, int op, const CpuCall *c, GError **error) {
  const CpuConvShape s = tm_cpu_conv_shape(c->node);
  return tm_cpu_conv_new_way(b, tm_cpu_conv_choose(b, &s, c->in[0].dtype), &s, op == TM_FUSED_CONV_STATS, c,
                             error);
}

void tm_cpu_conv_free(CpuConv *v) {
  if (!v) return;
  if (v->way->clear) v->way->clear(v);
  tm_host_free(v->packed, v->packed_bytes);
  g_free(v);
}

gsize tm_cpu_conv_team_work(const CpuConv *v) {
  return v->team_work;
}
gsize tm_cpu_conv_scratch(const CpuConv *v) {
  return v->scratch;
}

gboolean tm_cpu_conv_pack(CpuConv *v, const CpuCall *c, GError **error) {
  return v->shape.op == TM_OP_CONV_DW || !v->way->pack || v->way->pack(v, c, error);
}

gboolean tm_cpu_conv_run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  return v->way->run(v, c, scratch, error);
}
