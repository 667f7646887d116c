#include "app/evaluator.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "app/run_source.h"
#include "engine/core/label.h"
#include "engine/data/resample.h"
#include "engine/predict/evaluate.h"
#include "ui/main_call.h"

/* What both threads touch; it outlives the evaluator until the thread ends. */
typedef struct {
  gatomicrefcount refs;
  GWeakRef evaluator;
  GAsyncQueue *tasks; /* Task */
  int stop, pending;  /* atomic */
  GMutex mutex;       /* guards what follows */
  guint done, total;
  TmConfusion *so_far;
} Link;

typedef enum { TASK_EVALUATE, TASK_LOOK, TASK_QUIT } Kind;

/* Filled by the main thread, then by the worker, then read by the main thread. */
typedef struct {
  Kind kind;
  Link *link;
  char *network;
  TmDataset *dataset;
  gboolean has_match;
  guint8 match[256];
  GError *error;
  /* evaluate */
  TmSplit split;
  TmEvaluation *result;
  TmClassTable *net_classes; /* when they differ from the data's */
  /* look */
  guint look, entry;
  int max_side;
  int cancelled; /* atomic */
  TmScene *scene;
} Task;

typedef struct {
  Task *task; /* not owned: the queue or the main loop has it until the look is removed */
  TmLookReady ready;
  gpointer user;
} Look;

struct _TmEvaluator {
  GObject parent;
  Link *link;
  GHashTable *looks; /* number to Look */
  guint last_look;
  gboolean busy;
  char *network;
  TmEvaluation *result;
  GError *error;
  TmClassTable *net_classes;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmEvaluator, tm_evaluator, G_TYPE_OBJECT)

static Link *link_ref(Link *l) {
  g_atomic_ref_count_inc(&l->refs);
  return l;
}

static void link_unref(gpointer data) {
  Link *l = data;
  if (!g_atomic_ref_count_dec(&l->refs)) return;
  g_weak_ref_clear(&l->evaluator);
  g_async_queue_unref(l->tasks);
  g_clear_pointer(&l->so_far, tm_confusion_free);
  g_mutex_clear(&l->mutex);
  g_free(l);
}

static void task_free(gpointer data) {
  Task *t = data;
  g_clear_pointer(&t->link, link_unref);
  g_free(t->network);
  g_clear_pointer(&t->dataset, tm_dataset_unref);
  g_clear_error(&t->error);
  g_clear_pointer(&t->result, tm_evaluation_free);
  g_clear_pointer(&t->net_classes, tm_class_table_free);
  g_clear_pointer(&t->scene, tm_scene_unref);
  g_free(t);
}

/* ---- the worker ---- */

static gboolean on_progress(gpointer data) {
  Link *l = data;
  g_atomic_int_set(&l->pending, 0);
  g_autoptr(TmEvaluator) e = g_weak_ref_get(&l->evaluator);
  if (e) g_signal_emit(e, signals[CHANGED], 0);
  return G_SOURCE_REMOVE;
}

static gboolean progress(const TmEvaluation *so_far, guint done, guint total, gpointer user) {
  Link *l = user;
  const guint n = so_far->confusion->n;
  g_mutex_lock(&l->mutex);
  l->done = done;
  l->total = total;
  if (!l->so_far || l->so_far->n != n) {
    g_clear_pointer(&l->so_far, tm_confusion_free);
    l->so_far = tm_confusion_new(n);
  }
  memcpy(l->so_far->pixels, so_far->confusion->pixels, (gsize)n * n * sizeof(guint64));
  g_mutex_unlock(&l->mutex);
  if (g_atomic_int_compare_and_exchange(&l->pending, 0, 1))
    tm_main_call(NULL, G_PRIORITY_DEFAULT_IDLE, on_progress, link_ref(l), link_unref);
  return !g_atomic_int_get(&l->stop);
}

/* The network that is open, so that looking at pictures does not open it each time. */
typedef struct {
  TmPredictor *p;
  char *network;
} Open;

static TmPredictor *open_network(Open *o, const char *network, gboolean afresh, GError **error) {
  if (o->p && !afresh && g_str_equal(o->network, network)) return o->p;
  g_clear_pointer(&o->p, tm_predictor_free);
  g_clear_pointer(&o->network, g_free);
  o->p = tm_predictor_open(network, "auto", NULL, error);
  o->network = g_strdup(network);
  return o->p;
}

/* Scores are kept where the network is a run's; that they cannot be is no reason not to show them. */
static void keep(const Task *t) {
  g_autofree char *folder = tm_run_source_folder(t->network), *info = g_build_filename(folder, "run.json", NULL);
  g_autoptr(GError) why = NULL;
  if (g_file_test(info, G_FILE_TEST_EXISTS) && !tm_evaluation_write(t->result, folder, &why))
    g_message("%s", why->message);
}

static void evaluate(Task *t, Open *o) {
  TmPredictor *p = open_network(o, t->network, TRUE, &t->error);
  if (!p) return;
  const TmEvaluateOptions options = {.split = t->split, .match = t->has_match ? t->match : NULL};
  if (!t->has_match && !tm_predictor_same_classes(tm_predictor_classes(p), tm_dataset_classes(t->dataset), NULL))
    t->net_classes = tm_class_table_copy(tm_predictor_classes(p));
  t->result = tm_evaluate(p, t->dataset, &options, progress, t->link, &t->error);
  if (t->result) keep(t);
}

static gboolean shrink(TmSample *s, guint8 **labels, int most) {
  const double f = most ? MIN(1.0, (double)most / MAX(s->w, s->h)) : 1;
  const int w = MAX(1, (int)lround(s->w * f)), h = MAX(1, (int)lround(s->h * f));
  if (f >= 1.0) return TRUE;
  const TmWindow window = {.sw = w, .sh = h, .w = w, .h = h};
  TmSample as_truth = *s, as_labels = *s;
  as_labels.labels = *labels;
  g_auto(TmSample) small = {.w = w, .h = h};
  small.rgb = g_malloc((gsize)w * (gsize)h * 3);
  small.labels = g_malloc((gsize)w * (gsize)h);
  g_autofree guint8 *called = g_malloc((gsize)w * (gsize)h);
  if (!tm_resample_rgb(&as_truth, &window, (const guint8[3]){0}, small.rgb) ||
      !tm_resample_labels(&as_truth, &window, small.labels) || !tm_resample_labels(&as_labels, &window, called))
    return FALSE;
  tm_sample_clear(s);
  *s = small;
  small = (TmSample){0};
  g_free(*labels);
  *labels = g_steal_pointer(&called);
  return TRUE;
}

static void look(Task *t, Open *o) {
  TmPredictor *p = open_network(o, t->network, FALSE, &t->error);
  g_auto(TmSample) s = {0};
  if (!p || !tm_dataset_read(t->dataset, t->entry, &s, &t->error)) return;
  const gsize pixels = (gsize)s.w * (gsize)s.h;
  g_autofree guint8 *labels = g_try_malloc(pixels);
  if (!labels) {
    g_set_error(&t->error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d pixels."), s.w, s.h);
    return;
  }
  if (!tm_predictor_run(p, s.rgb, s.w, s.h, labels, &t->error)) return;
  for (gsize i = 0; t->has_match && i < pixels; i++) labels[i] = t->match[labels[i]];
  if (!shrink(&s, &labels, t->max_side)) return;
  t->scene = tm_scene_new(s.w, s.h, g_steal_pointer(&s.rgb), g_steal_pointer(&labels), g_steal_pointer(&s.labels),
                          tm_dataset_classes(t->dataset));
}

static gboolean on_done(gpointer data);

static gpointer work(gpointer data) {
  Link *l = data;
  Open o = {0};
  for (gboolean quit = FALSE; !quit;) {
    Task *t = g_async_queue_pop(l->tasks);
    quit = t->kind == TASK_QUIT;
    if (t->kind == TASK_EVALUATE)
      evaluate(t, &o);
    else if (t->kind == TASK_LOOK && !g_atomic_int_get(&t->cancelled))
      look(t, &o);
    if (quit)
      task_free(t);
    else
      tm_main_call(NULL, G_PRIORITY_DEFAULT, on_done, t, task_free);
  }
  g_clear_pointer(&o.p, tm_predictor_free);
  g_free(o.network);
  link_unref(l);
  return NULL;
}

/* ---- the main thread ---- */

static void evaluated(TmEvaluator *e, Task *t) {
  e->busy = FALSE;
  e->result = g_steal_pointer(&t->result);
  e->error = g_steal_pointer(&t->error);
  if (!e->result) e->net_classes = g_steal_pointer(&t->net_classes);
  g_signal_emit(e, signals[CHANGED], 0);
}

static void looked(TmEvaluator *e, Task *t) {
  g_autofree Look *l = NULL;
  gpointer value = NULL;
  if (!g_hash_table_steal_extended(e->looks, GUINT_TO_POINTER(t->look), NULL, &value)) return;
  l = value;
  l->ready(t->scene, t->error, l->user);
}

static gboolean on_done(gpointer data) {
  Task *t = data;
  g_autoptr(TmEvaluator) e = g_weak_ref_get(&t->link->evaluator);
  if (!e) return G_SOURCE_REMOVE;
  if (t->kind == TASK_EVALUATE)
    evaluated(e, t);
  else
    looked(e, t);
  return G_SOURCE_REMOVE;
}

static Task *task_new(TmEvaluator *e, Kind kind, const char *network, TmDataset *d, const guint8 *match) {
  Task *t = g_new0(Task, 1);
  t->kind = kind;
  t->link = link_ref(e->link);
  t->network = g_strdup(network);
  t->dataset = d ? tm_dataset_ref(d) : NULL;
  t->has_match = match != NULL;
  if (match) memcpy(t->match, match, sizeof t->match);
  return t;
}

static void forget(TmEvaluator *e) {
  g_clear_pointer(&e->result, tm_evaluation_free);
  g_clear_error(&e->error);
  g_clear_pointer(&e->net_classes, tm_class_table_free);
}

static void dispose(GObject *o) {
  TmEvaluator *e = TM_EVALUATOR(o);
  if (e->link) {
    g_atomic_int_set(&e->link->stop, 1);
    tm_evaluator_cancel_looks(e);
    g_async_queue_push(e->link->tasks, task_new(e, TASK_QUIT, NULL, NULL, NULL));
  }
  g_clear_pointer(&e->link, link_unref);
  g_clear_pointer(&e->looks, g_hash_table_unref);
  g_clear_pointer(&e->network, g_free);
  forget(e);
  G_OBJECT_CLASS(tm_evaluator_parent_class)->dispose(o);
}

static void tm_evaluator_class_init(TmEvaluatorClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_EVALUATOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_evaluator_init(TmEvaluator *e) {
  Link *l = e->link = g_new0(Link, 1);
  g_atomic_ref_count_init(&l->refs);
  g_weak_ref_init(&l->evaluator, e);
  g_mutex_init(&l->mutex);
  l->tasks = g_async_queue_new_full(task_free);
  e->looks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  g_thread_unref(g_thread_new("evaluate", work, link_ref(l)));
}

TmEvaluator *tm_evaluator_new(void) {
  return g_object_new(TM_TYPE_EVALUATOR, NULL);
}

void tm_evaluator_begin(TmEvaluator *e, const char *network, TmDataset *d, TmSplit split, const guint8 *match) {
  if (e->busy) return;
  forget(e);
  g_free(e->network);
  e->network = g_strdup(network);
  e->busy = TRUE;
  g_mutex_lock(&e->link->mutex);
  e->link->done = e->link->total = 0;
  g_clear_pointer(&e->link->so_far, tm_confusion_free);
  g_mutex_unlock(&e->link->mutex);
  g_atomic_int_set(&e->link->stop, 0);
  Task *t = task_new(e, TASK_EVALUATE, network, d, match);
  t->split = split;
  g_async_queue_push_front(e->link->tasks, t);
  g_signal_emit(e, signals[CHANGED], 0);
}

void tm_evaluator_stop(TmEvaluator *e) {
  g_atomic_int_set(&e->link->stop, 1);
}

gboolean tm_evaluator_is_busy(TmEvaluator *e) {
  return e->busy;
}
const char *tm_evaluator_network(TmEvaluator *e) {
  return e->network;
}
TmEvaluation *tm_evaluator_take(TmEvaluator *e) {
  return g_steal_pointer(&e->result);
}
const GError *tm_evaluator_error(TmEvaluator *e) {
  return g_error_matches(e->error, TM_ERROR, TM_ERROR_CANCELLED) ? NULL : e->error;
}

void tm_evaluator_progress(TmEvaluator *e, guint *done, guint *total) {
  g_mutex_lock(&e->link->mutex);
  *done = e->link->done;
  *total = e->link->total;
  g_mutex_unlock(&e->link->mutex);
}

TmConfusion *tm_evaluator_so_far(TmEvaluator *e) {
  TmConfusion *copy = NULL;
  g_mutex_lock(&e->link->mutex);
  const TmConfusion *c = e->link->so_far;
  if (c) {
    copy = tm_confusion_new(c->n);
    memcpy(copy->pixels, c->pixels, (gsize)c->n * c->n * sizeof(guint64));
  }
  g_mutex_unlock(&e->link->mutex);
  return copy;
}

TmClassTable *tm_evaluator_differing_classes(TmEvaluator *e) {
  return g_steal_pointer(&e->net_classes);
}

guint tm_evaluator_look(TmEvaluator *e, const char *network, TmDataset *d, guint entry, int max_side,
                        const guint8 *match, TmLookReady ready, gpointer user) {
  Task *t = task_new(e, TASK_LOOK, network, d, match);
  Look *l = g_new(Look, 1);
  t->look = ++e->last_look;
  t->entry = entry;
  t->max_side = max_side;
  *l = (Look){t, ready, user};
  g_hash_table_insert(e->looks, GUINT_TO_POINTER(t->look), l);
  const guint number = t->look;
  g_async_queue_push(e->link->tasks, t);
  return number;
}

void tm_evaluator_cancel_look(TmEvaluator *e, guint number) {
  const Look *l = g_hash_table_lookup(e->looks, GUINT_TO_POINTER(number));
  if (!l) return;
  g_atomic_int_set(&l->task->cancelled, 1);
  g_hash_table_remove(e->looks, GUINT_TO_POINTER(number));
}

void tm_evaluator_cancel_looks(TmEvaluator *e) {
  GHashTableIter iter;
  gpointer l;
  g_hash_table_iter_init(&iter, e->looks);
  while (g_hash_table_iter_next(&iter, NULL, &l)) g_atomic_int_set(&((Look *)l)->task->cancelled, 1);
  g_hash_table_remove_all(e->looks);
}
