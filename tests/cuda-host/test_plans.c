/* The real cuDNN, without a GPU: every convolution step of the programs that are compiled for the cuda
 * backend, to train and to predict, gets an engine for a described device (a JSON file of its properties),
 * with sums in a fixed order. Says the work space of each. Arguments: the JSON files. */
#include <string.h>

#include "engine/backend/cuda/conv.h"
#include "engine/predict/infer_graph.h"
#include "engine/train/train_graph.h"

extern const TmBackendApi tm_backend_module;

enum { CLASSES = 11 };
static const gsize most_workspace = (gsize)2 << 30; /* of such GPUs, cuda.c */

typedef struct {
  const char *name, *base, *upsampling, *batch_norm, *depth;
  int batch, w, h;
  gboolean all; /* in every precision */
} Net;

static const Net nets[] = {
    {"base64", "64", "transposed", "true", "4", 16, 480, 360, TRUE},
    {"single", "64", "bilinear", "true", "4", 1, 480, 360, FALSE},
    {"crops", "32", "transposed", "true", "4", 8, 320, 320, FALSE},
    {"plain", "3", "bilinear", "false", "2", 2, 37, 26, TRUE},
    {"deep", "16", "transposed", "true", "5", 4, 959, 720, FALSE},
};

typedef struct {
  const char *file, *precision;
  const Net *net;
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

/* By the name that is written down the same engine is found, with the same work space. */
static void find_again(const CudnnTarget *target, const CudnnSpec *s, const CudnnPlan *p) {
  CudnnDescs d = {.api = target->api};
  CudnnEngine again;
  CudnnDesc graph = tm_cudnn_graph(&d, s, NULL);
  if (tm_cudnn_engine_named(target, graph, s->type, tm_cudnn_plan_engine(p), &again)) {
    g_assert_cmpint(again.workspace, ==, (gint64)tm_cudnn_plan_workspace(p));
    target->api->cudnnBackendDestroyDescriptor(again.plan);
  } else {
    g_test_fail_printf("engine %s is not found by its name", tm_cudnn_plan_engine(p));
  }
  tm_cudnn_clean(&d);
}

/* TRUE when there is an engine. */
static gboolean plan_one(const CudnnTarget *target, const CudnnSpec *s, const char *what, gsize *most) {
  g_autoptr(GError) error = NULL;
  CudnnPlan *p = tm_cudnn_plan_new(target, s, &error);
  if (!p) {
    g_test_fail_printf("%s: %s", what, error->message);
    return FALSE;
  }
  const gsize workspace = tm_cudnn_plan_workspace(p);
  g_test_message("%s: engine %s, work space %.1f MB", what, tm_cudnn_plan_engine(p), (double)workspace / 1e6);
  *most = MAX(*most, workspace);
  find_again(target, s, p);
  tm_cudnn_plan_free(p);
  return TRUE;
}

/* All of the program's, each sort once. */
static void plan_program(const CudnnTarget *target, const TmProgram *p, GHashTable *seen, gsize *most) {
  for (guint i = 0; i < p->n_steps; i++) {
    if (!tm_cuda_is_conv(p->steps[i].op)) continue;
    const CudaCall c = tm_cuda_call(p, &p->steps[i], NULL);
    const CudnnSpec s = tm_cuda_conv_spec(&c, p->precision);
    char *what = tm_cudnn_spec_text(&s);
    if (!g_hash_table_add(seen, what)) continue;
    if (!plan_one(target, &s, what, most)) return;
  }
}

static void settings_of(const Job *job, TmSettings *s) {
  tm_settings_defaults(s);
  g_assert_true(tm_settings_set(s, "base", job->net->base, NULL) &&
                tm_settings_set(s, "upsampling", job->net->upsampling, NULL) &&
                tm_settings_set(s, "batch_norm", job->net->batch_norm, NULL) &&
                tm_settings_set(s, "depth", job->net->depth, NULL) &&
                tm_settings_set(s, "precision", job->precision, NULL));
}

static TmProgram *train_program(TmBackend *b, const TmSettings *s, const Net *n, TmDType type,
                                TmTrainGraph *t) {
  g_autoptr(GError) error = NULL;
  tm_train_graph_build(t, s, CLASSES, n->batch, n->w, n->h, NULL, &error);
  g_assert_no_error(error);
  const TmProgramOptions options = tm_train_graph_options(t, type);
  TmProgram *p = tm_program_plan(b, t->graph, &options, &error);
  g_assert_no_error(error);
  return p;
}

static TmProgram *infer_program(TmBackend *b, const TmSettings *s, const Net *n, TmDType type, TmGraph *g) {
  g_autoptr(GError) error = NULL;
  TmUNet net;
  tm_infer_net(s, CLASSES, &net);
  TmNode *const labels = tm_infer_graph(g, &net, TM_SHAPE(n->batch, 3, n->h, n->w), NULL, NULL);
  const TmProgramOptions options = {.precision = type, .n_outputs = 1, .outputs = &labels};
  TmProgram *p = tm_program_plan(b, g, &options, &error);
  g_assert_no_error(error);
  return p;
}

static void test_net(gconstpointer data) {
  const Job *job = data;
  g_autoptr(GError) error = NULL;
  const CudnnApi *api = tm_cudnn(&error);
  cudnnBackendDescriptor_t device = api ? described(api, job->file) : NULL;
  if (!device) {
    g_test_skip(error ? error->message : "this cuDNN does not take a device described in JSON");
    return;
  }
  const CudnnTarget target = {.api = api,
                              .device = device,
                              .deterministic = TRUE,
                              .tf32 = strcmp(job->precision, "tf32") == 0,
                              .most_workspace = most_workspace};
  const TmDType type = strcmp(job->precision, "bf16") == 0  ? TM_BF16
                       : strcmp(job->precision, "f16") == 0 ? TM_F16
                                                            : TM_F32;
  TmBackend never_opened = {.api = &tm_backend_module, .owner = g_thread_self()}; /* asked what it supports */
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  gsize most = 0;
  TmSettings settings;
  settings_of(job, &settings);
  g_auto(TmTrainGraph) t = {0};
  g_autoptr(TmGraph) g = tm_graph_new();
  TmProgram *train = train_program(&never_opened, &settings, job->net, type, &t),
            *infer = infer_program(&never_opened, &settings, job->net, type, g);
  plan_program(&target, train, seen, &most);
  plan_program(&target, infer, seen, &most);
  g_test_message("%u sorts of convolutions, at most %.1f MB of work space", g_hash_table_size(seen),
                 (double)most / 1e6);
  g_assert_cmpuint(g_hash_table_size(seen), >, 20);
  tm_program_free(train);
  tm_program_free(infer);
  api->cudnnBackendDestroyDescriptor(device);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const char *const precisions[] = {"bf16", "f16", "f32", "tf32"};
  for (int i = 1; i < argc; i++)
    for (guint k = 0; k < G_N_ELEMENTS(precisions) * G_N_ELEMENTS(nets); k++) {
      const Net *net = &nets[k / G_N_ELEMENTS(precisions)];
      const char *precision = precisions[k % G_N_ELEMENTS(precisions)];
      if (!net->all && strstr(precision, "f32")) continue;
      Job *job = g_new(Job, 1);
      *job = (Job){argv[i], precision, net};
      g_autofree char *name = g_path_get_basename(argv[i]),
                      *path = g_strdup_printf("/cuda-host/plans/%s/%s/%s", name, net->name, precision);
      g_test_add_data_func_full(path, job, test_net, g_free);
    }
  return g_test_run();
}
