#include "engine/train/layers.h"

#include <string.h>

static gboolean begins_layer(const TmNode *n) {
  return n->name && (n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE);
}

static guint add(GPtrArray *names, const char *name) {
  g_ptr_array_add(names, (gpointer)name);
  return names->len - 1;
}

static void sort_forward(const TmTrainGraph *t, TmLayers *l, GPtrArray *names) {
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    if (n->n_in == 0) continue; /* with the first that uses it */
    l->of[id] = begins_layer(n) ? add(names, n->name) : l->of[n->in[0]->id];
    for (guint i = 1; i < n->n_in; i++)
      if (n->in[i]->n_in == 0) l->of[n->in[i]->id] = l->of[id];
  }
}

/* The way back goes with what it is the gradient of: a parameter, or the value of the way forward that it
 * looks at. */
static guint layer_of_gradient(const TmLayers *l, const TmNode *n) {
  for (guint i = 0; i < n->n_in; i++)
    if (n->in[i]->op == TM_OP_PARAM) return l->of[n->in[i]->id];
  return l->of[n->in[n->n_in > 1 && n->in[1]->n_in ? 1 : 0]->id];
}

static gboolean is_loss(const TmTrainGraph *t, const TmNode *n) {
  for (guint i = 0; i < t->loss.n; i++)
    if (n == t->loss.parts[i]) return TRUE;
  return n == t->loss.root;
}

TmLayers *tm_layers_new(const TmTrainGraph *t) {
  const guint n_nodes = tm_graph_n_nodes(t->graph);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  TmLayers *l = g_new0(TmLayers, 1);
  l->of = g_new0(guint, n_nodes);
  add(names, "input");
  sort_forward(t, l, names);
  const guint loss = add(names, "loss");
  for (guint id = 0; id < t->n_forward; id++)
    if (is_loss(t, tm_graph_node(t->graph, id))) l->of[id] = loss;
  for (guint id = t->n_forward; id < n_nodes; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    if (n->n_in) l->of[id] = layer_of_gradient(l, n);
  }
  for (guint i = 0; i < t->grads->len; i++)
    l->of[((TmNode *)t->grads->pdata[i])->id] = l->of[((TmNode *)t->params->pdata[i])->id];
  l->n = names->len;
  l->names = g_memdup2(names->pdata, names->len * sizeof *l->names);
  return l;
}

/* ---- what is kept ---- */

static gsize bytes_of(const TmValue *v) {
  return tm_shape_count(v->view.shape) * tm_dtype_size(v->view.dtype);
}

static guint way_back(const TmTrainGraph *t, const TmProgram *plan) {
  guint at = 0;
  while (at < plan->n_steps && plan->steps[at].node->id < t->n_forward) at++;
  return at;
}

/* Was it made on the way forward, and is it needed on the way back? */
static gboolean stays(const TmTrainGraph *t, const TmValue *v, guint back) {
  return v->node->id < t->n_forward && (v->home == TM_HOME_ARENA || v->home == TM_HOME_OWN) && v->first < back &&
         v->last >= back;
}

void tm_layers_stored(const TmLayers *l, const TmTrainGraph *t, const TmProgram *plan, gsize *bytes) {
  const guint back = way_back(t, plan);
  memset(bytes, 0, l->n * sizeof *bytes);
  for (guint i = 0; i < plan->n_values; i++) {
    const TmValue *v = &plan->values[i];
    const TmNode *n = v->node;
    if (!stays(t, v, back)) continue;
    if (n->op != TM_OP_CONCAT) bytes[l->of[n->id]] += bytes_of(v);
    for (guint k = 0; n->op == TM_OP_CONCAT && k < n->n_in; k++) {
      const TmValue *part = tm_program_value(plan, n->in[k]);
      if (part && !stays(t, part, back)) bytes[l->of[n->in[k]->id]] += bytes_of(part);
    }
  }
}

void tm_layers_free(TmLayers *l) {
  if (!l) return;
  g_free(l->names);
  g_free(l->of);
  g_free(l);
}
