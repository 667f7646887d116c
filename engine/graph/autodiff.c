/* Reverse-mode differentiation. Gradients are nodes like all others. */
#include "engine/graph/graph.h"

/* depends[id]: some node of `by` is among @id's ancestors, or is @id. */
static gboolean *find_dependants(const TmGraph *g, guint n_nodes, guint n, TmNode *const *by) {
  gboolean *depends = g_new0(gboolean, n_nodes);
  for (guint i = 0; i < n; i++)
    if (by[i]->id < n_nodes) depends[by[i]->id] = TRUE;
  for (guint id = 0; id < n_nodes; id++) {
    const TmNode *node = tm_graph_node(g, id);
    for (guint i = 0; i < node->n_in; i++) depends[id] |= depends[node->in[i]->id];
  }
  return depends;
}

static TmNode *seed(TmGraph *g, TmNode *loss_scale) {
  if (loss_scale) return loss_scale;
  TmNode *one = tm_graph_find(g, "loss.seed");
  if (one) return one;
  one = tm_graph_source(g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 1, 1, 1), "loss.seed");
  one->attrs.value = 1;
  return one;
}

void tm_graph_gradients(TmGraph *g, TmNode *loss, TmNode *loss_scale, guint n, TmNode *const *by, TmNode **grad) {
  const guint n_nodes = tm_graph_n_nodes(g);
  g_autofree gboolean *depends = find_dependants(g, n_nodes, n, by);
  g_autofree TmNode **d = g_new0(TmNode *, n_nodes);
  if (depends[loss->id]) d[loss->id] = seed(g, loss_scale);
  for (guint id = loss->id + 1; id-- > 0;) {
    TmNode *node = tm_graph_node(g, id);
    const TmOpInfo *info = tm_op_info(node->op);
    if (!d[id] || !depends[id] || !info->gradient) continue;
    gboolean want[TM_MAX_INPUTS] = {FALSE};
    TmNode *dx[TM_MAX_INPUTS] = {NULL};
    for (guint i = 0; i < node->n_in; i++) want[i] = depends[node->in[i]->id];
    info->gradient(g, node, d[id], want, dx);
    for (guint i = 0; i < node->n_in; i++) {
      if (!dx[i] || !want[i]) continue;
      TmNode **sum = &d[node->in[i]->id];
      *sum = *sum ? tm_node(g, TM_OP_ADD, NULL, NULL, *sum, dx[i]) : dx[i];
    }
  }
  for (guint i = 0; i < n; i++) grad[i] = by[i]->id < n_nodes ? d[by[i]->id] : NULL;
}
