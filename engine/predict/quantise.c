/* quantise.c: the graph of a net of bytes; its numbers are made in quantise_fill.c. */
#include "engine/predict/quantise.h"

#include <glib/gi18n.h>

typedef struct {
  const TmGraph *net;
  TmQuantised *q;
  TmNode **made;             /* by node of the net: what stands for it, or NULL */
  TmQuantisedLayer *sources; /* by node of the net: parts of what stands for it */
  GError **error;
} Walk;

static gboolean cannot(const Walk *w, const TmNode *n) {
  g_set_error(
      w->error, TM_ERROR, TM_ERROR_UNSUPPORTED,
      _("This network has a part that cannot run in int8: %s%s%s. Use bf16 or f32 for it; networks with "
        "transposed upsampling run in int8."),
      tm_op_info(n->op)->name, n->name ? " " : "", n->name ? n->name : "");
  return FALSE;
}

/* The one node that takes @n, or NULL when none or several do. */
static const TmNode *next(const Walk *w, const TmNode *n) {
  const TmNode *found = NULL;
  for (guint id = n->id + 1; id < tm_graph_n_nodes(w->net); id++) {
    const TmNode *u = tm_graph_node(w->net, id);
    for (guint i = 0; i < u->n_in; i++)
      if (u->in[i] == n) {
        if (found) return NULL;
        found = u;
      }
  }
  return found;
}

static gboolean is(const TmNode *n, TmOp op) {
  return n && n->op == op;
}

static gboolean zero_is_byte_0(const TmQuantisedLayer *l) {
  for (guint i = 0; i < l->n_parts; i++)
    if (!l->parts[i].value || !tm_quantised_positive(l->parts[i].value)) return FALSE;
  return TRUE;
}

/* @l: the parts of its input. */
static gboolean quantisable(const TmNode *n, const TmQuantisedLayer *l) {
  const TmAttrs *a = &n->attrs;
  const TmShape k = n->in[1]->shape;
  if (!n->name || a->groups > 1 || a->dilation > 1) return FALSE;
  if (n->op ==
      TM_OP_CONV_TRANSPOSE) /* its four taps would need offsets of their own for another 0 than byte 0 */
    return zero_is_byte_0(l) && k.h == 2 && k.w == 2 && a->stride == 2 && a->pad == 0 &&
           n->shape.h == 2 * n->in[0]->shape.h && n->shape.w == 2 * n->in[0]->shape.w;
  return a->stride <= 1 && k.h == k.w && k.h % 2 == 1 && a->pad == k.h / 2;
}

static TmNode *state(Walk *w, const TmQuantisedLayer *layer, const char *part, TmShape shape) {
  g_autofree char *name = g_strconcat(layer->conv->name, part, NULL);
  return tm_graph_source(w->q->graph, TM_OP_STATE, TM_KIND_STATE, shape, name);
}

static TmNode *add_layer(Walk *w, const TmQuantisedLayer *layer, const TmAttrs *cut) {
  const TmNode *n = layer->conv;
  TmGraph *g = w->q->graph;
  const TmShape own = n->in[1]->shape, outs = TM_SHAPE(layer->tiled ? 16 : 1, n->shape.c, 1, 1);
  const TmShape k = layer->tiled ? TM_SHAPE(own.n, own.c, 4, 4) : own;
  TmNode *x = w->made[n->in[0]->id], *weights = state(w, layer, ".bytes", k),
         *scale = state(w, layer, ".scale", outs), *offset = state(w, layer, ".offset", outs);
  g_array_append_val(w->q->layers, *layer);
  if (!layer->out) return tm_node(g, TM_OP_ARGMAX_U8, "labels", cut, x, weights, scale, offset);
  if (n->op == TM_OP_CONV_TRANSPOSE)
    return tm_node(g, TM_OP_CONV_TRANSPOSE_U8, NULL, NULL, x, weights, scale, offset);
  TmNode *zero = state(w, layer, ".zero", TM_SHAPE(1, n->in[0]->shape.c, 1, 1));
  return tm_node(g, layer->tiled ? TM_OP_WINOGRAD_U8 : TM_OP_CONV_U8, NULL, NULL, x, weights, scale, offset,
                 zero);
}

/* A convolution with what belongs to it: normalisation, ReLU; or, the last one, the choice of the class. */
static gboolean take_convolution(Walk *w, const TmNode *n, const TmNode *labels) {
  TmQuantisedLayer layer = w->sources[n->in[0]->id];
  if (!w->made[n->in[0]->id] || !quantisable(n, &layer)) return cannot(w, n);
  layer.conv = layer.out = n;
  layer.tiled = n->op == TM_OP_CONV && n->in[1]->shape.h == 3 && n->in[0]->shape.c >= TM_TILED_CHANNELS;
  const TmNode *u = next(w, n);
  if (is(u, TM_OP_BN_INFER)) {
    layer.norm = layer.out = u;
    u = next(w, u);
  }
  if (is(u, TM_OP_RELU)) layer.out = u;
  const TmNode *crop = is(u, TM_OP_CROP) ? u : NULL, *argmax = crop ? next(w, crop) : u;
  if (argmax == labels && is(argmax, TM_OP_ARGMAX)) {
    layer.out = NULL;
    w->q->labels = w->made[labels->id] = add_layer(w, &layer, crop ? &crop->attrs : NULL);
    return TRUE;
  }
  if (!layer.out->name) return cannot(w, n);
  w->made[layer.out->id] = add_layer(w, &layer, NULL);
  TmQuantisedLayer *source = &w->sources[layer.out->id];
  source->n_parts = 1;
  source->parts[0].value = layer.out;
  source->parts[0].channels = n->shape.c;
  return TRUE;
}

static gboolean take_concat(Walk *w, const TmNode *n) {
  TmNode *in[TM_MAX_INPUTS];
  TmQuantisedLayer *source = &w->sources[n->id];
  for (guint i = 0; i < n->n_in; i++) {
    const TmQuantisedLayer *from = &w->sources[n->in[i]->id];
    in[i] = w->made[n->in[i]->id];
    if (!in[i] || source->n_parts + from->n_parts > TM_MAX_INPUTS) return cannot(w, n);
    for (guint k = 0; k < from->n_parts; k++) source->parts[source->n_parts++] = from->parts[k];
  }
  w->made[n->id] = tm_graph_add(w->q->graph, TM_OP_CONCAT, NULL, NULL, n->n_in, in);
  return TRUE;
}

static gboolean take_picture(Walk *w, const TmNode *n) {
  if (n->in[0]->op != TM_OP_INPUT || w->q->picture) return cannot(w, n);
  w->q->picture = tm_graph_source(w->q->graph, TM_OP_INPUT, TM_KIND_PIXEL, n->shape, n->in[0]->name);
  w->q->mean = n->in[1];
  w->q->std = n->in[2];
  w->made[n->id] = w->q->picture;
  w->sources[n->id].n_parts = 1;
  w->sources[n->id].parts[0].channels = n->shape.c;
  return TRUE;
}

static gboolean take(Walk *w, const TmNode *n, const TmNode *labels) {
  if (w->made[n->id]) return TRUE;
  switch (n->op) {
  case TM_OP_INPUT:
  case TM_OP_PARAM:
  case TM_OP_STATE:
    return TRUE;
  case TM_OP_NORMALIZE:
    return take_picture(w, n);
  case TM_OP_PAD: /* normalising and mirroring may change places */
    if (n->attrs.pad_mode != TM_PAD_REFLECT) return cannot(w, n);
    break;
  case TM_OP_MAX_POOL:
    break;
  case TM_OP_CONCAT:
    return take_concat(w, n);
  case TM_OP_CONV:
  case TM_OP_CONV_TRANSPOSE:
    return take_convolution(w, n, labels);
  case TM_OP_BN_INFER:
  case TM_OP_RELU:
  case TM_OP_CROP: { /* part of a layer that was taken? */
    const TmNode *x = n->in[0];
    while (is(x, TM_OP_BN_INFER) || is(x, TM_OP_RELU)) x = x->in[0];
    return is(x, TM_OP_CONV) || is(x, TM_OP_CONV_TRANSPOSE) ? TRUE : cannot(w, n);
  }
  default:
    return cannot(w, n);
  }
  if (!w->made[n->in[0]->id]) return cannot(w, n);
  w->made[n->id] = tm_node(w->q->graph, n->op, NULL, &n->attrs, w->made[n->in[0]->id]);
  w->sources[n->id] = w->sources[n->in[0]->id];
  return TRUE;
}

TmQuantised *tm_quantised_new(const TmGraph *net, const TmNode *labels, GError **error) {
  const guint n = tm_graph_n_nodes(net);
  g_autoptr(TmQuantised) q = g_new0(TmQuantised, 1);
  q->graph = tm_graph_new();
  q->layers = g_array_new(FALSE, TRUE, sizeof(TmQuantisedLayer));
  g_autofree TmNode **made = g_new0(TmNode *, n);
  g_autofree TmQuantisedLayer *sources = g_new0(TmQuantisedLayer, n);
  Walk w = {.net = net, .q = q, .made = made, .sources = sources, .error = error};
  for (guint id = 0; id < n; id++)
    if (!take(&w, tm_graph_node(net, id), labels)) return NULL;
  if (!q->labels) {
    cannot(&w, labels);
    return NULL;
  }
  return tm_graph_check(q->graph, error) ? g_steal_pointer(&q) : NULL;
}

void tm_quantised_free(TmQuantised *q) {
  if (!q) return;
  tm_graph_free(q->graph);
  if (q->layers) g_array_unref(q->layers);
  g_free(q);
}
