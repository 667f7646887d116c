#include "app/live_run.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n.h>

#include "engine/run/run_dir.h"
#include "ui/main_call.h"

/* What the trainer's thread may touch: it outlives the run until the trainer is joined. */
typedef struct {
  gatomicrefcount refs;
  GWeakRef run;
  int pending; /* atomic: a main-loop callback is under way */
  gint64 last; /* main thread: when the run was read last */
} Link;

/* Four times a second looks live. Where no GPU draws, every look costs milliseconds of the cores that train: at ten a
 * second the window took 5 % of two cores, at four it takes 3 %. */
enum { READ_EVERY = G_USEC_PER_SEC / 4 };

typedef struct {
  TmDataset *dataset;
  TmScan scan; /* a copy without the findings: the project's may go meanwhile */
  gboolean has_scan;
  TmSettings settings;
  char *run_dir;
  gboolean resume;
} Recipe;

struct _TmLiveRun {
  GObject parent;
  TmTrainer *trainer;
  Link *link;
  TmSettings settings;
  TmDataset *dataset;
  TmSnapshot snap;
  TmProbe *probe;
  guint probe_serial;
  guint steps_seen, epochs_seen;
  char *folder, *name;
  GArray *waiting; /* TmRunCommand: given before the trainer is made */
  guint probe_entry;
  gboolean has_probe_entry;
  GArray *past_steps, *past_epochs; /* of a run that has ended; NULL: the trainer has them */
  GPtrArray *past_changes;
  gboolean past;
  guint probes[TM_MAX_PROBES], n_probes; /* 0: the trainer's own choice */
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmLiveRun, tm_live_run, G_TYPE_OBJECT)

static void link_unref(gpointer p) {
  Link *l = p;
  if (!g_atomic_ref_count_dec(&l->refs)) return;
  g_weak_ref_clear(&l->run);
  g_free(l);
}

static void recipe_free(gpointer p) {
  Recipe *r = p;
  tm_dataset_unref(r->dataset);
  g_free(r->scan.leave_out);
  g_free(r->run_dir);
  g_free(r);
}

static void refresh(TmLiveRun *r) {
  tm_snapshot_clear(&r->snap);
  tm_trainer_snapshot(r->trainer, &r->snap);
  TmProbe *newer = tm_trainer_probe(r->trainer, r->probe);
  if (newer) {
    g_clear_pointer(&r->probe, tm_probe_free);
    r->probe = newer;
    r->probe_serial++;
  }
  g_signal_emit(r, signals[CHANGED], 0);
}

static gboolean read_now(gpointer data) {
  Link *l = data;
  l->last = g_get_monotonic_time();
  g_atomic_int_set(&l->pending, 0); /* before reading: what comes after is told again */
  g_autoptr(TmLiveRun) r = g_weak_ref_get(&l->run);
  if (r && r->trainer) refresh(r);
  return G_SOURCE_REMOVE;
}

static gboolean on_notify(gpointer data) {
  Link *l = data;
  gint64 wait = l->last + READ_EVERY - g_get_monotonic_time();
  if (wait <= 0) return read_now(l);
  g_atomic_ref_count_inc(&l->refs);
  g_timeout_add_full(G_PRIORITY_DEFAULT_IDLE, (guint)(wait / 1000) + 1, read_now, l, link_unref);
  return G_SOURCE_REMOVE;
}

/* On the trainer's thread. */
static void notify(TmTrainer *t, gpointer user) {
  (void)t;
  Link *l = user;
  if (!g_atomic_int_compare_and_exchange(&l->pending, 0, 1)) return;
  g_atomic_ref_count_inc(&l->refs);
  tm_main_call(NULL, G_PRIORITY_DEFAULT_IDLE, on_notify, l, link_unref);
}

static void make(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  Recipe *r = data;
  g_autoptr(GError) error = NULL;
  if (!r->run_dir) {
    g_autofree char *root = tm_run_default_root(tm_dataset_path(r->dataset), tm_dataset_title(r->dataset));
    r->run_dir = tm_run_create(root, NULL, &error);
  }
  TmTrainer *t = r->run_dir ? tm_trainer_new(r->dataset, r->has_scan ? &r->scan : NULL, &r->settings,
                                             r->run_dir, r->resume, &error)
                            : NULL;
  if (t)
    g_task_return_pointer(task, t, (GDestroyNotify)tm_trainer_free);
  else
    g_task_return_error(task, g_steal_pointer(&error));
}

static void apply(TmTrainer *t, TmRunCommand c) {
  switch (c) {
  case TM_RUN_START:
    tm_trainer_start(t);
    break;
  case TM_RUN_PAUSE:
    tm_trainer_pause(t);
    break;
  case TM_RUN_PARK:
    tm_trainer_park(t);
    break;
  case TM_RUN_RESUME:
    tm_trainer_resume(t);
    break;
  case TM_RUN_STEP:
    tm_trainer_step(t);
    break;
  case TM_RUN_STOP:
    tm_trainer_stop(t);
    break;
  case TM_RUN_STOP_SAVE:
    tm_trainer_stop_now(t, TRUE);
    break;
  case TM_RUN_STOP_NOW:
    tm_trainer_stop_now(t, FALSE);
    break;
  case TM_RUN_SAVE:
    tm_trainer_save(t);
    break;
  }
}

static void made(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmLiveRun *r = TM_LIVE_RUN(source);
  g_autoptr(GError) error = NULL;
  r->trainer = g_task_propagate_pointer(G_TASK(result), &error);
  if (!r->trainer) {
    r->snap.state = TM_STATE_FAILED;
    g_free(r->snap.error);
    r->snap.error = g_strdup(error->message);
    g_signal_emit(r, signals[CHANGED], 0);
    return;
  }
  const Recipe *recipe = g_task_get_task_data(G_TASK(result));
  r->folder = g_strdup(recipe->run_dir);
  g_autofree char *base = g_path_get_basename(recipe->run_dir);
  r->name = g_filename_display_name(base);
  tm_trainer_set_notify(r->trainer, notify, r->link);
  if (r->has_probe_entry) tm_trainer_set_probe(r->trainer, r->probe_entry);
  if (r->n_probes) tm_trainer_set_probes(r->trainer, r->probes, r->n_probes);
  for (guint i = 0; i < r->waiting->len; i++) apply(r->trainer, g_array_index(r->waiting, TmRunCommand, i));
  g_array_set_size(r->waiting, 0);
  refresh(r);
}

/* Joins the trainer away from the main loop: it may be in the middle of a step. */
typedef struct {
  TmTrainer *trainer;
  Link *link;
} Burial;

static gpointer bury(gpointer data) {
  Burial *b = data;
  tm_trainer_free(b->trainer);
  link_unref(b->link);
  g_free(b);
  return NULL;
}

static void dispose(GObject *o) {
  TmLiveRun *r = TM_LIVE_RUN(o);
  if (r->trainer) {
    Burial *b = g_new(Burial, 1);
    b->trainer = g_steal_pointer(&r->trainer);
    b->link = g_steal_pointer(&r->link);
    g_thread_unref(g_thread_new("end-run", bury, b));
  }
  g_clear_pointer(&r->link, link_unref);
  g_clear_pointer(&r->dataset, tm_dataset_unref);
  g_clear_pointer(&r->probe, tm_probe_free);
  tm_snapshot_clear(&r->snap);
  g_clear_pointer(&r->folder, g_free);
  g_clear_pointer(&r->name, g_free);
  g_clear_pointer(&r->waiting, g_array_unref);
  g_clear_pointer(&r->past_steps, g_array_unref);
  g_clear_pointer(&r->past_epochs, g_array_unref);
  g_clear_pointer(&r->past_changes, g_ptr_array_unref);
  G_OBJECT_CLASS(tm_live_run_parent_class)->dispose(o);
}

static void tm_live_run_class_init(TmLiveRunClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_LIVE_RUN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_live_run_init(TmLiveRun *r) {
  r->link = g_new0(Link, 1);
  g_atomic_ref_count_init(&r->link->refs);
  g_weak_ref_init(&r->link->run, r);
  r->waiting = g_array_new(FALSE, FALSE, sizeof(TmRunCommand));
}

static void begin_snapshot(TmLiveRun *r, const TmSettings *s, TmTrainerState state) {
  r->snap = (TmSnapshot){.state = state,
                         .epochs = (guint)s->epochs,
                         .loss = NAN,
                         .smooth_loss = NAN,
                         .lr = NAN,
                         .grad_norm = NAN,
                         .lr_factor = 1,
                         .settings = *s,
                         .val_loss = NAN,
                         .val_miou = NAN,
                         .best_miou = NAN,
                         .seconds_left = NAN,
                         .times.step = NAN,
                         .run_times.step = NAN};
}

TmLiveRun *tm_live_run_new(TmDataset *d, const TmScan *scan, const TmSettings *s, const char *run_dir) {
  TmLiveRun *r = g_object_new(TM_TYPE_LIVE_RUN, NULL);
  r->settings = *s;
  r->dataset = tm_dataset_ref(d);
  begin_snapshot(r, s, TM_STATE_PREPARING);
  Recipe *recipe = g_new0(Recipe, 1);
  recipe->dataset = tm_dataset_ref(d);
  if (scan) {
    recipe->has_scan = TRUE;
    recipe->scan = *scan;
    recipe->scan.findings = NULL;
    recipe->scan.entries = NULL;
    recipe->scan.leave_out = g_memdup2(scan->leave_out, scan->n_entries * sizeof *scan->leave_out);
  }
  recipe->settings = *s;
  recipe->run_dir = g_strdup(run_dir);
  recipe->resume = run_dir != NULL;
  g_autoptr(GTask) task = g_task_new(r, NULL, made, NULL);
  g_task_set_task_data(task, recipe, recipe_free);
  g_task_run_in_thread(task, make);
  return r;
}

/* ---- runs of the past ---- */

typedef struct {
  GArray *steps, *epochs;
  GPtrArray *changes;
  TmSettings settings;
  TmTrainerState state;
  double seconds;
} Past;

static void past_free(gpointer data) {
  Past *p = data;
  g_clear_pointer(&p->steps, g_array_unref);
  g_clear_pointer(&p->epochs, g_array_unref);
  g_clear_pointer(&p->changes, g_ptr_array_unref);
  g_free(p);
}

/* What run.json calls the end; a run that was interrupted was stopped. */
static TmTrainerState past_state(const char *folder) {
  g_autoptr(JsonNode) info = tm_run_read_info(folder, NULL);
  const char *name = info && JSON_NODE_HOLDS_OBJECT(info)
                         ? json_object_get_string_member_with_default(json_node_get_object(info), "state", "")
                         : "";
  return strcmp(name, "finished") == 0 ? TM_STATE_FINISHED : strcmp(name, "failed") == 0 ? TM_STATE_FAILED : TM_STATE_STOPPED;
}

static void read_past(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  const char *folder = data;
  GError *error = NULL;
  Past *p = g_new0(Past, 1);
  p->steps = g_array_new(FALSE, FALSE, sizeof(TmStepRow));
  p->epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  p->changes = tm_run_read_changes(folder);
  p->state = past_state(folder);
  if (tm_run_read_history(folder, p->steps, p->epochs, &error) && tm_run_settings(folder, FALSE, &p->settings, &error)) {
    g_task_return_pointer(task, p, past_free);
    return;
  }
  past_free(p);
  g_task_return_error(task, error);
}

static void show_past(TmLiveRun *r, Past *p) {
  TmSnapshot *o = &r->snap;
  r->settings = o->settings = p->settings;
  o->state = p->state;
  o->epochs = (guint)p->settings.epochs;
  o->n_changes = p->changes->len;
  if (p->steps->len) {
    const TmStepRow *last = &g_array_index(p->steps, TmStepRow, p->steps->len - 1);
    o->total_step = last->step + 1;
    o->seconds = (double)last->seconds;
    o->epoch = (guint)(last->epoch + 1e-4f);
    o->loss = (double)last->loss;
    o->lr = (double)last->lr;
    o->share = o->epochs ? MIN(1, (double)last->epoch / o->epochs) : 0;
  }
  for (guint i = 0; i < p->epochs->len; i++) {
    const TmEpochRow *e = &g_array_index(p->epochs, TmEpochRow, i);
    o->val_loss = (double)e->val_loss;
    o->val_miou = (double)e->miou;
    if (e->best) o->best_miou = (double)e->miou, o->best_epoch = e->epoch;
  }
  if (o->state == TM_STATE_FINISHED) o->epoch = p->epochs->len ? g_array_index(p->epochs, TmEpochRow, p->epochs->len - 1).epoch + 1 : 0;
  r->past_steps = g_steal_pointer(&p->steps);
  r->past_epochs = g_steal_pointer(&p->epochs);
  r->past_changes = g_steal_pointer(&p->changes);
}

static void past_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmLiveRun *r = TM_LIVE_RUN(source);
  g_autoptr(GError) error = NULL;
  Past *p = g_task_propagate_pointer(G_TASK(result), &error);
  if (p) {
    show_past(r, p);
    past_free(p);
  } else {
    r->snap.state = TM_STATE_FAILED;
    r->snap.error = g_strdup(error->message);
  }
  g_signal_emit(r, signals[CHANGED], 0);
}

TmLiveRun *tm_live_run_new_past(TmDataset *d, const char *run_dir) {
  TmLiveRun *r = g_object_new(TM_TYPE_LIVE_RUN, NULL);
  g_autofree char *base = g_path_get_basename(run_dir);
  tm_settings_defaults(&r->settings);
  begin_snapshot(r, &r->settings, TM_STATE_STOPPED);
  r->past = TRUE;
  r->dataset = tm_dataset_ref(d);
  r->folder = g_strdup(run_dir);
  r->name = g_filename_display_name(base);
  r->snap.run_dir = g_strdup(run_dir);
  g_autoptr(GTask) task = g_task_new(r, NULL, past_read, NULL);
  g_task_set_task_data(task, g_strdup(run_dir), g_free);
  g_task_run_in_thread(task, read_past);
  return r;
}

void tm_live_run_command(TmLiveRun *r, TmRunCommand c) {
  if (r->trainer)
    apply(r->trainer, c);
  else if (!r->past)
    g_array_append_val(r->waiting, c);
}

void tm_live_run_change(TmLiveRun *r, const char *key, const char *to, gboolean undo) {
  if (r->trainer) tm_trainer_change(r->trainer, key, to, undo);
}

GPtrArray *tm_live_run_changes(TmLiveRun *r) {
  if (r->past_changes) return g_ptr_array_ref(r->past_changes);
  return r->trainer ? tm_trainer_changes(r->trainer, 0)
                    : g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
}

void tm_live_run_set_probe(TmLiveRun *r, guint entry) {
  r->probe_entry = entry;
  r->has_probe_entry = TRUE;
  if (r->trainer) tm_trainer_set_probe(r->trainer, entry);
}

void tm_live_run_set_probes(TmLiveRun *r, const guint *entries, guint n) {
  r->n_probes = MIN(n, TM_MAX_PROBES);
  for (guint i = 0; i < r->n_probes; i++) r->probes[i] = entries[i];
  if (r->trainer) tm_trainer_set_probes(r->trainer, entries, n);
}

static GArray *take(TmLiveRun *r, gsize size, guint *seen, guint (*read)(TmTrainer *, guint, GArray *)) {
  GArray *rows = g_array_new(FALSE, FALSE, (guint)size), *past = read == tm_trainer_steps ? r->past_steps : r->past_epochs;
  if (past && *seen < past->len) {
    g_array_append_vals(rows, past->data, past->len);
    *seen = past->len;
  }
  if (r->trainer) {
    guint n = read(r->trainer, *seen, rows);
    *seen = MAX(n, *seen);
  }
  return rows;
}

GArray *tm_live_run_take_steps(TmLiveRun *r) {
  return take(r, sizeof(TmStepRow), &r->steps_seen, tm_trainer_steps);
}
GArray *tm_live_run_take_epochs(TmLiveRun *r) {
  return take(r, sizeof(TmEpochRow), &r->epochs_seen, tm_trainer_epochs);
}
const TmSnapshot *tm_live_run_snapshot(TmLiveRun *r) {
  return &r->snap;
}
const TmProbe *tm_live_run_probe(TmLiveRun *r) {
  return r->probe;
}
guint tm_live_run_probe_serial(TmLiveRun *r) {
  return r->probe_serial;
}
const TmSettings *tm_live_run_settings(TmLiveRun *r) {
  return &r->settings;
}
TmDataset *tm_live_run_dataset(TmLiveRun *r) {
  return r->dataset;
}
const char *tm_live_run_name(TmLiveRun *r) {
  return r->name;
}
const char *tm_live_run_folder(TmLiveRun *r) {
  return r->folder;
}

gboolean tm_live_run_is_past(TmLiveRun *r) {
  return r->past;
}

gboolean tm_live_run_alive(TmLiveRun *r) {
  if (r->past) return FALSE;
  TmTrainerState s = r->snap.state;
  return s == TM_STATE_PREPARING || s == TM_STATE_TRAINING || s == TM_STATE_PAUSED ||
         s == TM_STATE_VALIDATING;
}
