/* The real cuDNN, without a GPU: every convolution of the nets that the program trains gets an engine for a
 * described device (a JSON file of its properties), in the types the program trains in, with sums in a fixed
 * order. Says the work space of each. Arguments: the JSON files. */
#include <string.h>

#include "engine/backend/cuda/conv.h"
#include "engine/graph/fused.h"
#include "engine/nets/unet.h"

typedef struct {
  const char *file;
  TmDType type;
  gboolean deterministic;
} Job;

static cudnnBackendDescriptor_t described(const CudnnApi *api, const char *file) {
  g_autofree char *text = NULL;
  gsize n = 0;
  cudnnBackendDescriptor_t d = NULL;
  g_assert_true(g_file_get_contents(file, &text, &n, NULL));
  if (api->cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &d) != CUDNN_STATUS_SUCCESS)
    return NULL;
  if (api->cudnnBackendSetAttribute(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (gint64)n,
                                    text) == CUDNN_STATUS_SUCCESS &&
      api->cudnnBackendFinalize(d) == CUDNN_STATUS_SUCCESS)
    return d;
  api->cudnnBackendDestroyDescriptor(d);
  return NULL;
}

static TmView view_of(const TmNode *n, TmDType precision) {
  return (TmView){.dtype = n->kind == TM_KIND_ACT ? precision : TM_F32, .shape = n->shape, .ld = n->shape.c};
}

static void plan_one(const CudnnTarget *target, const TmNode *n, TmDType type, int *bad) {
  static const char *const names[] = {"forward", "backward by data", "backward by weights"};
  g_autoptr(GError) error = NULL;
  CudaCall c = {.node = n, .n_in = n->n_in, .out = {view_of(n, type)}};
  for (guint i = 0; i < n->n_in; i++) c.in[i] = view_of(n->in[i], type);
  const CudnnSpec s = tm_cuda_conv_spec(&c, type);
  CudnnPlan *p = tm_cudnn_plan_new(target, &s, &error);
  g_autofree char *what = g_strdup_printf("%s %dx%dx%dx%d by %dx%dx%dx%d", names[s.direction], s.x.n, s.x.h,
                                          s.x.w, s.x.c, s.w.n, s.w.h, s.w.w, s.w.c);
  if (p) {
    g_test_message("%s: %d engines, work space %.1f MB", what, tm_cudnn_plan_candidates(p),
                   (double)tm_cudnn_plan_workspace(p) / 1e6);
  } else {
    g_test_fail_printf("%s: %s", what, error->message);
    ++*bad;
  }
  tm_cudnn_plan_free(p);
}

/* All convolutions of a training step of the UNet, of both ways to enlarge. */
static void test_unet(gconstpointer data) {
  const Job *job = data;
  g_autoptr(GError) error = NULL;
  const CudnnApi *api = tm_cudnn(&error);
  cudnnBackendDescriptor_t device = api ? described(api, job->file) : NULL;
  if (!device) {
    g_test_skip(error ? error->message : "this cuDNN does not take a device described in JSON");
    return;
  }
  const CudnnTarget target = {
      .api = api, .device = device, .deterministic = job->deterministic, .most_workspace = 512 << 20};
  const TmUNet unet = {.classes = 11, .base = 64, .depth = 4, .batch_norm = TRUE, .bn_momentum = 0.1f};
  g_autoptr(TmGraph) g = tm_graph_new();
  g_autoptr(GPtrArray) effects = g_ptr_array_new();
  TmNode *x = tm_graph_source(g, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(16, 3, 360, 480), "x"),
         *labels = tm_graph_source(g, TM_OP_INPUT, TM_KIND_LABEL, TM_SHAPE(16, 1, 360, 480), "labels"),
         *weights = tm_graph_source(g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 11, 1, 1), "weights");
  TmNode *loss =
      tm_node(g, TM_OP_CROSS_ENTROPY, NULL, NULL, tm_unet(g, x, &unet, TRUE, NULL, effects), labels, weights);
  g_autoptr(GPtrArray) params = g_ptr_array_new();
  for (guint i = 0; i < tm_graph_n_nodes(g); i++)
    if (tm_graph_node(g, i)->op == TM_OP_PARAM) g_ptr_array_add(params, tm_graph_node(g, i));
  g_autofree TmNode **grads = g_new0(TmNode *, params->len);
  tm_graph_gradients(g, loss, NULL, params->len, (TmNode *const *)params->pdata, grads);
  g_assert_true(tm_graph_check(g, NULL));
  int bad = 0, n = 0;
  for (guint i = 0; i < tm_graph_n_nodes(g) && !bad; i++) {
    const TmNode *node = tm_graph_node(g, i);
    if (!tm_cuda_is_conv((int)node->op)) continue;
    plan_one(&target, node, job->type, &bad);
    n++;
  }
  g_assert_cmpint(n, >, 60);
  api->cudnnBackendDestroyDescriptor(device);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const TmDType types[] = {TM_F32, TM_BF16, TM_F16};
  for (int i = 1; i < argc; i++)
    for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
      Job *job = g_new(Job, 1);
      *job = (Job){argv[i], types[t], TRUE};
      g_autofree char *name = g_path_get_basename(argv[i]),
                      *path = g_strdup_printf("/cuda-host/plans/%s/%s", name, tm_dtype_name(types[t]));
      g_test_add_data_func_full(path, job, test_unet, g_free);
    }
  return g_test_run();
}
