#include "engine/train/trainer.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/steer.h"
#include "engine/train/trainer-private.h"

static gboolean ended(TmTrainerState s) {
  return s == TM_STATE_FINISHED || s == TM_STATE_STOPPED || s == TM_STATE_FAILED;
}

/* ---- making and ending ---- */

static gboolean check(const TmDataset *d, const TmScan *scan, const TmSettings *s, GError **error) {
  if (s->scale_min > s->scale_max) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_SETTING,
                        _("The smallest zoom (scale_min) is larger than the largest (scale_max)."));
    return FALSE;
  }
  if (scan && scan->n_entries != tm_dataset_n(d)) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_DATA, _("The scan belongs to another dataset."));
    return FALSE;
  }
  return TRUE;
}

static gboolean make_folders(const char *path, GError **error) {
  static const char *const parts[] = {"checkpoints", "probes", NULL};
  for (guint i = 0; parts[i]; i++) {
    g_autofree char *folder = g_build_filename(path, parts[i], NULL);
    if (g_mkdir_with_parents(folder, 0777) == 0) continue;
    g_autofree char *shown = g_filename_display_name(folder);
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The folder “%s” cannot be made: %s."), shown,
                g_strerror(errno));
    return FALSE;
  }
  return TRUE;
}

TmTrainer *tm_trainer_new(TmDataset *d, const TmScan *scan, const TmSettings *s, const char *run_dir,
                          gboolean resume, GError **error) {
  if (!check(d, scan, s, error) || !make_folders(run_dir, error)) return NULL;
  TmTrainer *t = g_new0(TmTrainer, 1);
  t->data = tm_dataset_ref(d);
  if (scan) {
    t->has_scan = TRUE;
    t->scan = *scan;
    t->scan.findings = NULL;
    t->scan.leave_out = g_memdup2(scan->leave_out, scan->n_entries * sizeof *scan->leave_out);
  }
  t->settings = *s;
  t->run_dir = g_strdup(run_dir);
  t->resume = resume;
  t->commands = g_async_queue_new_full((GDestroyNotify)tm_command_free);
  g_mutex_init(&t->lock);
  g_cond_init(&t->ended);
  t->steps = g_array_new(FALSE, FALSE, sizeof(TmStepRow));
  t->epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  t->changes = g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
  t->val_loss = t->val_miou = NAN;
  t->validated_at = t->saved_at = G_MAXUINT64;
  t->snap = (TmSnapshot){.state = TM_STATE_IDLE,
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
                         .run_dir = g_strdup(run_dir)};
  return t;
}

void tm_trainer_free(TmTrainer *t) {
  if (!t) return;
  if (t->thread) {
    tm_trainer_stop_now(t, FALSE);
    g_thread_join(t->thread);
  }
  tm_snapshot_clear(&t->snap);
  tm_probe_free(t->probe);
  g_array_unref(t->steps);
  g_array_unref(t->epochs);
  g_ptr_array_unref(t->changes);
  g_clear_pointer(&t->replay, g_ptr_array_unref);
  g_async_queue_unref(t->commands);
  g_clear_error(&t->failure);
  g_mutex_clear(&t->lock);
  g_cond_clear(&t->ended);
  g_free(t->scan.leave_out);
  g_free(t->remark);
  g_free(t->run_dir);
  tm_dataset_unref(t->data);
  g_free(t);
}

void tm_trainer_set_notify(TmTrainer *t, TmTrainerNotify notify, gpointer user) {
  t->notify = notify;
  t->notify_user = user;
}

/* ---- commands ---- */

void tm_trainer_start(TmTrainer *t) {
  g_mutex_lock(&t->lock);
  const gboolean first = t->snap.state == TM_STATE_IDLE && !t->thread;
  if (first) {
    t->snap.state = t->state = TM_STATE_PREPARING;
    t->thread = g_thread_new("trainer", tm_trainer_thread, t);
  }
  g_mutex_unlock(&t->lock);
}

/* Before the start only what will hold for the run makes sense; after its end nothing does. */
static void command(TmTrainer *t, TmCommand c) {
  g_mutex_lock(&t->lock);
  const TmTrainerState state = t->snap.state;
  const gboolean lasting = c.kind == TM_COMMAND_CHANGE || c.kind == TM_COMMAND_SET_PROBE || c.kind == TM_COMMAND_SET_PROBES;
  if (!ended(state) && (state != TM_STATE_IDLE || lasting)) {
    if (c.kind == TM_COMMAND_STOP_NOW) g_atomic_int_set(&t->abort, 1);
    c.key = g_strdup(c.key);
    c.to = g_strdup(c.to);
    g_async_queue_push(t->commands, g_memdup2(&c, sizeof c));
  }
  g_mutex_unlock(&t->lock);
}

void tm_trainer_pause(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_PAUSE});
}
void tm_trainer_park(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_PARK});
}
void tm_trainer_resume(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_RESUME});
}
void tm_trainer_step(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_STEP});
}
void tm_trainer_stop(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_STOP});
}
void tm_trainer_save(TmTrainer *t) {
  command(t, (TmCommand){.kind = TM_COMMAND_SAVE});
}

void tm_trainer_stop_now(TmTrainer *t, gboolean save) {
  command(t, (TmCommand){.kind = TM_COMMAND_STOP_NOW, .save = save});
}

void tm_trainer_set_lr(TmTrainer *t, double factor) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (isfinite(factor) && factor >= 0)
    tm_trainer_change(t, TM_RATE_FACTOR, g_ascii_dtostr(text, sizeof text, factor), FALSE);
}

void tm_trainer_change(TmTrainer *t, const char *key, const char *to, gboolean undo) {
  command(t, (TmCommand){.kind = TM_COMMAND_CHANGE, .key = (char *)key, .to = (char *)to, .undo = undo});
}

void tm_trainer_set_replay(TmTrainer *t, const GPtrArray *changes, guint64 until) {
  g_clear_pointer(&t->replay, g_ptr_array_unref);
  t->replay = g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
  for (guint i = 0; i < changes->len; i++) g_ptr_array_add(t->replay, tm_change_copy(changes->pdata[i]));
  t->until = until;
}

void tm_trainer_set_probe(TmTrainer *t, guint entry) {
  if (entry < tm_dataset_n(t->data)) command(t, (TmCommand){.kind = TM_COMMAND_SET_PROBE, .entry = entry});
}

void tm_trainer_set_probes(TmTrainer *t, const guint *entries, guint n) {
  TmCommand c = {.kind = TM_COMMAND_SET_PROBES};
  for (guint i = 0; i < n && c.n_entries < TM_MAX_PROBES; i++)
    if (entries[i] < tm_dataset_n(t->data)) c.entries[c.n_entries++] = entries[i];
  command(t, c);
}

/* ---- reading ---- */

TmTrainerState tm_trainer_state(TmTrainer *t) {
  g_mutex_lock(&t->lock);
  const TmTrainerState s = t->snap.state;
  g_mutex_unlock(&t->lock);
  return s;
}

void tm_trainer_snapshot(TmTrainer *t, TmSnapshot *out) {
  g_mutex_lock(&t->lock);
  *out = t->snap;
  out->activity = g_strdup(t->snap.activity);
  out->error = g_strdup(t->snap.error);
  out->notice = g_strdup(t->snap.notice);
  out->device = g_strdup(t->snap.device);
  out->device_uuid = g_strdup(t->snap.device_uuid);
  out->run_dir = g_strdup(t->snap.run_dir);
  g_mutex_unlock(&t->lock);
}

void tm_snapshot_clear(TmSnapshot *s) {
  g_free(s->activity);
  g_free(s->error);
  g_free(s->notice);
  g_free(s->device);
  g_free(s->device_uuid);
  g_free(s->run_dir);
  *s = (TmSnapshot){0};
}

static TmProbe *probe_copy(const TmProbe *p) {
  const gsize n = (gsize)p->w * (gsize)p->h;
  TmProbe *c = g_memdup2(p, sizeof *p);
  c->rgb = g_memdup2(p->rgb, n * 3);
  c->labels = g_memdup2(p->labels, n);
  c->truth = p->truth ? g_memdup2(p->truth, n) : NULL;
  if (p->visible) tm_visible_ref(p->visible);
  return c;
}

TmProbe *tm_trainer_probe(TmTrainer *t, const TmProbe *last) {
  TmProbe *copy = NULL;
  g_mutex_lock(&t->lock);
  const TmProbe *p = t->probe;
  if (p && (!last || p->entry != last->entry || p->epoch != last->epoch || p->step != last->step))
    copy = probe_copy(p);
  g_mutex_unlock(&t->lock);
  return copy;
}

static guint rows(TmTrainer *t, GArray *from_array, guint from, GArray *out) {
  g_array_set_size(out, 0);
  g_mutex_lock(&t->lock);
  const guint n = from_array->len;
  if (from < n)
    g_array_append_vals(out, from_array->data + (gsize)from * g_array_get_element_size(from_array), n - from);
  g_mutex_unlock(&t->lock);
  return n;
}

guint tm_trainer_steps(TmTrainer *t, guint from, GArray *out) {
  return rows(t, t->steps, from, out);
}
guint tm_trainer_epochs(TmTrainer *t, guint from, GArray *out) {
  return rows(t, t->epochs, from, out);
}
GPtrArray *tm_trainer_changes(TmTrainer *t, guint from) {
  GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
  g_mutex_lock(&t->lock);
  for (guint i = from; i < t->changes->len; i++) g_ptr_array_add(out, tm_change_copy(t->changes->pdata[i]));
  g_mutex_unlock(&t->lock);
  return out;
}
const TmSettings *tm_trainer_settings(TmTrainer *t) {
  return &t->settings;
}

gboolean tm_trainer_wait(TmTrainer *t, GError **error) {
  g_mutex_lock(&t->lock);
  const gboolean started = t->snap.state != TM_STATE_IDLE;
  while (started && !ended(t->snap.state)) g_cond_wait(&t->ended, &t->lock);
  const gboolean ok = started && t->snap.state != TM_STATE_FAILED;
  if (!started)
    g_set_error_literal(error, TM_ERROR, TM_ERROR_FAILED, _("The run was not started."));
  else if (!ok && t->failure)
    g_propagate_error(error, g_error_copy(t->failure));
  g_mutex_unlock(&t->lock);
  return ok;
}

const char *tm_trainer_state_name(TmTrainerState s) {
  static const char *const names[] = {N_("Idle"),       N_("Preparing"), N_("Training"), N_("Paused"),
                                      N_("Validating"), N_("Finished"),  N_("Stopped"),  N_("Failed")};
  return s >= 0 && (guint)s < G_N_ELEMENTS(names) ? names[s] : names[0];
}

/* ---- telling (trainer's thread) ---- */

void tm_trainer_tell(TmTrainer *t, gboolean always) {
  const gint64 now = g_get_monotonic_time();
  if (!t->notify || (!always && now - t->last_notify < G_USEC_PER_SEC / 30)) return;
  t->last_notify = now;
  t->notify(t, t->notify_user);
}

static void set_text(TmTrainer *t, char **field, const char *text) {
  g_mutex_lock(&t->lock);
  if (g_strcmp0(*field, text) != 0) {
    g_free(*field);
    *field = g_strdup(text);
  }
  g_mutex_unlock(&t->lock);
}

void tm_trainer_set_notice(TmTrainer *t, const char *notice) {
  set_text(t, &t->snap.notice, notice);
}

/* The scan reports from its own threads, which may not call back. */
void tm_trainer_set_activity(TmTrainer *t, const char *activity) {
  set_text(t, &t->snap.activity, activity);
  if (g_thread_self() == t->self) tm_trainer_tell(t, FALSE);
}

void tm_trainer_set_state(TmTrainer *t, TmTrainerState state) {
  t->state = state;
  g_mutex_lock(&t->lock);
  t->snap.state = state;
  if (!ended(state)) {
    g_mutex_unlock(&t->lock);
    tm_trainer_tell(t, TRUE);
    return;
  }
  g_mutex_unlock(&t->lock);
  tm_trainer_tell(t, TRUE);
  g_mutex_lock(&t->lock);
  g_cond_broadcast(&t->ended);
  g_mutex_unlock(&t->lock);
}
