#include "engine/program/passes/compile.h"

static void mark(TmCompile *c, const TmNode *n) {
  if (c->live[n->id]) return;
  c->live[n->id] = TRUE;
  for (guint i = 0; i < n->n_in; i++) mark(c, n->in[i]);
}

void tm_pass_live(TmCompile *c) {
  const TmProgramOptions *o = c->options;
  for (guint i = 0; i < o->n_outputs; i++) {
    mark(c, o->outputs[i]);
    c->result[o->outputs[i]->id] = TRUE;
  }
  for (guint i = 0; i < o->n_grads; i++)
    if (o->grads[i]) {
      mark(c, o->grads[i]);
      c->result[o->grads[i]->id] = TRUE;
    }
  for (guint id = 0; id < c->n_nodes; id++) {
    const TmNode *n = tm_graph_node(c->graph, id);
    if (!c->live[id]) continue;
    c->result[id] |= o->keep_all;
    for (guint i = 0; i < n->n_in; i++) c->uses[n->in[i]->id]++;
  }
}
