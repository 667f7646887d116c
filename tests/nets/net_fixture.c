#include "tests/nets/net_fixture.h"

#include <math.h>

#include "engine/core/random.h"

static void collect_params(TestNet *n) {
  for (guint id = 0; id < tm_graph_n_nodes(n->g); id++)
    if (tm_graph_node(n->g, id)->op == TM_OP_PARAM) g_ptr_array_add(n->params, tm_graph_node(n->g, id));
}

TestNet *test_net_new(const TmUNet *net, TmShape x, gboolean training) {
  TestNet *n = g_new0(TestNet, 1);
  n->g = tm_graph_new();
  n->params = g_ptr_array_new();
  n->grads = g_ptr_array_new();
  n->effects = g_ptr_array_new();
  n->x = tm_graph_source(n->g, TM_OP_INPUT, TM_KIND_ACT, x, "x");
  n->labels = tm_graph_source(n->g, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(x.n, 1, x.h, x.w), "labels");
  n->tick = tm_graph_source(n->g, TM_OP_INPUT, TM_KIND_COUNT, TM_SHAPE(1, 1, 1, 1), "tick");
  n->weights = tm_graph_source(n->g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, net->classes, 1, 1), "class_weights");
  n->weights->attrs.value = 1;
  n->logits = tm_unet(n->g, n->x, net, training, n->tick, n->effects);
  n->loss = tm_node(n->g, TM_OP_CROSS_ENTROPY, "loss", NULL, n->logits, n->labels, n->weights);
  if (training) {
    collect_params(n);
    g_ptr_array_set_size(n->grads, (gint)n->params->len);
    tm_graph_gradients(n->g, n->loss, NULL, n->params->len, (TmNode *const *)n->params->pdata, (TmNode **)n->grads->pdata);
  }
  return n;
}

void test_net_free(TestNet *n) {
  if (!n) return;
  tm_graph_free(n->g);
  g_ptr_array_unref(n->params);
  g_ptr_array_unref(n->grads);
  g_ptr_array_unref(n->effects);
  g_free(n);
}

TmProgram *test_net_program(TestNet *n, TmBackend *backend, TmParams *params, TmDType precision, gboolean keep_all, gboolean unfused,
                            GError **error) {
  g_autoptr(GPtrArray) outputs = g_ptr_array_new();
  g_ptr_array_add(outputs, n->logits);
  g_ptr_array_add(outputs, n->loss);
  for (guint i = 0; i < n->effects->len; i++) g_ptr_array_add(outputs, n->effects->pdata[i]);
  return tm_program_new(backend, params, n->g,
                        &(TmProgramOptions){.precision = precision, .n_outputs = outputs->len, .outputs = (TmNode *const *)outputs->pdata,
                                            .n_grads = n->grads->len, .params = (TmNode *const *)n->params->pdata,
                                            .grads = (TmNode *const *)n->grads->pdata, .keep_all = keep_all, .unfused = unfused},
                        error);
}

void test_net_fill(TestNet *n, TmProgram *p, guint seed) {
  const gsize count = tm_shape_count(n->x->shape), pixels = tm_shape_pixels(n->x->shape);
  g_autofree float *x = g_new(float, count);
  g_autofree guint8 *labels = g_new(guint8, pixels);
  const guint classes = (guint)n->weights->shape.c;
  TmRandom r;
  tm_random_seed(&r, seed);
  for (gsize i = 0; i < count; i++) x[i] = sinf((float)i * 0.05f) + 0.5f * tm_random_normal(&r);
  for (gsize i = 0; i < pixels; i++) {
    labels[i] = (guint8)tm_random_int(&r, classes + 1);
    if (labels[i] == classes) labels[i] = TM_VOID;
  }
  const gint32 tick = (gint32)seed;
  g_assert_true(tm_program_write(p, n->x, x, TM_F32, NULL));
  if (tm_program_value(p, n->labels)) g_assert_true(tm_program_write(p, n->labels, labels, TM_U8, NULL));
  if (tm_program_value(p, n->tick)) g_assert_true(tm_program_write(p, n->tick, &tick, TM_I32, NULL));
}
