#include "engine/train/train_graph.h"

#include <glib/gi18n.h>

#include "engine/predict/infer_graph.h"
#include "engine/train/layers.h"

/* More elements than a tensor's extents can count would wrap in the shapes; such nets fit no machine anyway.
 */
static gboolean check_size(const TmSettings *s, guint classes, int batch, int w, int h, GError **error) {
  const double widest = (double)batch * w * h * MAX(s->base, (int)classes) * 2.0;
  if (widest < 1e12) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
              _("One step of %d pictures of %d×%d needs far more memory than any machine has. Use a smaller "
                "batch, crop or base width."),
              batch, w, h);
  return FALSE;
}

static void build_forward(TmTrainGraph *t, const TmSettings *s, guint classes, int batch, int w, int h) {
  TmNode *x = tm_infer_input(t->graph, TM_SHAPE(batch, 3, h, w), &t->picture);
  t->labels = tm_graph_source(t->graph, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(batch, 1, h, w), "truth");
  if (t->net.dropout > 0)
    t->tick = tm_graph_source(t->graph, TM_OP_INPUT, TM_KIND_COUNT, TM_SHAPE(1, 1, 1, 1), "tick");
  TmNode *weights =
      tm_graph_source(t->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, (int)classes, 1, 1), "class_weights");
  TmNode *logits = tm_unet(t->graph, x, &t->net, TRUE, t->tick, t->outputs);
  t->loss = tm_loss_build(t->graph, s, logits, t->labels, weights);
  for (guint i = 0; i < t->loss.n; i++) g_ptr_array_add(t->outputs, t->loss.parts[i]);
  if (g_str_equal(s->precision, "f16")) {
    t->scale = tm_graph_source(t->graph, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 1, 1, 1), "loss.scale");
    t->scale->attrs.value = 1;
  }
  t->n_forward = tm_graph_n_nodes(t->graph);
}

static gboolean is_convolution(const TmNode *n) {
  return n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE;
}

gboolean *tm_train_graph_dropped(const TmTrainGraph *t) {
  gboolean *drop = g_new0(gboolean, t->n_forward);
  g_autofree guint *uses = g_new0(guint, t->n_forward), *by_others = g_new0(guint, t->n_forward);
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    for (guint i = 0; i < n->n_in; i++) {
      uses[n->in[i]->id]++;
      by_others[n->in[i]->id] += !is_convolution(n);
    }
  }
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    if (n->op != TM_OP_RELU || n->in[0]->op != TM_OP_BN_APPLY || uses[n->in[0]->id] != 1 || by_others[id]) continue;
    drop[id] = drop[n->in[0]->id] = TRUE;
  }
  return drop;
}

/* By node: is it dropped? Never the last layer's: what the loss looks at. */
static gboolean *dropped(const TmTrainGraph *t, const TmRecompute *again) {
  gboolean *drop = tm_train_graph_dropped(t);
  if (!again || again->n == 0) return drop;
  g_autoptr(TmLayers) l = tm_layers_new(t);
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    const guint layer = l->of[id];
    if (n->kind != TM_KIND_ACT || n->n_in == 0 || layer + 2 >= l->n || layer >= again->n) continue;
    drop[id] |= (is_convolution(n) ? again->convolution : again->rest)[layer];
  }
  return drop;
}

static void build_backward(TmTrainGraph *t, const TmRecompute *again) {
  g_autoptr(GPtrArray) wanted = g_ptr_array_new();
  for (guint i = 0; i < t->n_forward; i++) {
    TmNode *n = tm_graph_node(t->graph, i);
    if (n->op == TM_OP_PARAM) g_ptr_array_add(wanted, n);
  }
  g_autofree TmNode **found = g_new0(TmNode *, MAX(wanted->len, 1));
  g_autofree gboolean *drop = dropped(t, again);
  tm_graph_gradients_again(t->graph, t->loss.root, t->scale, drop, wanted->len, (TmNode *const *)wanted->pdata,
                           found);
  for (guint i = 0; i < wanted->len; i++) {
    if (!found[i]) continue;
    g_ptr_array_add(t->params, wanted->pdata[i]);
    g_ptr_array_add(t->grads, found[i]);
  }
}

gboolean tm_train_graph_build(TmTrainGraph *t, const TmSettings *s, guint classes, int batch, int w, int h,
                              const TmRecompute *again, GError **error) {
  if (!check_size(s, classes, batch, w, h, error)) return FALSE;
  tm_infer_net(s, classes, &t->net);
  t->graph = tm_graph_new();
  t->outputs = g_ptr_array_new();
  t->params = g_ptr_array_new();
  t->grads = g_ptr_array_new();
  build_forward(t, s, classes, batch, w, h);
  if (!tm_graph_check(t->graph, error)) return FALSE;
  build_backward(t, again);
  return tm_graph_check(t->graph, error);
}

void tm_train_graph_clear(TmTrainGraph *t) {
  tm_graph_free(t->graph);
  g_clear_pointer(&t->outputs, g_ptr_array_unref);
  g_clear_pointer(&t->params, g_ptr_array_unref);
  g_clear_pointer(&t->grads, g_ptr_array_unref);
  *t = (TmTrainGraph){0};
}

TmProgramOptions tm_train_graph_options(const TmTrainGraph *t, TmDType precision) {
  return (TmProgramOptions){.precision = precision,
                            .n_outputs = t->outputs->len,
                            .outputs = (TmNode *const *)t->outputs->pdata,
                            .n_grads = t->grads->len,
                            .params = (TmNode *const *)t->params->pdata,
                            .grads = (TmNode *const *)t->grads->pdata};
}
