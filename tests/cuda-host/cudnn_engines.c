/* Which engines the stand-in for cuDNN has, and what its heuristics say: like the real ones, the fast ones
 * are not for every caller. */
#include <stdlib.h>
#include <string.h>
#include "fake_cudnn.h"

enum { KNOB = 2, MOST_NOTES = 2, KNOB_VALUES = 6 }; /* KNOB: the tile's size */

static const struct engine {
  int index, notes[MOST_NOTES], n_notes;
  int64_t workspace;
  bool knob, sums; /* sums: takes graphs with sums, and no others */
} engines[] = {
    {20, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 2, 0, false, false},
    {62, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, 0}, 1, 1024, true, false},
    {25, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, 0}, 1, 0, false, false},
    {1, {0, 0}, 0, (int64_t)1 << 33, false, false},
    {0, {9, 0}, 1, 0, false, false},
    {2, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, 0}, 1, 1024, true, true},
};
enum { N_ENGINES = sizeof engines / sizeof *engines };

/* An engine and its knob's value, in the order of the heuristics. */
struct guess {
  int index;
  int64_t value;
};
static const struct guess by_a[] = {{20, 0}, {62, 4}, {62, 1}}, by_b[] = {{62, 1}, {62, 5}},
                          by_fallback[] = {{1, 0}, {25, 0}, {0, 0}}, of_sums[] = {{2, 4}, {2, 2}};

static const struct engine *engine(int64_t index) {
  for (int i = 0; i < N_ENGINES; i++)
    if (engines[i].index == index) return &engines[i];
  return NULL;
}
static bool has_sums(const struct fake *graph) {
  const struct attr *ops = fake_get(graph, A(OPERATIONGRAPH_OPS));
  return ((struct fake **)ops->v)[ops->n - 1]->type == T(OPERATION_GEN_STATS);
}
bool fake_engine_exists(const struct fake *graph, int64_t index) {
  const struct engine *e = engine(index);
  return e && e->sums == has_sums(graph);
}
bool fake_knob_exists(int64_t index, int knob, int64_t value) {
  return engine(index)->knob && knob == KNOB && value >= 0 && value < KNOB_VALUES;
}
int fake_notes(int64_t index, int *notes, int most) {
  const struct engine *e = engine(index);
  int n = e->n_notes < most ? e->n_notes : most;
  memcpy(notes, e->notes, (size_t)n * sizeof *notes);
  return n;
}
int64_t fake_workspace(int64_t index) {
  return engine(index)->workspace;
}
bool fake_rounds_to_tf32(int64_t index) {
  const struct engine *e = engine(index);
  for (int i = 0; i < e->n_notes; i++)
    if (e->notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE) return true;
  return false;
}

static struct fake *make(cudnnBackendDescriptorType_t type) {
  struct fake *f = calloc(1, sizeof *f);
  if (!f) abort();
  *f = (struct fake){.type = type, .done = true, .refs = 1};
  return f;
}
/* Takes the reference of a descriptor. */
static void put(struct fake *f, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                size_t size, const void *value) {
  struct attr *a = &f->a[f->n++];
  *a = (struct attr){name, type, 1, malloc(size)};
  if (!a->v) abort();
  memcpy(a->v, value, size);
}

int fake_heuristics(struct fake *graph, cudnnBackendHeurMode_t mode, struct fake **configs, int most) {
  const struct guess *g = mode == CUDNN_HEUR_MODE_A ? by_a : mode == CUDNN_HEUR_MODE_B ? by_b : by_fallback;
  int n = mode == CUDNN_HEUR_MODE_B ? 2 : 3;
  if (has_sums(graph)) {
    g = of_sums;
    n = mode == CUDNN_HEUR_MODE_FALLBACK ? 0 : 2;
  }
  if (n > most) n = most;
  for (int i = 0; i < n; i++) {
    const int64_t index = g[i].index;
    struct fake *e = make(T(ENGINE));
    graph->refs++;
    put(e, A(ENGINE_OPERATION_GRAPH), CUDNN_TYPE_BACKEND_DESCRIPTOR, sizeof graph, &graph);
    put(e, A(ENGINE_GLOBAL_INDEX), CUDNN_TYPE_INT64, sizeof index, &index);
    put(configs[i], A(ENGINECFG_ENGINE), CUDNN_TYPE_BACKEND_DESCRIPTOR, sizeof e, &e);
    configs[i]->done = true;
    if (!engine(index)->knob) continue;
    struct fake *k = make(T(KNOB_CHOICE));
    const int knob = KNOB;
    put(k, A(KNOB_CHOICE_KNOB_TYPE), CUDNN_TYPE_KNOB_TYPE, sizeof knob, &knob);
    put(k, A(KNOB_CHOICE_KNOB_VALUE), CUDNN_TYPE_INT64, sizeof g[i].value, &g[i].value);
    put(configs[i], A(ENGINECFG_KNOB_CHOICES), CUDNN_TYPE_BACKEND_DESCRIPTOR, sizeof k, &k);
  }
  return n;
}
