/* Turns nodes into steps. A pattern becomes one step when the backend has it, its inner values are used by nobody else, and
 * no other node needs one of its results before the pattern's last node has its place. */
#include <glib/gi18n.h>

#include "engine/program/passes/compile.h"

enum { MAX_PATTERN = 3 };

typedef struct {
  TmFused op;
  guint n_nodes;
  const TmNode *nodes[MAX_PATTERN]; /* in order; the step stands at the last one's place */
  guint n_in;
  const TmNode *in[TM_STEP_MAX_IN];
  guint n_out;
  const TmNode *out[TM_STEP_MAX_OUT];
} Match;

/* The first live user of @n with op @op that takes it as operand @operand, or NULL. */
static const TmNode *user(const TmCompile *c, const TmNode *n, TmOp op, guint operand) {
  for (guint id = n->id + 1; id < c->n_nodes; id++) {
    const TmNode *u = tm_graph_node(c->graph, id);
    if (c->live[id] && u->op == op && operand < u->n_in && u->in[operand] == n) return u;
  }
  return NULL;
}

static gboolean inner(const TmCompile *c, const TmNode *n) { return c->uses[n->id] == 1 && !c->result[n->id]; }

static void take_inputs(Match *m, const TmNode *n) {
  m->n_in = n->n_in;
  for (guint i = 0; i < n->n_in; i++) m->in[i] = n->in[i];
}

static gboolean match_bn_relu(const TmCompile *c, const TmNode *n, gboolean pool, Match *m) {
  const gboolean infer = n->op == TM_OP_BN_INFER;
  if ((n->op != TM_OP_BN_APPLY && !infer) || (infer && pool) || !inner(c, n)) return FALSE;
  const TmNode *relu = user(c, n, TM_OP_RELU, 0);
  if (!relu) return FALSE;
  const TmNode *max = pool ? user(c, relu, TM_OP_MAX_POOL, 0) : NULL;
  if (pool && (!max || max->attrs.factor != 2)) return FALSE;
  *m = (Match){.op = pool ? TM_FUSED_BN_RELU_POOL : infer ? TM_FUSED_BN_INFER_RELU : TM_FUSED_BN_RELU,
               .n_nodes = pool ? 3 : 2, .nodes = {n, relu, max}, .n_out = pool ? 2 : 1, .out = {relu, max}};
  take_inputs(m, n);
  return TRUE;
}

static gboolean match_relu_dx_reduce(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_RELU_DX || n->in[1]->op != TM_OP_RELU) return FALSE;
  const TmNode *bn = n->in[1]->in[0], *reduce = user(c, n, TM_OP_BN_REDUCE, 0);
  if (bn->op != TM_OP_BN_APPLY || !reduce || reduce->in[1] != bn->in[0] || reduce->in[2] != bn->in[1]) return FALSE;
  *m = (Match){.op = TM_FUSED_RELU_DX_BN_REDUCE, .n_nodes = 2, .nodes = {n, reduce}, .n_in = 5,
               .in = {n->in[0], bn->in[0], bn->in[1], bn->in[2], bn->in[3]}, .n_out = 2, .out = {n, reduce}};
  return TRUE;
}

static gboolean match_pool_dx_add(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_MAX_POOL_DX || n->attrs.factor != 2 || !inner(c, n)) return FALSE;
  const TmNode *add = user(c, n, TM_OP_ADD, 1);
  guint other = 0;
  if (!add) {
    add = user(c, n, TM_OP_ADD, 0);
    other = 1;
  }
  if (!add || add->in[other] == n) return FALSE;
  *m = (Match){.op = TM_FUSED_POOL_DX_ADD, .n_nodes = 2, .nodes = {n, add}, .n_in = 4,
               .in = {n->in[0], n->in[1], n->in[2], add->in[other]}, .n_out = 1, .out = {add}};
  return TRUE;
}

static gboolean match_conv_stats(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_CONV || n->n_in != 2) return FALSE;
  const TmNode *stats = user(c, n, TM_OP_BN_STATS, 0);
  if (!stats) return FALSE;
  *m = (Match){.op = TM_FUSED_CONV_STATS, .n_nodes = 2, .nodes = {n, stats}, .n_out = 2, .out = {n, stats}};
  take_inputs(m, n);
  return TRUE;
}

static gboolean match_conv_bn_infer(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_CONV || n->n_in != 2 || !inner(c, n)) return FALSE;
  const TmNode *bn = user(c, n, TM_OP_BN_INFER, 0);
  if (!bn) return FALSE;
  const TmNode *relu = inner(c, bn) ? user(c, bn, TM_OP_RELU, 0) : NULL;
  *m = (Match){.op = relu ? TM_FUSED_CONV_BN_INFER_RELU : TM_FUSED_CONV_BN_INFER, .n_nodes = relu ? 3 : 2, .nodes = {n, bn, relu},
               .n_in = 6, .in = {n->in[0], n->in[1], bn->in[1], bn->in[2], bn->in[3], bn->in[4]}, .n_out = 1, .out = {relu ? relu : bn}};
  return TRUE;
}

static gboolean match_conv_argmax(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_CONV || !inner(c, n)) return FALSE;
  const TmNode *crop = user(c, n, TM_OP_CROP, 0);
  if (crop && !inner(c, crop)) return FALSE;
  const TmNode *argmax = user(c, crop ? crop : n, TM_OP_ARGMAX, 0);
  if (!argmax) return FALSE;
  *m = (Match){.op = TM_FUSED_CONV_ARGMAX, .n_nodes = crop ? 3 : 2, .nodes = {n, crop ? crop : argmax, crop ? argmax : NULL},
               .n_out = 1, .out = {argmax}};
  take_inputs(m, n);
  return TRUE;
}

static gboolean match_cross_entropy(const TmCompile *c, const TmNode *n, Match *m) {
  if (n->op != TM_OP_CROSS_ENTROPY) return FALSE;
  const TmNode *dx = user(c, n->in[0], TM_OP_CROSS_ENTROPY_DX, 1);
  if (!dx || dx->in[2] != n->in[1] || dx->in[3] != n->in[2]) return FALSE;
  *m = (Match){.op = TM_FUSED_CROSS_ENTROPY_GRAD, .n_nodes = 2, .nodes = {n, dx}, .n_in = 4,
               .in = {n->in[0], n->in[1], n->in[2], dx->in[0]}, .n_out = 2, .out = {n, dx}};
  return TRUE;
}

/* Would moving the pattern to its last node's place leave an earlier user without its input, or is a node of it spoken for? */
static gboolean movable(const TmCompile *c, const Match *m, const gboolean *taken) {
  const guint last = m->nodes[m->n_nodes - 1]->id;
  for (guint i = 0; i < m->n_nodes; i++)
    if (taken[m->nodes[i]->id]) return FALSE;
  for (guint o = 0; o < m->n_out; o++)
    for (guint id = m->out[o]->id + 1; id < last; id++) {
      const TmNode *n = tm_graph_node(c->graph, id);
      if (!c->live[id]) continue;
      gboolean member = FALSE;
      for (guint k = 0; k < m->n_nodes; k++) member |= m->nodes[k] == n;
      for (guint i = 0; i < n->n_in && !member; i++)
        if (n->in[i] == m->out[o]) return FALSE;
    }
  return TRUE;
}

static gboolean find(const TmCompile *c, const TmNode *n, const gboolean *taken, Match *m) {
  for (int kind = 0; kind < 8; kind++) {
    gboolean found = FALSE;
    switch (kind) {
    case 0: found = match_bn_relu(c, n, TRUE, m); break;
    case 1: found = match_bn_relu(c, n, FALSE, m); break;
    case 2: found = match_relu_dx_reduce(c, n, m); break;
    case 3: found = match_pool_dx_add(c, n, m); break;
    case 4: found = match_conv_stats(c, n, m); break;
    case 5: found = match_cross_entropy(c, n, m); break;
    case 6: found = match_conv_bn_infer(c, n, m); break;
    case 7: found = match_conv_argmax(c, n, m); break;
    }
    if (found && movable(c, m, taken) && tm_backend_supports(c->backend, (int)m->op, n, c->options->precision)) return TRUE;
  }
  return FALSE;
}

static void add_fused(TmCompile *c, const Match *m) {
  TmStep s = {.op = (int)m->op, .node = m->nodes[0], .n_in = m->n_in, .n_out = m->n_out};
  for (guint i = 0; i < m->n_in; i++) s.in[i] = m->in[i]->id;
  for (guint i = 0; i < m->n_out; i++) s.out[i] = m->out[i]->id;
  g_array_append_val(c->steps, s);
}

static gboolean add_plain(TmCompile *c, const TmNode *n, GError **error) {
  if (!tm_backend_supports(c->backend, (int)n->op, n, c->options->precision)) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("The %s engine cannot run %s%s%s in %s."), c->backend->api->name,
                tm_op_info(n->op)->name, n->name ? " " : "", n->name ? n->name : "", tm_dtype_name(c->options->precision));
    return FALSE;
  }
  TmStep s = {.op = (int)n->op, .node = n, .n_in = n->n_in, .n_out = 1, .out = {n->id}};
  for (guint i = 0; i < n->n_in; i++) s.in[i] = n->in[i]->id;
  g_array_append_val(c->steps, s);
  return TRUE;
}

/* A pattern that needs an operand no more may have been the last to: what was made for it alone goes. */
static void drop_unused(TmCompile *c) {
  g_autofree gboolean *needed = g_memdup2(c->result, c->n_nodes * sizeof *c->result);
  for (guint i = c->steps->len; i-- > 0;) {
    const TmStep *s = &g_array_index(c->steps, TmStep, i);
    gboolean used = FALSE;
    for (guint k = 0; k < s->n_out; k++) used |= needed[s->out[k]];
    for (guint k = 0; k < s->n_in; k++) needed[s->in[k]] |= used;
    if (!used) g_array_remove_index(c->steps, i);
  }
}

gboolean tm_pass_fuse(TmCompile *c, GError **error) {
  g_autofree gboolean *taken = g_new0(gboolean, c->n_nodes);
  g_autofree Match **at = g_new0(Match *, c->n_nodes); /* by the id of a pattern's last node */
  const gboolean plain = c->options->unfused || c->options->keep_all;
  gboolean ok = TRUE;
  for (guint id = 0; id < c->n_nodes && !plain; id++) {
    Match m;
    if (!c->live[id] || taken[id] || !find(c, tm_graph_node(c->graph, id), taken, &m)) continue;
    for (guint i = 0; i < m.n_nodes; i++) taken[m.nodes[i]->id] = TRUE;
    at[m.nodes[m.n_nodes - 1]->id] = g_memdup2(&m, sizeof m);
  }
  for (guint id = 0; id < c->n_nodes; id++) {
    const TmNode *n = tm_graph_node(c->graph, id);
    if (at[id]) add_fused(c, at[id]);
    else if (ok && c->live[id] && !taken[id] && tm_op_info(n->op)->max_in > 0) ok = add_plain(c, n, error);
    g_free(at[id]);
  }
  if (ok && !plain) drop_unused(c);
  return ok;
}
