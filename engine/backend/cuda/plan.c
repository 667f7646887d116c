#include "engine/backend/cuda/plan.h"

#include <cuda_runtime_api.h>
#include <glib/gi18n.h>

typedef cudnnBackendDescriptor_t Desc;

enum { MOST_DESCS = 32, MOST_CONFIGS = 16, MOST_TIMED = 6, TIMED_RUNS = 3, MOST_NOTES = 16 };
enum { UID_X = 'x', UID_W = 'w', UID_Y = 'y' };

struct _CudnnPlan {
  CudnnTarget target;
  Desc plan, pack;
  gint64 workspace;
  int candidates;
};

/* What is made on the way, so that one place frees it; after a failure all calls do nothing. */
typedef struct {
  const CudnnTarget *target;
  Desc all[MOST_DESCS];
  int n;
  cudnnStatus_t failed;
  const char *what;
} Build;

static void note(Build *b, cudnnStatus_t status, const char *what) {
  if (b->failed != CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_SUCCESS) return;
  b->failed = status;
  b->what = what;
}

static gboolean give_up(const Build *b, GError **error) {
  char why[256] = "";
  const CudnnApi *api = b->target->api;
  api->cudnnGetLastErrorString(why, sizeof why);
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
              _("cuDNN %zu has no way to run a convolution (%s: %s%s%s)."), api->cudnnGetVersion(), b->what,
              api->cudnnGetErrorString(b->failed), *why ? ", " : "", why);
  return FALSE;
}

static Desc make(Build *b, cudnnBackendDescriptorType_t type) {
  Desc d = NULL;
  if (b->failed != CUDNN_STATUS_SUCCESS) return NULL;
  note(b,
       b->n < MOST_DESCS ? b->target->api->cudnnBackendCreateDescriptor(type, &d)
                         : CUDNN_STATUS_INTERNAL_ERROR,
       "create");
  if (d) b->all[b->n++] = d;
  return d;
}

static void set(Build *b, Desc d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                gint64 n, const void *value) {
  if (b->failed == CUDNN_STATUS_SUCCESS)
    note(b, b->target->api->cudnnBackendSetAttribute(d, name, type, n, value), "attribute");
}
static void set_desc(Build *b, Desc d, cudnnBackendAttributeName_t name, Desc value) {
  set(b, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}
static void set_ints(Build *b, Desc d, cudnnBackendAttributeName_t name, gint64 n, const gint64 *value) {
  set(b, d, name, CUDNN_TYPE_INT64, n, value);
}

static Desc finish(Build *b, Desc d, const char *what) {
  if (b->failed == CUDNN_STATUS_SUCCESS) note(b, b->target->api->cudnnBackendFinalize(d), what);
  return d;
}

static void clean(Build *b) {
  while (b->n > 0) b->target->api->cudnnBackendDestroyDescriptor(b->all[--b->n]);
}

/* ---- the operation graph ---- */

static cudnnDataType_t data_type(TmDType t) {
  return t == TM_BF16 ? CUDNN_DATA_BFLOAT16 : t == TM_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

/* Extents go in n, c, h, w order; the strides make it NHWC. */
static Desc tensor(Build *b, gint64 uid, TmDType type, TmShape s) {
  Desc d = make(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t t = data_type(type);
  const gint64 c = s.c, w = s.w, h = s.h, align = 16;
  const gint64 extent[] = {s.n, c, h, w}, stride[] = {h * w * c, 1, w * c, c};
  set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t);
  set_ints(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, extent);
  set_ints(b, d, CUDNN_ATTR_TENSOR_STRIDES, 4, stride);
  set_ints(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1, &uid);
  set_ints(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1, &align);
  return finish(b, d, "tensor");
}

static Desc convolution(Build *b, const CudnnSpec *s) {
  Desc d = make(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const gint64 axes = 2, pad[] = {s->pad, s->pad}, stride[] = {s->stride, s->stride},
               dilation[] = {s->dilation, s->dilation};
  set_ints(b, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, &axes);
  set(b, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  set(b, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  set_ints(b, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, pad);
  set_ints(b, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, pad);
  set_ints(b, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, stride);
  set_ints(b, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, dilation);
  return finish(b, d, "convolution");
}

/* The attribute names of the three directions, in one table. */
static const struct {
  cudnnBackendDescriptorType_t op;
  cudnnBackendAttributeName_t alpha, beta, conv, x, w, y;
} names[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
};

static Desc operation_graph(Build *b, const CudnnSpec *s) {
  const float one = 1, zero = 0;
  Desc x = tensor(b, UID_X, s->type, s->x), w = tensor(b, UID_W, s->type, s->w),
       y = tensor(b, UID_Y, s->type, s->y);
  Desc conv = convolution(b, s), op = make(b, names[s->direction].op);
  set_desc(b, op, names[s->direction].conv, conv);
  set_desc(b, op, names[s->direction].x, x);
  set_desc(b, op, names[s->direction].w, w);
  set_desc(b, op, names[s->direction].y, y);
  set(b, op, names[s->direction].alpha, CUDNN_TYPE_FLOAT, 1, &one);
  set(b, op, names[s->direction].beta, CUDNN_TYPE_FLOAT, 1, &zero);
  finish(b, op, "convolution operation");
  Desc g = make(b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (b->target->handle)
    set(b, g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->target->handle);
  set(b, g, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
  return finish(b, g, "operation graph");
}

/* ---- engines ---- */

/* Whose sums have no fixed order is told by a note on the engine. */
static gboolean deterministic(const CudnnApi *api, Desc config) {
  Desc engine = NULL;
  cudnnBackendNumericalNote_t notes[MOST_NOTES];
  gint64 n = 0, n_notes = 0;
  gboolean fixed = FALSE;
  if (api->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) != CUDNN_STATUS_SUCCESS)
    return FALSE;
  if (api->cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n,
                                    &engine) == CUDNN_STATUS_SUCCESS &&
      api->cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                    MOST_NOTES, &n_notes, notes) == CUDNN_STATUS_SUCCESS) {
    fixed = TRUE;
    for (gint64 i = 0; i < MIN(n_notes, MOST_NOTES); i++)
      fixed &= notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
  }
  api->cudnnBackendDestroyDescriptor(engine);
  return fixed;
}

/* A finalized plan of @config with its work space, or NULL: the next one may do. */
static Desc plan_of(Build *b, Desc config, gint64 *workspace) {
  const CudnnApi *api = b->target->api;
  if (b->target->deterministic && !deterministic(api, config)) return NULL;
  Build one = {.target = b->target};
  gint64 n = 0;
  Desc plan = make(&one, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (b->target->handle)
    set(&one, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->target->handle);
  else
    set_desc(&one, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, b->target->device);
  set_desc(&one, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  finish(&one, plan, "plan");
  if (one.failed == CUDNN_STATUS_SUCCESS)
    note(&one,
         api->cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                       &n, workspace),
         "work space");
  if (one.failed == CUDNN_STATUS_SUCCESS && (gsize)*workspace <= b->target->most_workspace) return plan;
  clean(&one);
  return NULL;
}

/* The engine configurations that heuristics of @mode name, as descriptors of the build. */
static gint64 configs_of(Build *b, Desc graph, cudnnBackendHeurMode_t mode, Desc *configs) {
  gint64 n = 0;
  Desc heuristics = make(b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  set_desc(b, heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(b, heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (!b->target->handle) set_desc(b, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, b->target->device);
  finish(b, heuristics, "heuristics");
  for (int i = 0; i < MOST_CONFIGS; i++) configs[i] = make(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (b->failed == CUDNN_STATUS_SUCCESS)
    note(b,
         b->target->api->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_CONFIGS, &n, configs),
         "heuristics");
  return b->failed == CUDNN_STATUS_SUCCESS ? MIN(n, MOST_CONFIGS) : 0;
}

/* ---- timing ---- */

typedef struct {
  Desc plan;
  gint64 workspace;
} Candidate;

/* Milliseconds of one run, or -1. */
static float time_of(CudnnPlan *p, cudaEvent_t begin, cudaEvent_t end) {
  const CudnnTarget *t = &p->target;
  float ms = -1;
  if (!tm_cudnn_plan_run(p, NULL) || cudaEventRecord(begin, t->stream) != cudaSuccess) return -1;
  for (int i = 0; i < TIMED_RUNS; i++)
    if (!tm_cudnn_plan_run(p, NULL)) return -1;
  if (cudaEventRecord(end, t->stream) != cudaSuccess || cudaEventSynchronize(end) != cudaSuccess ||
      cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
    return -1;
  return ms / TIMED_RUNS;
}

static gsize rounded(gsize bytes) {
  return (bytes + 255) / 256 * 256;
}

/* The fastest of @n on zeros; the first when there is no memory to try them. */
static int fastest(const CudnnTarget *target, const CudnnSpec *spec, const Candidate *c, int n) {
  const gsize elem = tm_dtype_size(spec->type), x = rounded(tm_shape_count(spec->x) * elem),
              w = rounded(tm_shape_count(spec->w) * elem), y = rounded(tm_shape_count(spec->y) * elem);
  gsize workspace = 0;
  int best = 0;
  float least = -1;
  char *memory = NULL;
  cudaEvent_t begin = NULL, end = NULL;
  for (int i = 0; i < n; i++) workspace = MAX(workspace, (gsize)c[i].workspace);
  if (n > 1 && cudaMalloc((void **)&memory, x + w + y + MAX(workspace, 256)) == cudaSuccess &&
      cudaMemsetAsync(memory, 0, x + w + y, target->stream) == cudaSuccess &&
      cudaEventCreateWithFlags(&begin, cudaEventDefault) == cudaSuccess &&
      cudaEventCreateWithFlags(&end, cudaEventDefault) == cudaSuccess)
    for (int i = 0; i < n; i++) {
      CudnnPlan p = {.target = *target, .plan = c[i].plan};
      const float ms = tm_cudnn_plan_bind(&p, memory, memory + x, memory + x + w, memory + x + w + y, NULL)
                           ? time_of(&p, begin, end)
                           : -1;
      if (p.pack) target->api->cudnnBackendDestroyDescriptor(p.pack);
      if (ms < 0 || (least >= 0 && ms >= least)) continue;
      least = ms;
      best = i;
    }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  cudaFree(memory);
  cudaGetLastError(); /* what failed here only cost the measurement */
  return best;
}

/* ---- the plan ---- */

static CudnnPlan *choose(Build *b, const CudnnSpec *spec, Candidate *c, int n) {
  const int best = b->target->handle ? fastest(b->target, spec, c, n) : 0;
  CudnnPlan *p = g_new0(CudnnPlan, 1);
  *p = (CudnnPlan){
      .target = *b->target, .plan = c[best].plan, .workspace = c[best].workspace, .candidates = n};
  for (int i = 0; i < n; i++)
    if (i != best) b->target->api->cudnnBackendDestroyDescriptor(c[i].plan);
  return p;
}

CudnnPlan *tm_cudnn_plan_new(const CudnnTarget *target, const CudnnSpec *spec, GError **error) {
  static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
  Build b = {.target = target};
  Candidate found[MOST_TIMED];
  int n = 0;
  Desc graph = operation_graph(&b, spec);
  for (guint m = 0; m < G_N_ELEMENTS(modes) && n == 0; m++) {
    Build mine = {.target = target, .failed = b.failed, .what = b.what};
    Desc configs[MOST_CONFIGS] = {NULL};
    const gint64 all = configs_of(&mine, graph, modes[m], configs);
    for (gint64 i = 0; i < all && n < MOST_TIMED; i++)
      if ((found[n].plan = plan_of(&mine, configs[i], &found[n].workspace))) n++;
    note(&mine, CUDNN_STATUS_NOT_SUPPORTED, "no engine");
    if (n == 0 && m + 1 == G_N_ELEMENTS(modes)) give_up(&mine, error);
    clean(&mine);
  }
  CudnnPlan *p = n ? choose(&b, spec, found, n) : NULL;
  clean(&b);
  return p;
}

void tm_cudnn_plan_free(CudnnPlan *p) {
  if (!p) return;
  if (p->pack) p->target.api->cudnnBackendDestroyDescriptor(p->pack);
  p->target.api->cudnnBackendDestroyDescriptor(p->plan);
  g_free(p);
}

gsize tm_cudnn_plan_workspace(const CudnnPlan *p) {
  return (gsize)p->workspace;
}
int tm_cudnn_plan_candidates(const CudnnPlan *p) {
  return p->candidates;
}

gboolean tm_cudnn_plan_bind(CudnnPlan *p, void *x, void *w, void *y, void *workspace, GError **error) {
  Build b = {.target = &p->target};
  const gint64 ids[] = {UID_X, UID_W, UID_Y};
  void *const data[] = {x, w, y};
  Desc pack = make(&b, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set_ints(&b, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 3, ids);
  set(&b, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data);
  set(&b, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  finish(&b, pack, "operands");
  if (b.failed == CUDNN_STATUS_SUCCESS) {
    p->pack = pack;
    return TRUE;
  }
  clean(&b);
  return give_up(&b, error);
}

gboolean tm_cudnn_plan_run(CudnnPlan *p, GError **error) {
  const cudnnStatus_t s = p->target.api->cudnnBackendExecute(p->target.handle, p->plan, p->pack);
  if (s == CUDNN_STATUS_SUCCESS) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("cuDNN failed while computing a convolution: %s."),
              p->target.api->cudnnGetErrorString(s));
  return FALSE;
}
