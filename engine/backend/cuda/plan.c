#include "engine/backend/cuda/plan.h"

#include "engine/backend/cuda/timing.h"

#include <cuda_runtime_api.h>
#include <glib/gi18n.h>
#include <string.h>

enum { MOST_TIMED = 12, MOST_UNTIMED = 4 };

struct _CudnnPlan {
  CudnnTarget target;
  CudnnEpilogue epilogue;
  CudnnEngine engine;
  CudnnDesc pack;
  int candidates;
  float ms; /* of a run, negative: unknown */
};

/* ---- timing ---- */

static gboolean run_plan(gpointer plan) {
  return tm_cudnn_plan_run(plan, NULL);
}

static gsize rounded(gsize bytes) {
  return (bytes + 255) / 256 * 256;
}

/* Operands in one piece of memory, of zeros, for the most work space of @n engines; NULL: there is none. */
static char *operands(const CudnnTarget *target, const CudnnSpec *s, const CudnnEngine *e, int n,
                      CudnnOperands *o) {
  const gsize elem = tm_dtype_size(s->type), x = rounded(tm_shape_count(s->x) * elem),
              w = rounded(tm_shape_count(s->w) * elem), y = rounded(tm_shape_count(s->y) * elem),
              vector = rounded((gsize)s->y.c * sizeof(float)), all = x + w + y + 3 * vector;
  gsize workspace = 256;
  char *p = NULL;
  for (int i = 0; i < n; i++) workspace = MAX(workspace, (gsize)e[i].workspace);
  if (cudaMalloc((void **)&p, all + workspace) != cudaSuccess ||
      cudaMemsetAsync(p, 0, all, target->stream) != cudaSuccess) {
    cudaFree(p);
    return NULL;
  }
  char *vectors = p + x + w + y;
  *o = (CudnnOperands){.x = p,
                       .w = p + x,
                       .y = p + x + w,
                       .b = vectors,
                       .sum = vectors + vector,
                       .squares = vectors + 2 * vector,
                       .workspace = p + all};
  return p;
}

/* The fastest of @n; the first, untimed, when there is no memory to try them. */
static int fastest(const CudnnTarget *target, const CudnnSpec *spec, const CudnnEngine *e, int n, float *ms) {
  int best = 0;
  CudnnOperands o;
  char *memory = operands(target, spec, e, n, &o);
  *ms = -1;
  for (int i = 0; i < n && memory; i++) {
    CudnnPlan p = {.target = *target, .epilogue = spec->epilogue, .engine = e[i]};
    const float t = tm_cudnn_plan_bind(&p, &o, NULL) ? tm_cuda_time(target->stream, run_plan, &p) : -1;
    if (p.pack) target->api->cudnnBackendDestroyDescriptor(p.pack);
    if (t < 0 || (*ms >= 0 && t >= *ms)) continue;
    *ms = t;
    best = i;
  }
  cudaFree(memory);
  cudaGetLastError(); /* what failed here only cost the measurement */
  return best;
}

/* ---- remembering ---- */

/* All that the choice depends on beside the machine. Free with g_free(). */
static char *key_of(const CudnnTarget *t, const CudnnSpec *s) {
  g_autofree char *text = tm_cudnn_spec_text(s);
  return g_strdup_printf("%s%s%s, work space %" G_GSIZE_FORMAT, text, t->deterministic ? " in order" : "",
                         t->tf32 ? " tf32" : "", t->most_workspace);
}

/* What is remembered is "milliseconds engine"; FALSE: nothing, or nothing that works here. */
static gboolean known(const CudnnTarget *t, const CudnnSpec *s, CudnnDesc graph, CudnnPlan *p) {
  if (!t->cache) return FALSE;
  g_autofree char *key = key_of(t, s), *value = tm_machine_cache_get(t->cache, key);
  char *name = value ? strchr(value, ' ') : NULL;
  if (!name || !tm_cudnn_engine_named(t, graph, s->type, name + 1, &p->engine)) return FALSE;
  p->candidates = 1;
  p->ms = (float)g_ascii_strtod(value, NULL);
  return TRUE;
}

static void remember(const CudnnTarget *t, const CudnnSpec *s, const CudnnPlan *p) {
  if (!t->cache || p->ms < 0) return;
  char ms[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(ms, sizeof ms, "%.6g", (double)p->ms);
  g_autofree char *key = key_of(t, s), *value = g_strconcat(ms, " ", p->engine.name, NULL);
  tm_machine_cache_set(t->cache, key, value);
}

/* ---- the plan ---- */

static gboolean choose(CudnnDescs *d, const CudnnSpec *spec, CudnnDesc graph, CudnnPlan *p) {
  CudnnEngine found[MOST_TIMED];
  const int n =
      tm_cudnn_engines(d, &p->target, graph, spec->type, found, p->target.handle ? MOST_TIMED : MOST_UNTIMED);
  if (n == 0) return FALSE;
  const int best = p->target.handle ? fastest(&p->target, spec, found, n, &p->ms) : 0;
  p->engine = found[best];
  p->candidates = n;
  for (int i = 0; i < n; i++)
    if (i != best) d->api->cudnnBackendDestroyDescriptor(found[i].plan);
  remember(&p->target, spec, p);
  return TRUE;
}

CudnnPlan *tm_cudnn_plan_new(const CudnnTarget *target, const CudnnSpec *spec, GError **error) {
  CudnnDescs d = {.api = target->api};
  CudnnPlan *p = g_new0(CudnnPlan, 1);
  p->target = *target;
  p->epilogue = spec->epilogue;
  p->ms = -1;
  CudnnDesc graph = tm_cudnn_graph(&d, spec, target->handle);
  const gboolean made =
      tm_cudnn_descs_ok(&d) && (known(target, spec, graph, p) || choose(&d, spec, graph, p));
  if (!made) {
    tm_cudnn_give_up(&d, error);
    g_clear_pointer(&p, tm_cudnn_plan_free);
  }
  tm_cudnn_clean(&d);
  return p;
}

void tm_cudnn_plan_free(CudnnPlan *p) {
  if (!p) return;
  if (p->pack) p->target.api->cudnnBackendDestroyDescriptor(p->pack);
  if (p->engine.plan) p->target.api->cudnnBackendDestroyDescriptor(p->engine.plan);
  g_free(p);
}

gsize tm_cudnn_plan_workspace(const CudnnPlan *p) {
  return (gsize)p->engine.workspace;
}
int tm_cudnn_plan_candidates(const CudnnPlan *p) {
  return p->candidates;
}
const char *tm_cudnn_plan_engine(const CudnnPlan *p) {
  return p->engine.name;
}
float tm_cudnn_plan_time(const CudnnPlan *p) {
  return p->ms;
}

gboolean tm_cudnn_plan_bind(CudnnPlan *p, const CudnnOperands *o, GError **error) {
  CudnnDescs d = {.api = p->target.api};
  gint64 n = 3, ids[] = {CUDNN_UID_X, CUDNN_UID_W, CUDNN_UID_Y, 0, 0};
  void *data[] = {o->x, o->w, o->y, NULL, NULL};
  if (p->epilogue == CUDNN_BIASED || p->epilogue == CUDNN_BIASED_RELU) {
    ids[n] = CUDNN_UID_B;
    data[n++] = o->b;
  }
  if (p->epilogue == CUDNN_SUMS) {
    ids[n] = CUDNN_UID_SUM;
    data[n++] = o->sum;
    ids[n] = CUDNN_UID_SQUARES;
    data[n++] = o->squares;
  }
  CudnnDesc pack = tm_cudnn_make(&d, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  tm_cudnn_set_ints(&d, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, n, ids);
  tm_cudnn_set(&d, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, data);
  tm_cudnn_set(&d, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &o->workspace);
  tm_cudnn_finish(&d, pack, "operands");
  const gboolean fine = tm_cudnn_descs_ok(&d);
  if (fine)
    p->pack = tm_cudnn_keep(&d, pack);
  else
    tm_cudnn_give_up(&d, error);
  tm_cudnn_clean(&d);
  return fine;
}

gboolean tm_cudnn_plan_run(CudnnPlan *p, GError **error) {
  const cudnnStatus_t s = p->target.api->cudnnBackendExecute(p->target.handle, p->engine.plan, p->pack);
  if (s == CUDNN_STATUS_SUCCESS) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("cuDNN failed while computing a convolution: %s."),
              p->target.api->cudnnGetErrorString(s));
  return FALSE;
}
