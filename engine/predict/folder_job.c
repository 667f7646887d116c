#include "engine/predict/folder_job.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/predict/folder_job-private.h"
#include "engine/predict/out_dir.h"

enum { TELL_EVERY = G_USEC_PER_SEC / 30 };

/* ---- telling ---- */

void tm_folder_job_tell(TmFolderJob *j, gboolean now) {
  const gint64 t = g_get_monotonic_time();
  if (!now && t - j->notified < TELL_EVERY) return;
  j->notified = t;
  if (j->notify) j->notify(j->user);
}

static void set_state(TmFolderJob *j, TmFolderState state, const char *why) {
  g_mutex_lock(&j->mutex);
  j->snap.state = state;
  g_free(j->snap.error);
  j->snap.error = g_strdup(why);
  g_mutex_unlock(&j->mutex);
  tm_folder_job_tell(j, TRUE);
}

static gboolean stopped(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean stop = j->stop || j->close;
  g_mutex_unlock(&j->mutex);
  return stop;
}

static void note_failure(TmFolderJob *j, guint i, const GError *why) {
  TmFolderError *e = g_new0(TmFolderError, 1);
  e->name = g_filename_display_name(j->work.names->pdata[i]);
  e->reason = g_strdup(why->message);
  g_mutex_lock(&j->mutex);
  g_ptr_array_add(j->errors, e);
  j->snap.failed++;
  g_mutex_unlock(&j->mutex);
}

static void note_progress(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  TmFolderSnapshot *s = &j->snap;
  s->seconds += (double)(g_get_monotonic_time() - j->began) / G_USEC_PER_SEC;
  const double each = s->decode + s->network + s->write;
  const guint past = s->done + s->failed + s->kept;
  s->per_second = each > 0 ? 1 / each : NAN;
  s->seconds_left = each > 0 && s->total >= past ? each * (s->total - past) : NAN;
  g_mutex_unlock(&j->mutex);
  j->began = g_get_monotonic_time();
  tm_folder_job_tell(j, FALSE);
}

/* ---- waiting ---- */

/* A picture somebody asked to look at, between two others or while paused, waiting or done. */
static void serve_look(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean asked = j->look_asked;
  const guint look = j->look;
  j->look_asked = FALSE;
  g_mutex_unlock(&j->mutex);
  if (!asked || !j->p || look >= j->work.names->len) return;
  if (tm_folder_job_do(j, look, TRUE, NULL)) tm_folder_job_tell(j, TRUE);
}

/* FALSE when it cannot be written to. */
static gboolean take_out_dir(TmFolderJob *j, GError **error) {
  g_mutex_lock(&j->mutex);
  g_autofree char *out_dir = g_steal_pointer(&j->new_out_dir);
  g_mutex_unlock(&j->mutex);
  if (!out_dir) return TRUE;
  if (!tm_out_dir_check(j->work.folder, out_dir, error)) return FALSE;
  g_free(j->work.out_dir);
  j->work.out_dir = g_steal_pointer(&out_dir);
  return tm_folder_work_begin(&j->work, FALSE, error);
}

static gboolean paused(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean pause = j->pause && !j->stop && !j->close;
  g_mutex_unlock(&j->mutex);
  return pause;
}

/* The table tells of what was done so far. */
static void write_table(TmFolderJob *j) {
  g_autoptr(GError) why = NULL;
  if (j->p && !tm_folder_work_write_table(&j->work, tm_predictor_classes(j->p), &why)) {
    TmFolderError *e = g_new0(TmFolderError, 1);
    e->name = g_strdup("classes.csv");
    e->reason = g_strdup(why->message);
    g_mutex_lock(&j->mutex);
    g_ptr_array_add(j->errors, e);
    g_mutex_unlock(&j->mutex);
  }
}

static void hold(TmFolderJob *j, const char *why, gboolean disk_full) {
  g_mutex_lock(&j->mutex);
  j->pause = TRUE;
  j->snap.disk_full = disk_full;
  g_mutex_unlock(&j->mutex);
  set_state(j, TM_FOLDER_PAUSED, why);
}

static void say_paused(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean told = j->snap.state == TM_FOLDER_PAUSED; /* with the reason */
  g_mutex_unlock(&j->mutex);
  if (told) return;
  write_table(j);
  set_state(j, TM_FOLDER_PAUSED, NULL);
}

static void wait_while_paused(TmFolderJob *j) {
  if (!paused(j)) return;
  while (paused(j)) {
    g_autoptr(GError) why = NULL;
    say_paused(j);
    serve_look(j);
    if (paused(j)) g_main_context_iteration(j->context, TRUE);
    if (!paused(j) && !take_out_dir(j, &why)) hold(j, why->message, TRUE);
  }
  g_mutex_lock(&j->mutex);
  j->snap.disk_full = FALSE;
  g_mutex_unlock(&j->mutex);
  j->began = g_get_monotonic_time();
  if (!stopped(j)) set_state(j, TM_FOLDER_RUNNING, NULL);
}

/* ---- the folder ---- */

static void changed(GFileMonitor *m, GFile *file, GFile *other, GFileMonitorEvent event, TmFolderJob *j) {
  (void)m;
  if (event == G_FILE_MONITOR_EVENT_DELETED || event == G_FILE_MONITOR_EVENT_UNMOUNTED) {
    j->gone = !g_file_test(j->work.folder, G_FILE_TEST_IS_DIR);
    return;
  }
  if (event == G_FILE_MONITOR_EVENT_RENAMED) file = other;
  /* Not CREATED: a file may still be being written then. */
  if (event != G_FILE_MONITOR_EVENT_CHANGES_DONE_HINT && event != G_FILE_MONITOR_EVENT_MOVED_IN &&
      event != G_FILE_MONITOR_EVENT_RENAMED)
    return;
  g_autofree char *name = file ? g_file_get_basename(file) : NULL;
  if (!name || name[0] == '.' || !tm_image_name_is_read(name)) return;
  if (!g_queue_find_custom(&j->come, name, (GCompareFunc)strcmp))
    g_queue_push_tail(&j->come, g_steal_pointer(&name));
}

static void watch_folder(TmFolderJob *j) {
  g_autoptr(GFile) folder = g_file_new_for_path(j->work.folder);
  j->monitor = g_file_monitor_directory(folder, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL);
  if (j->monitor) g_signal_connect(j->monitor, "changed", G_CALLBACK(changed), j);
}

static void add_total(TmFolderJob *j, guint n) {
  g_mutex_lock(&j->mutex);
  j->snap.total += n;
  g_mutex_unlock(&j->mutex);
}

/* FALSE: the job ends. A full disk holds it, and the picture is done again afterwards. */
static gboolean do_one(TmFolderJob *j, guint i, GError **error) {
  while (TRUE) {
    wait_while_paused(j);
    if (stopped(j)) return TRUE;
    serve_look(j);
    tm_folder_job_reload(j);
    g_autoptr(GError) why = NULL;
    const gboolean ok = tm_folder_job_do(j, i, FALSE, &why);
    if (ok) {
      g_mutex_lock(&j->mutex);
      j->snap.done++;
      j->snap.masks += j->work.masks && j->work.out_dir ? 1 : 0;
      g_mutex_unlock(&j->mutex);
    } else if (g_error_matches(why, TM_ERROR, TM_ERROR_NO_SPACE)) {
      hold(j, why->message, TRUE);
      continue;
    } else if (tm_folder_ends_job(why)) {
      g_propagate_error(error, g_steal_pointer(&why));
      return FALSE;
    } else {
      note_failure(j, i, why);
    }
    note_progress(j);
    return TRUE;
  }
}

static gboolean do_listed(TmFolderJob *j, GError **error) {
  for (guint i = 0; i < j->work.names->len && !stopped(j); i++) {
    g_mutex_lock(&j->mutex);
    const gboolean keep = j->existing == TM_EXISTING_KEEP;
    g_mutex_unlock(&j->mutex);
    if (keep && tm_folder_work_has(&j->work, i)) {
      g_mutex_lock(&j->mutex);
      j->snap.kept++;
      g_mutex_unlock(&j->mutex);
      continue;
    }
    if (!do_one(j, i, error)) return FALSE;
  }
  return TRUE;
}

static gboolean watching(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean watch = j->watch && !j->stop && !j->close;
  g_mutex_unlock(&j->mutex);
  return watch;
}

static gboolean do_coming(TmFolderJob *j, GError **error) {
  if (watching(j) && !j->monitor) watch_folder(j);
  while (watching(j)) {
    while (g_main_context_iteration(j->context, FALSE)) {
    }
    if (j->gone) {
      g_autofree char *shown = g_filename_display_name(j->work.folder);
      g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” is not there any more."), shown);
      return FALSE;
    }
    g_autofree char *name = g_queue_pop_head(&j->come);
    if (name) {
      set_state(j, TM_FOLDER_RUNNING, NULL);
      j->began = g_get_monotonic_time();
      add_total(j, 1);
      if (!do_one(j, tm_folder_work_add(&j->work, name), error)) return FALSE;
      continue;
    }
    write_table(j);
    set_state(j, TM_FOLDER_WAITING, NULL);
    serve_look(j);
    if (watching(j)) g_main_context_iteration(j->context, TRUE);
  }
  return TRUE;
}

/* What is there already: asked before the first picture is predicted. */
static void ask(TmFolderJob *j) {
  g_autofree char *first = NULL;
  const guint n = tm_folder_work_existing(&j->work, &first);
  g_mutex_lock(&j->mutex);
  gboolean asking = n > 0 && j->existing == TM_EXISTING_ASK;
  j->snap.existing = n;
  g_free(j->snap.first_existing);
  j->snap.first_existing = g_steal_pointer(&first);
  g_mutex_unlock(&j->mutex);
  if (asking) set_state(j, TM_FOLDER_ASKING, NULL);
  while (asking && !stopped(j)) {
    g_main_context_iteration(j->context, TRUE);
    g_mutex_lock(&j->mutex);
    asking = j->existing == TM_EXISTING_ASK;
    g_mutex_unlock(&j->mutex);
  }
}

static gboolean run(TmFolderJob *j, GError **error) {
  if (watching(j)) watch_folder(j); /* before listing: nothing falls between */
  if (!tm_folder_work_list(&j->work, watching(j), error) || !tm_folder_job_load(j, error)) return FALSE;
  ask(j);
  if (stopped(j)) return TRUE;
  g_mutex_lock(&j->mutex);
  const gboolean replace = j->existing == TM_EXISTING_REPLACE;
  j->snap.total = j->work.names->len;
  g_mutex_unlock(&j->mutex);
  if (!tm_folder_work_begin(&j->work, replace, error)) return FALSE;
  set_state(j, TM_FOLDER_RUNNING, NULL);
  j->began = g_get_monotonic_time();
  return do_listed(j, error) && do_coming(j, error);
}

static gboolean closing(TmFolderJob *j) {
  g_mutex_lock(&j->mutex);
  const gboolean close = j->close;
  g_mutex_unlock(&j->mutex);
  return close;
}

static gpointer work(gpointer data) {
  TmFolderJob *j = data;
  g_autoptr(GError) why = NULL;
  g_main_context_push_thread_default(j->context);
  const gboolean ok = run(j, &why);
  write_table(j);
  g_clear_object(&j->monitor);
  g_mutex_lock(&j->mutex);
  const gboolean cut = j->stop;
  g_mutex_unlock(&j->mutex);
  set_state(j, !ok ? TM_FOLDER_FAILED : cut ? TM_FOLDER_STOPPED : TM_FOLDER_DONE, ok ? NULL : why->message);
  /* The network stays open until the job is freed: pictures can still be looked at. */
  while (!closing(j)) {
    serve_look(j);
    if (!closing(j)) g_main_context_iteration(j->context, TRUE);
  }
  g_clear_pointer(&j->p, tm_predictor_free);
  g_main_context_pop_thread_default(j->context);
  return NULL;
}

/* ---- from outside ---- */

static void error_free(gpointer data) {
  TmFolderError *e = data;
  g_free(e->name);
  g_free(e->reason);
  g_free(e);
}

void tm_folder_snapshot_clear(TmFolderSnapshot *s) {
  g_free(s->first_existing);
  g_free(s->error);
  g_free(s->checkpoint);
  *s = (TmFolderSnapshot){0};
}

TmFolderJob *tm_folder_job_new(const TmFolderOptions *o, void (*notify)(gpointer user), gpointer user) {
  TmFolderJob *j = g_new0(TmFolderJob, 1);
  j->network = g_strdup(o->network);
  j->backend = g_strdup(o->backend ? o->backend : "auto");
  j->follow = o->follow;
  j->notify = notify;
  j->user = user;
  j->watch = o->watch;
  j->existing = o->existing;
  j->look = G_MAXUINT;
  j->work = (TmFolderWork){.folder = g_strdup(o->folder),
                           .out_dir = g_strdup(o->out_dir),
                           .masks = o->masks,
                           .overlays = o->overlays,
                           .table = o->table};
  j->snap = (TmFolderSnapshot){
      .per_second = NAN, .seconds_left = NAN, .decode = NAN, .network = NAN, .write = NAN};
  j->taken = g_ptr_array_new_with_free_func((GDestroyNotify)tm_folder_picture_unref);
  j->errors = g_ptr_array_new_with_free_func(error_free);
  j->context = g_main_context_new();
  g_mutex_init(&j->mutex);
  j->thread = g_thread_new("predict", work, j);
  return j;
}

void tm_folder_job_free(TmFolderJob *j) {
  if (!j) return;
  g_mutex_lock(&j->mutex);
  j->close = TRUE;
  g_mutex_unlock(&j->mutex);
  g_main_context_wakeup(j->context);
  g_thread_join(j->thread);
  g_main_context_unref(j->context);
  g_mutex_clear(&j->mutex);
  tm_folder_work_clear(&j->work);
  tm_folder_snapshot_clear(&j->snap);
  g_clear_pointer(&j->picture, tm_folder_picture_unref);
  g_ptr_array_unref(j->taken);
  g_ptr_array_unref(j->errors);
  g_queue_clear_full(&j->come, g_free);
  g_free(j->new_out_dir);
  g_free(j->network);
  g_free(j->backend);
  g_free(j);
}

static void set_flag(TmFolderJob *j, gboolean *flag, gboolean value) {
  g_mutex_lock(&j->mutex);
  *flag = value;
  g_mutex_unlock(&j->mutex);
  g_main_context_wakeup(j->context);
}

void tm_folder_job_pause(TmFolderJob *j) {
  set_flag(j, &j->pause, TRUE);
}
void tm_folder_job_resume(TmFolderJob *j) {
  set_flag(j, &j->pause, FALSE);
}
void tm_folder_job_stop(TmFolderJob *j) {
  set_flag(j, &j->stop, TRUE);
}
void tm_folder_job_set_watch(TmFolderJob *j, gboolean watch) {
  set_flag(j, &j->watch, watch);
}
void tm_folder_job_set_sure(TmFolderJob *j, gboolean sure) {
  set_flag(j, &j->sure, sure);
}

void tm_folder_job_existing(TmFolderJob *j, TmExisting what) {
  g_mutex_lock(&j->mutex);
  j->existing = what;
  g_mutex_unlock(&j->mutex);
  g_main_context_wakeup(j->context);
}

void tm_folder_job_set_out_dir(TmFolderJob *j, const char *out_dir) {
  g_mutex_lock(&j->mutex);
  g_free(j->new_out_dir);
  j->new_out_dir = g_strdup(out_dir);
  g_mutex_unlock(&j->mutex);
}

void tm_folder_job_look(TmFolderJob *j, guint index) {
  g_mutex_lock(&j->mutex);
  j->look = index;
  j->look_asked = index != G_MAXUINT;
  g_mutex_unlock(&j->mutex);
  g_main_context_wakeup(j->context);
}

void tm_folder_job_snapshot(TmFolderJob *j, TmFolderSnapshot *out) {
  g_mutex_lock(&j->mutex);
  *out = j->snap;
  out->first_existing = g_strdup(j->snap.first_existing);
  out->error = g_strdup(j->snap.error);
  out->checkpoint = g_strdup(j->snap.checkpoint);
  g_mutex_unlock(&j->mutex);
}

TmFolderPicture *tm_folder_job_picture(TmFolderJob *j, const TmFolderPicture *shown) {
  g_mutex_lock(&j->mutex);
  TmFolderPicture *p = j->picture && j->picture != shown ? tm_folder_picture_ref(j->picture) : NULL;
  g_mutex_unlock(&j->mutex);
  return p;
}

GPtrArray *tm_folder_job_take(TmFolderJob *j) {
  GPtrArray *fresh = g_ptr_array_new_with_free_func((GDestroyNotify)tm_folder_picture_unref);
  g_mutex_lock(&j->mutex);
  GPtrArray *taken = j->taken;
  j->taken = fresh;
  g_mutex_unlock(&j->mutex);
  return taken;
}

GPtrArray *tm_folder_job_errors(TmFolderJob *j) {
  GPtrArray *copy = g_ptr_array_new_with_free_func(error_free);
  g_mutex_lock(&j->mutex);
  for (guint i = 0; i < j->errors->len; i++) {
    const TmFolderError *e = j->errors->pdata[i];
    TmFolderError *c = g_new0(TmFolderError, 1);
    c->name = g_strdup(e->name);
    c->reason = g_strdup(e->reason);
    g_ptr_array_add(copy, c);
  }
  g_mutex_unlock(&j->mutex);
  return copy;
}
