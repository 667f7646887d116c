/* Numbers the values and removes copies. A value that is only ever joined into one concat is written straight into its part of the
 * concat's buffer, and a slice is read where it lies; both need every step that touches the part to take a pixel stride. */
#include "engine/program/passes/compile.h"

static TmHome home_of(const TmCompile *c, const TmNode *n) {
  if (n->op == TM_OP_PARAM) return TM_HOME_VALUE;
  if (n->op == TM_OP_STATE) return TM_HOME_STATE;
  if (n->op == TM_OP_INPUT) return TM_HOME_OWN;
  for (guint i = 0; i < c->options->n_grads; i++)
    if (c->options->grads[i] == n) return TM_HOME_GRAD;
  return c->result[n->id] ? TM_HOME_OWN : TM_HOME_ARENA;
}

static void add_value(TmCompile *c, const TmNode *n) {
  const TmValue v = {.node = n, .home = home_of(c, n),
                     .view = {.dtype = tm_program_dtype(n, c->options->precision), .shape = n->shape, .ld = n->shape.c}};
  c->value_of[n->id] = (gint)c->values->len;
  g_array_append_val(c->values, v);
}

static void number_values(TmCompile *c) {
  g_autofree gboolean *made = g_new0(gboolean, c->n_nodes);
  for (guint i = 0; i < c->steps->len; i++) {
    const TmStep *s = &g_array_index(c->steps, TmStep, i);
    for (guint k = 0; k < s->n_out; k++) made[s->out[k]] = TRUE;
  }
  for (guint id = 0; id < c->n_nodes; id++) {
    const TmNode *n = tm_graph_node(c->graph, id);
    c->value_of[id] = -1;
    if (made[id] || (c->live[id] && tm_op_info(n->op)->max_in == 0)) add_value(c, n);
  }
  for (guint i = 0; i < c->steps->len; i++) {
    TmStep *s = &g_array_index(c->steps, TmStep, i);
    for (guint k = 0; k < s->n_in; k++) s->in[k] = (guint)c->value_of[s->in[k]];
    for (guint k = 0; k < s->n_out; k++) s->out[k] = (guint)c->value_of[s->out[k]];
  }
  const guint n = c->values->len;
  c->root = g_new(guint, n);
  c->channel = g_new0(int, n);
  c->members = g_new(guint, n);
  for (guint v = 0; v < n; v++) {
    c->root[v] = v;
    c->members[v] = 1;
  }
}

/* Can every step but @except work with value @v as a slice? @made: also the one that makes it. */
static gboolean all_take_slice(const TmCompile *c, guint v, guint except, gboolean made) {
  for (guint i = 0; i < c->steps->len; i++) {
    const TmStep *s = &g_array_index(c->steps, TmStep, i);
    if (i == except) continue;
    for (guint k = 0; k < s->n_in; k++)
      if (s->in[k] == v && !tm_backend_takes_slice(c->backend, s->op, s->node, (int)k, c->options->precision)) return FALSE;
    for (guint k = 0; made && k < s->n_out; k++)
      if (s->out[k] == v && !tm_backend_takes_slice(c->backend, s->op, s->node, ~(int)k, c->options->precision)) return FALSE;
  }
  return TRUE;
}

static TmValue *value(TmCompile *c, guint v) { return &g_array_index(c->values, TmValue, v); }

static gboolean can_join(TmCompile *c, guint v, guint step) {
  const TmStep *s = &g_array_index(c->steps, TmStep, step);
  guint times = 0;
  for (guint k = 0; k < s->n_in; k++) times += s->in[k] == v;
  return times == 1 && value(c, v)->home == TM_HOME_ARENA && c->root[v] == v && c->members[v] == 1 &&
         value(c, v)->view.dtype == value(c, s->out[0])->view.dtype && all_take_slice(c, v, step, TRUE);
}

static void lay_into(TmCompile *c, guint v, guint whole, int channel) {
  c->root[v] = c->root[whole];
  c->channel[v] = c->channel[whole] + channel;
  c->members[c->root[whole]]++;
  const TmView *w = &value(c, whole)->view;
  /* one pixel is contiguous whatever the stride: vectors stay dense */
  if (tm_shape_pixels(w->shape) > 1) value(c, v)->view.ld = w->ld;
}

static gboolean place_concat(TmCompile *c, guint step) {
  const TmStep *s = &g_array_index(c->steps, TmStep, step);
  for (guint k = 0; k < s->n_in; k++)
    if (!can_join(c, s->in[k], step)) return FALSE;
  int at = 0;
  for (guint k = 0; k < s->n_in; k++) {
    lay_into(c, s->in[k], s->out[0], at);
    at += value(c, s->in[k])->view.shape.c;
  }
  return TRUE;
}

static gboolean place_slice(TmCompile *c, guint step) {
  const TmStep *s = &g_array_index(c->steps, TmStep, step);
  const guint in = s->in[0], out = s->out[0];
  const TmHome from = value(c, in)->home;
  if (value(c, out)->home != TM_HOME_ARENA || (from != TM_HOME_ARENA && from != TM_HOME_OWN)) return FALSE;
  const gboolean vector = tm_shape_pixels(value(c, in)->view.shape) == 1;
  if (c->root[out] != out || c->members[out] != 1 || (!vector && !all_take_slice(c, out, step, FALSE))) return FALSE;
  lay_into(c, out, in, s->node->attrs.from);
  return TRUE;
}

void tm_pass_place(TmCompile *c) {
  number_values(c);
  if (c->options->unfused || c->options->keep_all) return;
  for (guint i = 0; i < c->steps->len;) {
    const int op = g_array_index(c->steps, TmStep, i).op;
    const gboolean gone = op == TM_OP_CONCAT ? place_concat(c, i) : op == TM_OP_SLICE ? place_slice(c, i) : FALSE;
    if (gone) g_array_remove_index(c->steps, i);
    else i++;
  }
}
