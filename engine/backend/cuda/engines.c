#include "engine/backend/cuda/engines.h"

#include <string.h>

enum { MOST_CONFIGS = 16, MOST_NOTES = 16, MOST_KNOBS = 24 };

/* How many of each heuristic's configurations are taken. */
static const struct {
  cudnnBackendHeurMode_t mode;
  int most;
} sources[] = {{CUDNN_HEUR_MODE_A, 6}, {CUDNN_HEUR_MODE_B, 4}, {CUDNN_HEUR_MODE_FALLBACK, 2}};

/* ---- what an engine may do ---- */

static gboolean may_be(const CudnnTarget *t, TmDType type, cudnnBackendNumericalNote_t note) {
  switch (note) {
  case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    return !t->deterministic;
  case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: /* which have no f32: its operands are rounded to tf32 */
  case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    return type != TM_F32 || t->tf32;
  case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION: /* sums in 16 bits */
    return FALSE;
  default:
    return TRUE;
  }
}

static gboolean allowed(CudnnDescs *d, const CudnnTarget *t, TmDType type, CudnnDesc engine) {
  cudnnBackendNumericalNote_t notes[MOST_NOTES];
  const gint64 n =
      tm_cudnn_get(d, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, notes);
  gboolean fine = tm_cudnn_descs_ok(d);
  for (gint64 i = 0; i < n; i++) fine = fine && may_be(t, type, notes[i]);
  return fine;
}

/* ---- names ---- */

/* FALSE: not all of it could be read, or it is too long. */
static gboolean name_of(CudnnDescs *d, CudnnDesc config, CudnnDesc engine, char *name) {
  CudnnDesc knobs[MOST_KNOBS];
  gint64 index = 0;
  tm_cudnn_get(d, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
  for (int i = 0; i < MOST_KNOBS; i++) knobs[i] = tm_cudnn_make(d, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
  const gint64 n = tm_cudnn_get(d, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                MOST_KNOBS, knobs);
  gsize at = (gsize)g_snprintf(name, CUDNN_NAME, "%" G_GINT64_FORMAT, index);
  for (gint64 i = 0; i < n && at < CUDNN_NAME; i++) {
    cudnnBackendKnobType_t knob = 0;
    gint64 value = 0;
    tm_cudnn_get(d, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob);
    tm_cudnn_get(d, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
    at += (gsize)g_snprintf(name + at, (gulong)(CUDNN_NAME - at), " %d:%" G_GINT64_FORMAT, (int)knob, value);
  }
  return tm_cudnn_descs_ok(d) && at < CUDNN_NAME;
}

/* The configuration of @name, finished. */
static CudnnDesc config_named(CudnnDescs *d, const CudnnTarget *t, CudnnDesc graph, const char *name,
                              CudnnDesc *engine) {
  CudnnDesc knobs[MOST_KNOBS];
  int n = 0;
  char *at;
  const gint64 index = g_ascii_strtoll(name, &at, 10);
  *engine = tm_cudnn_make(d, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  tm_cudnn_set_desc(d, *engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  tm_cudnn_set_ints(d, *engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1, &index);
  if (!t->handle) tm_cudnn_set_desc(d, *engine, CUDNN_ATTR_ENGINE_DEVICEPROP, t->device);
  tm_cudnn_finish(d, *engine, "engine");
  for (; *at == ' ' && n < MOST_KNOBS && tm_cudnn_descs_ok(d); n++) {
    const cudnnBackendKnobType_t knob = (cudnnBackendKnobType_t)g_ascii_strtoll(at, &at, 10);
    const gint64 value = *at == ':' ? g_ascii_strtoll(at + 1, &at, 10) : -1;
    knobs[n] = tm_cudnn_make(d, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    tm_cudnn_set(d, knobs[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob);
    tm_cudnn_set_ints(d, knobs[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 1, &value);
    tm_cudnn_finish(d, knobs[n], "knob");
  }
  if (at == name || *at) tm_cudnn_note(d, CUDNN_STATUS_BAD_PARAM, "engine name");
  CudnnDesc config = tm_cudnn_make(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  tm_cudnn_set_desc(d, config, CUDNN_ATTR_ENGINECFG_ENGINE, *engine);
  if (n) tm_cudnn_set(d, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, knobs);
  return tm_cudnn_finish(d, config, "engine configuration");
}

/* ---- plans ---- */

/* Finishes a plan of @config; FALSE when it does not fit: the next one may do. */
static gboolean plan_of(CudnnDescs *d, const CudnnTarget *t, CudnnDesc config, CudnnEngine *out) {
  CudnnDesc plan = tm_cudnn_make(d, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (t->handle)
    tm_cudnn_set(d, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &t->handle);
  else
    tm_cudnn_set_desc(d, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, t->device);
  tm_cudnn_set_desc(d, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  tm_cudnn_finish(d, plan, "plan");
  out->workspace = 0;
  tm_cudnn_get(d, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &out->workspace);
  if (!tm_cudnn_descs_ok(d) || out->workspace < 0 || (gsize)out->workspace > t->most_workspace) return FALSE;
  out->plan = tm_cudnn_keep(d, plan);
  return TRUE;
}

/* Looks at one of the heuristics' configurations. */
static gboolean look_at(const CudnnTarget *t, TmDType type, CudnnDesc config, const CudnnEngine *found, int n,
                        CudnnEngine *out) {
  CudnnDescs mine = {.api = t->api};
  CudnnDesc engine = tm_cudnn_make(&mine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  tm_cudnn_get(&mine, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
  gboolean fine = allowed(&mine, t, type, engine) && name_of(&mine, config, engine, out->name);
  for (int i = 0; i < n && fine; i++) fine = strcmp(found[i].name, out->name) != 0;
  fine = fine && plan_of(&mine, t, config, out);
  tm_cudnn_clean(&mine);
  return fine;
}

/* The engine configurations that heuristics of @mode name, as descriptors of @d. */
static gint64 configs_of(CudnnDescs *d, const CudnnTarget *t, CudnnDesc graph, cudnnBackendHeurMode_t mode,
                         CudnnDesc *configs) {
  CudnnDesc heuristics = tm_cudnn_make(d, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  tm_cudnn_set_desc(d, heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  tm_cudnn_set(d, heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (!t->handle) tm_cudnn_set_desc(d, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, t->device);
  tm_cudnn_finish(d, heuristics, "heuristics");
  for (int i = 0; i < MOST_CONFIGS; i++) configs[i] = tm_cudnn_make(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  return tm_cudnn_get(d, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      MOST_CONFIGS, configs);
}

int tm_cudnn_engines(CudnnDescs *d, const CudnnTarget *t, CudnnDesc graph, TmDType type, CudnnEngine *found,
                     int most) {
  int n = 0;
  cudnnStatus_t failed = CUDNN_STATUS_NOT_SUPPORTED;
  const char *what = "no engine";
  for (guint m = 0; m < G_N_ELEMENTS(sources) && tm_cudnn_descs_ok(d); m++) {
    CudnnDescs mine = {.api = t->api};
    CudnnDesc configs[MOST_CONFIGS] = {NULL};
    const gint64 all = configs_of(&mine, t, graph, sources[m].mode, configs);
    int taken = 0;
    for (gint64 i = 0; i < all && n < most && taken < sources[m].most; i++)
      if (look_at(t, type, configs[i], found, n, &found[n])) n++, taken++;
    if (!tm_cudnn_descs_ok(&mine)) failed = mine.failed, what = mine.what;
    tm_cudnn_clean(&mine);
  }
  if (n == 0) tm_cudnn_note(d, failed, what);
  return n;
}

gboolean tm_cudnn_engine_named(const CudnnTarget *t, CudnnDesc graph, TmDType type, const char *name,
                               CudnnEngine *out) {
  CudnnDescs mine = {.api = t->api};
  CudnnDesc engine, config = config_named(&mine, t, graph, name, &engine);
  const gboolean fine = g_strlcpy(out->name, name, CUDNN_NAME) < CUDNN_NAME &&
                        allowed(&mine, t, type, engine) && plan_of(&mine, t, config, out);
  tm_cudnn_clean(&mine);
  return fine;
}
