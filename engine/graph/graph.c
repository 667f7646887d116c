#include "engine/graph/graph.h"

#include <glib/gi18n.h>

struct _TmGraph {
  GPtrArray *nodes; /* TmNode, owned */
  GHashTable *names; /* name -> TmNode */
  GStringChunk *text;
  GError *error; /* the first one */
};

TmGraph *tm_graph_new(void) {
  TmGraph *g = g_new0(TmGraph, 1);
  g->nodes = g_ptr_array_new_with_free_func(g_free);
  g->names = g_hash_table_new(g_str_hash, g_str_equal);
  g->text = g_string_chunk_new(1024);
  return g;
}

void tm_graph_free(TmGraph *g) {
  if (!g) return;
  g_ptr_array_unref(g->nodes);
  g_hash_table_unref(g->names);
  g_string_chunk_free(g->text);
  g_clear_error(&g->error);
  g_free(g);
}

guint tm_graph_n_nodes(const TmGraph *g) { return g->nodes->len; }
TmNode *tm_graph_node(const TmGraph *g, guint id) { return g->nodes->pdata[id]; }
TmNode *tm_graph_find(const TmGraph *g, const char *name) { return g_hash_table_lookup(g->names, name); }

static void G_GNUC_PRINTF(2, 3) fail(TmGraph *g, const char *format, ...) {
  if (g->error) return;
  va_list args;
  va_start(args, format);
  g->error = g_error_new_valist(TM_ERROR, TM_ERROR_SHAPE, format, args);
  va_end(args);
}

static TmNode *append(TmGraph *g, TmOp op, const char *name) {
  TmNode *n = g_new0(TmNode, 1);
  n->op = op;
  n->id = g->nodes->len;
  n->shape = TM_SHAPE(1, 1, 1, 1);
  if (name && g_hash_table_contains(g->names, name)) {
    fail(g, _("The name “%s” is used twice in the network."), name);
    name = NULL;
  }
  if (name) {
    n->name = g_string_chunk_insert(g->text, name);
    g_hash_table_insert(g->names, (gpointer)n->name, n);
  }
  g_ptr_array_add(g->nodes, n);
  return n;
}

TmNode *tm_graph_source(TmGraph *g, TmOp op, TmKind kind, TmShape shape, const char *name) {
  TmNode *n = append(g, op, name);
  n->kind = kind;
  if (shape.n < 1 || shape.c < 1 || shape.h < 1 || shape.w < 1)
    fail(g, _("“%s” cannot have the size %d×%d×%d×%d."), name ? name : "?", shape.n, shape.c, shape.h, shape.w);
  else
    n->shape = shape;
  return n;
}

/* Ops that work alike on activations, on f32 vectors or on bytes give what they are given. */
static TmKind output_kind(const TmNode *n, TmKind row) {
  switch (n->op) {
  case TM_OP_MAX_POOL:
  case TM_OP_PAD: return n->in[0]->kind == TM_KIND_PIXEL ? TM_KIND_PIXEL : row;
  case TM_OP_ADD:
  case TM_OP_MUL:
  case TM_OP_SCALE:
  case TM_OP_SLICE:
  case TM_OP_SLICE_DX:
  case TM_OP_CONCAT:
  case TM_OP_RELU:
  case TM_OP_RELU_DX:
  case TM_OP_SIGMOID:
  case TM_OP_SIGMOID_DX: {
    const TmKind k = n->in[0]->kind;
    if (k == TM_KIND_PIXEL && n->op == TM_OP_CONCAT) return k;
    return k == TM_KIND_STAT || k == TM_KIND_PARAM || k == TM_KIND_STATE ? TM_KIND_STAT : row;
  }
  default: return row;
  }
}

TmNode *tm_graph_add(TmGraph *g, TmOp op, const char *name, const TmAttrs *attrs, guint n_in, TmNode *const *in) {
  const TmOpInfo *info = tm_op_info(op);
  TmNode *n = append(g, op, name);
  n->kind = info->kind;
  if (attrs) n->attrs = *attrs;
  if (n_in < info->min_in || n_in > MIN(info->max_in, (guint)TM_MAX_INPUTS)) {
    fail(g, _("%s takes %u to %u inputs, not %u."), info->name, info->min_in, info->max_in, n_in);
    return n;
  }
  for (guint i = 0; i < n_in; i++) {
    if (!in[i] || in[i]->id >= n->id || g->nodes->pdata[in[i]->id] != in[i]) {
      fail(g, _("Input %u of %s is not a node of this network."), i, info->name);
      return n;
    }
    n->in[i] = in[i];
  }
  n->n_in = n_in;
  if (n_in) n->kind = output_kind(n, info->kind);
  TmShape shape;
  GError *error = NULL;
  if (g->error) return n; /* what follows a mistake is not worth checking */
  if (info->shape(n, &shape, &error)) {
    n->shape = shape;
  } else {
    g->error = error;
    if (name) g_prefix_error(&g->error, "%s: ", name);
  }
  return n;
}

gboolean tm_graph_check(const TmGraph *g, GError **error) {
  if (!g->error) return TRUE;
  if (error) *error = g_error_copy(g->error);
  return FALSE;
}

static void mark(const TmNode *n, gboolean *seen) {
  if (seen[n->id]) return;
  seen[n->id] = TRUE;
  for (guint i = 0; i < n->n_in; i++) mark(n->in[i], seen);
}

double tm_graph_flops(const TmGraph *g, guint n_roots, TmNode *const *roots) {
  g_autofree gboolean *seen = g_new0(gboolean, g->nodes->len);
  for (guint i = 0; i < n_roots; i++) mark(roots[i], seen);
  double sum = 0;
  for (guint i = 0; i < g->nodes->len; i++)
    if (seen[i]) sum += tm_node_flops(g->nodes->pdata[i]);
  return sum;
}
