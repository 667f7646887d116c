#include "engine/train/recompute.h"

#include <glib/gi18n.h>
#include <math.h>

#include "engine/core/free_memory.h"
#include "engine/train/layers.h"

/* What a layer costs to make again and what dropping it may save. Its convolution's result, and all that
 * follows from it (normalised, rectified, pooled, joined), are chosen for themselves: the second costs next
 * to nothing while the first is kept. */
typedef struct {
  guint layer;
  gboolean convolution;
  double seconds;
  gsize bytes;
} Choice;

typedef struct {
  const TmTrainShape *shape;
  TmBackend *backend;
  TmRates *rates;
  GArray *choices; /* Choice, the best bargain first */
  TmRecompute drop;
  gsize engine;        /* bytes `prepare` takes */
  gsize least;         /* the smallest need seen */
  gsize limit, beside; /* of the whole run; what it needs but for the step */
} Search;

static void search_clear(Search *s) {
  if (s->choices) g_array_unref(s->choices);
  g_free(s->drop.convolution);
  g_free(s->drop.rest);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static TmProgram *plan_of(const Search *s, const TmTrainGraph *t, GError **error) {
  const TmProgramOptions options = tm_train_graph_options(t, s->shape->precision);
  return tm_program_plan(s->backend, t->graph, &options, error);
}

static gboolean build(const Search *s, TmTrainGraph *t, GError **error) {
  const TmTrainShape *x = s->shape;
  return tm_train_graph_build(t, x->settings, x->classes, x->batch, x->w, x->h, &s->drop, error);
}

gsize tm_guests_beside(const gsize guests[TM_GUESTS], gsize arena) {
  gsize bytes = 0;
  for (guint i = 0; i < TM_GUESTS; i++)
    if (guests[i] > arena) bytes += guests[i];
  return bytes;
}

/* The step's arena, and those that do not fit into it. */
static gsize arenas(const Search *s, gsize arena) {
  return arena + tm_guests_beside(s->shape->guests, arena);
}

/* Bytes a step needs as things are dropped now. */
static gboolean need_of(Search *s, gsize *bytes, GError **error) {
  g_auto(TmTrainGraph) t = {0};
  g_autoptr(TmProgram) plan = build(s, &t, error) ? plan_of(s, &t, error) : NULL;
  if (!plan) return FALSE;
  *bytes = arenas(s, plan->arena_bytes) + s->engine;
  s->least = MIN(s->least, *bytes);
  return TRUE;
}

static gboolean *dropped(Search *s, const Choice *c) {
  return &(c->convolution ? s->drop.convolution : s->drop.rest)[c->layer];
}

/* ---- what there is to choose from ---- */

static int by_bargain(gconstpointer a, gconstpointer b) {
  const Choice *x = a, *y = b;
  const double p = x->seconds / (double)x->bytes, q = y->seconds / (double)y->bytes;
  return p != q ? (p > q) - (p < q) : (x->layer > y->layer) - (x->layer < y->layer);
}

static gboolean add_seconds(Search *s, const TmTrainGraph *t, const TmLayers *l, const gboolean *gone,
                            const TmProgram *plan, Choice *all, GError **error) {
  for (guint i = 0; i < plan->n_steps; i++) {
    const TmNode *n = plan->steps[i].node;
    double seconds;
    if (n->id >= t->n_forward) break;
    if (gone[n->id]) continue;
    if (!tm_rates_step(s->rates, plan, i, &seconds, error)) return FALSE;
    all[2 * l->of[n->id] + (n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE)].seconds += seconds;
  }
  return TRUE;
}

static gboolean list_choices(Search *s, const TmTrainGraph *t, const TmProgram *plan, GError **error) {
  g_autoptr(TmLayers) l = tm_layers_new(t);
  g_autofree Choice *all = g_new0(Choice, 2 * l->n);
  g_autofree gboolean *gone = tm_train_graph_dropped(t);
  for (guint i = 0; i < 2 * l->n; i++) all[i] = (Choice){.layer = i / 2, .convolution = i % 2};
  if (!add_seconds(s, t, l, gone, plan, all, error)) return FALSE;
  for (guint id = 0; id < t->n_forward; id++) {
    const TmNode *n = tm_graph_node(t->graph, id);
    if (n->kind != TM_KIND_ACT || n->n_in == 0 || gone[id] || l->of[id] + 2 >= l->n) continue;
    all[2 * l->of[id] + (n->op == TM_OP_CONV || n->op == TM_OP_CONV_TRANSPOSE)].bytes +=
        tm_shape_count(n->shape) * tm_dtype_size(plan->precision);
  }
  s->drop = (TmRecompute){.n = l->n, .convolution = g_new0(gboolean, l->n), .rest = g_new0(gboolean, l->n)};
  for (guint i = 0; i < 2 * l->n; i++)
    if (all[i].bytes) g_array_append_val(s->choices, all[i]);
  g_array_sort(s->choices, by_bargain);
  return TRUE;
}

/* ---- the search ---- */

static gboolean drop_until_it_fits(Search *s, gsize room, gsize *need, GError **error) {
  for (guint i = 0; i < s->choices->len; i++) {
    const Choice *c = &g_array_index(s->choices, Choice, i);
    const gboolean more_of_the_same = !c->convolution && i + 1 < s->choices->len;
    *dropped(s, c) = TRUE;
    if (more_of_the_same && !g_array_index(s->choices, Choice, i + 1).convolution)
      continue; /* cheap ones together */
    if (!need_of(s, need, error)) return FALSE;
    if (*need <= room) return TRUE;
  }
  return TRUE;
}

/* Keeps again what need not have been dropped, the dearest first. */
static gboolean keep_what_fits(Search *s, gsize room, GError **error) {
  for (guint i = s->choices->len; i-- > 0;) {
    const Choice *c = &g_array_index(s->choices, Choice, i);
    gsize need;
    if (!*dropped(s, c)) continue;
    *dropped(s, c) = FALSE;
    if (!need_of(s, &need, error)) return FALSE;
    if (need > room) *dropped(s, c) = TRUE;
  }
  return TRUE;
}

static gboolean no_room(const Search *s, GError **error) {
  g_set_error(
      error, TM_ERROR, TM_ERROR_NO_MEMORY,
      _("The run does not fit into the memory limit of %.0f MB, whatever is recomputed: it needs at least "
        "%.0f MB. Raise memory_limit, or use a smaller batch (or accumulate more), crop or base width."),
      (double)s->limit * 1e-6, ceil((double)(s->least + s->beside) * 1e-6));
  return FALSE;
}

static gboolean search(Search *s, GError **error) {
  const gsize room = s->limit > s->beside ? s->limit - s->beside : 0;
  gsize need = 0;
  if (!drop_until_it_fits(s, room, &need, error)) return FALSE;
  if (need > room) return no_room(s, error);
  return keep_what_fits(s, room, error);
}

static gboolean needs_of(Search *s, const TmTrainGraph *t, gsize *arena, GError **error) {
  g_autoptr(TmProgram) plan = plan_of(s, t, error);
  if (!plan || !tm_backend_needs(s->backend, plan, &s->engine, error)) return FALSE;
  *arena = arenas(s, plan->arena_bytes);
  return TRUE;
}

gboolean tm_recompute_fit(TmTrainGraph *t, const TmTrainShape *shape, TmBackend *backend, TmRates *rates,
                          gsize limit, gsize beside, GError **error) {
  g_auto(Search) s = {.shape = shape,
                      .backend = backend,
                      .rates = rates,
                      .limit = limit,
                      .beside = beside,
                      .choices = g_array_new(FALSE, FALSE, sizeof(Choice))};
  gsize arena;
  if (!build(&s, t, error) || !needs_of(&s, t, &arena, error)) return FALSE;
  if (arena + s.engine + beside <= limit) return TRUE;
  s.least = arena + s.engine;
  g_autoptr(TmProgram) plan = plan_of(&s, t, error);
  if (!plan || !list_choices(&s, t, plan, error)) return FALSE;
  tm_give_back_memory(); /* what measuring took */
  /* What is made again may need packed weights of its own, known only for a whole plan. */
  for (int round = 0; round < 3; round++) {
    if (!search(&s, error)) return FALSE;
    tm_train_graph_clear(t);
    if (!build(&s, t, error) || !needs_of(&s, t, &arena, error)) return FALSE;
    if (arena + s.engine + beside <= limit) return TRUE;
  }
  s.least = MAX(s.least, arena + s.engine);
  return no_room(&s, error);
}
