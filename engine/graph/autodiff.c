/* Reverse-mode differentiation. Gradients are nodes like all others. */
#include <string.h>

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

/* What is dropped after the forward pass, and made again. */
typedef struct {
  TmGraph *g;
  const gboolean *drop; /* by id; NULL: nothing */
  TmNode **again;       /* by id: the copy in use, or NULL */
  guint n_nodes;
} Again;

static gboolean dropped(const Again *a, const TmNode *n) {
  return a->drop && n->id < a->n_nodes && a->drop[n->id] && n->n_in > 0;
}

/* @n itself, or the copy that stands in for it on the way back: added here, right before it is needed. */
static TmNode *recall(Again *a, TmNode *n) {
  if (!dropped(a, n)) return n;
  TmNode *in[TM_MAX_INPUTS];
  if (a->again[n->id]) return a->again[n->id];
  for (guint i = 0; i < n->n_in; i++) in[i] = recall(a, n->in[i]);
  return a->again[n->id] = tm_graph_add(a->g, n->op, NULL, &n->attrs, n->n_in, in);
}

static gboolean is_convolution(const TmNode *n) { return n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE; }

/* The gradient rule of @n, with copies for what was dropped. */
static void differentiate(Again *a, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx) {
  if (!a->drop) {
    tm_op_info(n->op)->gradient(a->g, n, dy, want, dx);
    return;
  }
  /* What was made again for the layers above a kept convolution serves nobody below it; a skip's copy would
   * otherwise live from the decoder's way back to the encoder's. */
  if (is_convolution(n) && !dropped(a, n)) memset(a->again, 0, a->n_nodes * sizeof *a->again);
  if (dropped(a, n)) n = recall(a, n);
  TmNode *kept[TM_MAX_INPUTS];
  memcpy(kept, n->in, sizeof kept);
  for (guint i = 0; i < n->n_in; i++) n->in[i] = recall(a, n->in[i]); /* only while the rule looks */
  tm_op_info(n->op)->gradient(a->g, n, dy, want, dx);
  memcpy(n->in, kept, sizeof kept);
}

void tm_graph_gradients_again(TmGraph *g, TmNode *loss, TmNode *loss_scale, const gboolean *drop, guint n, TmNode *const *by,
                              TmNode **grad) {
  const guint n_nodes = tm_graph_n_nodes(g);
  g_autofree gboolean *depends = find_dependants(g, n_nodes, n, by);
  g_autofree TmNode **d = g_new0(TmNode *, n_nodes), **copies = g_new0(TmNode *, n_nodes);
  Again again = {.g = g, .drop = drop, .again = copies, .n_nodes = n_nodes};
  if (depends[loss->id]) d[loss->id] = seed(g, loss_scale);
  for (guint id = loss->id + 1; id-- > 0;) {
    TmNode *node = tm_graph_node(g, id);
    if (!d[id] || !depends[id] || !tm_op_info(node->op)->gradient) continue;
    gboolean want[TM_MAX_INPUTS] = {FALSE};
    TmNode *dx[TM_MAX_INPUTS] = {NULL};
    for (guint i = 0; i < node->n_in; i++) want[i] = depends[node->in[i]->id];
    differentiate(&again, node, d[id], want, dx);
    for (guint i = 0; i < node->n_in; i++) {
      if (!dx[i] || !want[i]) continue;
      TmNode **sum = &d[node->in[i]->id];
      *sum = *sum ? tm_node(g, TM_OP_ADD, NULL, NULL, *sum, dx[i]) : dx[i];
    }
  }
  for (guint i = 0; i < n; i++) grad[i] = by[i]->id < n_nodes ? d[by[i]->id] : NULL;
}

void tm_graph_gradients(TmGraph *g, TmNode *loss, TmNode *loss_scale, guint n, TmNode *const *by, TmNode **grad) {
  tm_graph_gradients_again(g, loss, loss_scale, NULL, n, by, grad);
}
