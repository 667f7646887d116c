/* worker.c: the trainer's thread: its loop, and what each command does. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/train/trainer-private.h"

enum {
  BAD_ROW = 10,                         /* steps without a sound gradient in a row that end the run */
  SAVE_EVERY = 5 * 60 * G_USEC_PER_SEC, /* within long epochs */
  PROBE_EVERY = 2 * G_USEC_PER_SEC,     /* and at most 3 % of the time */
  PROBE_SHARE = 33,
};

static gboolean lost(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_DEVICE);
}

/* What is left of a run whose device is gone: its last checkpoint. */
static void name_checkpoint(const TmTrainer *t, GError **error) {
  if (t->saved_at == G_MAXUINT64) return;
  g_autofree char *why = g_strdup((*error)->message);
  g_clear_error(error);
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE,
              _("%s The run is interrupted; its last checkpoint is of epoch %u, step %u (checkpoints/last.safetensors), from which it can go "
                "on on the processor."),
              why, t->saved_epoch + 1, t->saved_step);
}

void tm_worker_fail(TmTrainer *t, GError *error) {
  if (t->flow == TM_FLOW_FAIL) {
    g_error_free(error);
    return;
  }
  const gboolean gone = lost(error);
  t->flow = TM_FLOW_FAIL;
  if (gone) name_checkpoint(t, &error);
  g_mutex_lock(&t->lock);
  t->snap.lost = gone && t->saved_at != G_MAXUINT64;
  t->failure = error;
  g_free(t->snap.error);
  t->snap.error = g_strdup(error->message);
  g_mutex_unlock(&t->lock);
}

/* ---- the snapshot ---- */

static void add_times(TmTrainer *t, const TmStepResult *r, double whole) {
  TmStepTimes x = r->times;
  x.draw = t->draw_s;
  x.step = whole;
  t->draw_s = 0;
  t->times[t->n_times++ % TM_TIMED_STEPS] = x;
  tm_step_sum_add(&t->epoch_times, &x);
  tm_step_sum_add(&t->run_times, &x);
}

/* The first steps warm caches and pick kernels; they leave the mean after fifty. */
static TmStepTimes recent_times(const TmTrainer *t) {
  TmStepSum sum = {0};
  for (guint i = 0; i < MIN(t->n_times, TM_TIMED_STEPS); i++) tm_step_sum_add(&sum, &t->times[i]);
  return tm_step_sum_mean(&sum);
}

static double seconds_left(const TmTrainer *t, double step_s) {
  const TmSession *s = t->session;
  if (t->n_times == 0) return NAN;
  const guint64 total = tm_session_places(s), done = tm_session_place(s);
  return (double)(total - MIN(done, total)) * step_s +
         (double)(s->settings->epochs - (int)s->at.epoch) / s->settings->validate_every * t->validation_s;
}

void tm_worker_publish(TmTrainer *t) {
  const TmSession *s = t->session;
  const TmPosition *p = &s->at;
  const TmStepTimes m = recent_times(t);
  const double left = seconds_left(t, m.step);
  const gsize memory = tm_session_memory(s);
  g_mutex_lock(&t->lock);
  TmSnapshot *o = &t->snap;
  o->epoch = p->epoch;
  o->step = p->step;
  o->steps = s->steps;
  o->total_step = tm_session_total(s);
  o->share = MIN(1.0, (double)tm_session_place(s) / (double)MAX(tm_session_places(s), 1));
  o->epochs = (guint)s->settings->epochs;
  o->lr_factor = p->lr_factor;
  o->settings = *s->settings;
  o->next_batch = s->next_batch;
  o->parked = s->parked != NULL;
  o->smooth_loss = p->smooth_weight > 0 ? p->smooth / p->smooth_weight : NAN;
  o->val_loss = t->val_loss;
  o->val_miou = t->val_miou;
  o->best_miou = p->best_miou;
  o->best_epoch = p->best_epoch;
  o->skipped = p->skipped;
  o->replaced = p->replaced;
  o->seconds = p->seconds;
  o->seconds_left = left;
  o->images_per_s = m.step > 0 ? s->settings->batch / m.step : 0;
  o->times = m;
  o->run_times = tm_step_sum_mean(&t->run_times);
  o->memory = memory;
  g_mutex_unlock(&t->lock);
}

static void publish_device(TmTrainer *t) {
  const TmSession *s = t->session;
  const char *backend = s->backend->api->name;
  g_mutex_lock(&t->lock);
  t->snap.precision = s->precision;
  t->snap.device_uuid = g_strdup(s->info.uuid);
  t->snap.device = s->info.detail && *s->info.detail
                       ? g_strdup_printf("%s: %s, %s", backend, s->info.name, s->info.detail)
                       : g_strdup_printf("%s: %s", backend, s->info.name);
  g_mutex_unlock(&t->lock);
}

/* ---- saving ---- */

static gboolean not_finite(const GError *e) {
  return g_error_matches(e, TM_ERROR, TM_ERROR_NON_FINITE);
}
void tm_worker_fail_softly(TmTrainer *t, GError *error) {
  if (lost(error)) {
    tm_worker_fail(t, error);
    return;
  }
  tm_trainer_set_notice(t, error->message);
  g_error_free(error);
}

/* Notes where the last checkpoint stands. */
static void saved(TmTrainer *t) {
  const TmSession *s = t->session;
  t->saved_at = tm_session_total(s);
  t->saved_epoch = s->at.epoch;
  t->saved_step = s->at.step;
}

/* Tries once. FALSE with the reason as the notice; a lost device ends the run. */
static gboolean try_save(TmTrainer *t, gboolean (*save)(TmSession *, GError **)) {
  g_autoptr(GError) e = NULL;
  if (save(t->session, &e)) {
    t->last_save = g_get_monotonic_time();
    if (save == tm_session_save_last) saved(t);
    return TRUE;
  }
  if (lost(e))
    tm_worker_fail(t, g_steal_pointer(&e));
  else
    tm_trainer_set_notice(t, e->message);
  return e && not_finite(e); /* nothing to be had by trying again: training goes on, the old file stays */
}

static void obey(TmTrainer *t);

/* A checkpoint that cannot be written pauses the run, with all its work in memory, until someone made room or
 * gave up. */
static gboolean save_or_pause(TmTrainer *t, gboolean (*save)(TmSession *, GError **)) {
  while (t->flow != TM_FLOW_FAIL && t->flow != TM_FLOW_STOP_NOW) {
    if (try_save(t, save)) return TRUE;
    if (t->flow == TM_FLOW_FAIL) break;
    tm_trainer_set_state(t, TM_STATE_PAUSED);
    obey(t);
  }
  return FALSE;
}

/* ---- commands ---- */

static void do_pause(TmTrainer *t, const TmCommand *c) {
  (void)c;
  t->one_step = FALSE;
  if (g_atomic_int_get(&t->abort) == 0) try_save(t, tm_session_save_last);
  if (t->flow != TM_FLOW_FAIL) tm_trainer_set_state(t, TM_STATE_PAUSED);
}

static void do_resume(TmTrainer *t, const TmCommand *c) {
  (void)c;
  if (tm_worker_take_device(t)) tm_trainer_set_state(t, TM_STATE_TRAINING);
}

static void do_step(TmTrainer *t, const TmCommand *c) {
  (void)c;
  if (!tm_worker_take_device(t)) return;
  t->one_step = TRUE;
  if (t->state == TM_STATE_PAUSED) tm_trainer_set_state(t, TM_STATE_TRAINING);
}

static void do_park(TmTrainer *t, const TmCommand *c) {
  if (t->state != TM_STATE_PAUSED) do_pause(t, c);
  if (t->flow != TM_FLOW_FAIL) tm_worker_give_device(t);
}

static void do_change(TmTrainer *t, const TmCommand *c) {
  tm_worker_change(t, c->key, c->to, c->undo);
}

static void do_stop(TmTrainer *t, const TmCommand *c) {
  (void)c;
  t->flow = TM_FLOW_STOP;
}

static void do_stop_now(TmTrainer *t, const TmCommand *c) {
  t->flow = TM_FLOW_STOP_NOW;
  t->save_at_end = c->save;
}

static void do_save(TmTrainer *t, const TmCommand *c) {
  (void)c;
  if (try_save(t, tm_session_save_last) || t->flow == TM_FLOW_FAIL) return;
  if (t->state == TM_STATE_TRAINING) tm_trainer_set_state(t, TM_STATE_PAUSED);
  tm_trainer_tell(t, TRUE);
}

static void draw_probe(TmTrainer *t);

static void do_set_probe(TmTrainer *t, const TmCommand *c) {
  t->session->at.probe_entry = c->entry;
  if (!t->session->parked) draw_probe(t);
}

static void do_set_probes(TmTrainer *t, const TmCommand *c) {
  t->session->n_kept = c->n_entries;
  memcpy(t->session->kept, c->entries, sizeof c->entries);
}

/* What a command does in the states in which commands are carried out; NULL: nothing. In PREPARING and
 * VALIDATING they wait. */
typedef void (*Action)(TmTrainer *t, const TmCommand *c);
/* clang-format off */
static const Action actions[TM_N_COMMANDS][2] = {
    /*                          TRAINING      PAUSED */
    [TM_COMMAND_PAUSE] =       {do_pause,     NULL},
    [TM_COMMAND_PARK] =        {do_park,      do_park},
    [TM_COMMAND_RESUME] =      {NULL,         do_resume},
    [TM_COMMAND_STEP] =        {do_step,      do_step},
    [TM_COMMAND_STOP] =        {do_stop,      do_stop},
    [TM_COMMAND_STOP_NOW] =    {do_stop_now,  do_stop_now},
    [TM_COMMAND_SAVE] =        {do_save,      do_save},
    [TM_COMMAND_CHANGE] =      {do_change,    do_change},
    [TM_COMMAND_SET_PROBE] =   {do_set_probe, do_set_probe},
    [TM_COMMAND_SET_PROBES] =  {do_set_probes, do_set_probes},
};
/* clang-format on */

/* Carries out what has come; while paused, waits for more. A stop that was asked for stands until a command
 * goes against it; stop_now is taken even then. */
static void obey(TmTrainer *t) {
  const TmFlow before = t->flow;
  for (;;) {
    const gboolean paused = t->state == TM_STATE_PAUSED;
    g_autoptr(TmCommand) c = paused ? g_async_queue_pop(t->commands) : g_async_queue_try_pop(t->commands);
    if (!c) return;
    const Action action = actions[c->kind][paused];
    if (action) action(t, c);
    if (t->one_step) return; /* what was asked for after the step comes after it */
    if (t->flow == TM_FLOW_FAIL || t->flow == TM_FLOW_STOP_NOW || (t->flow != before && !paused)) return;
    if (paused && c->kind == TM_COMMAND_STOP) return; /* tries to end again, though it stood so before */
  }
}

/* ---- the probe ---- */

static guint default_probe(const TmDataset *d) {
  guint train = G_MAXUINT;
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    const TmSplit split = tm_dataset_entry(d, i)->split;
    if (split == TM_SPLIT_VAL) return i;
    if (split == TM_SPLIT_TRAIN && train == G_MAXUINT) train = i;
  }
  return train;
}

static void draw_probe(TmTrainer *t) {
  TmSession *s = t->session;
  if (s->at.probe_entry >= tm_dataset_n(t->data)) s->at.probe_entry = default_probe(t->data);
  const gint64 begin = g_get_monotonic_time();
  g_autoptr(GError) e = NULL;
  TmProbe *p = tm_session_probe(s, s->at.probe_entry, &e);
  t->last_probe = g_get_monotonic_time();
  t->probe_cost = t->last_probe - begin;
  t->draw_s += (double)t->probe_cost * 1e-6;
  if (e && lost(e))
    tm_worker_fail(t, g_steal_pointer(&e));
  else if (e)
    tm_trainer_set_notice(t, e->message);
  if (!p) return;
  g_mutex_lock(&t->lock);
  TmProbe *old = t->probe;
  t->probe = p;
  g_mutex_unlock(&t->lock);
  tm_probe_free(old);
  tm_trainer_tell(t, TRUE);
}

static void keep_probes(TmTrainer *t) {
  g_autofree char *note = NULL;
  GError *e = NULL;
  if (!tm_session_keep_probes(t->session, &note, &e)) tm_worker_fail_softly(t, e);
  if (note) tm_trainer_set_notice(t, note);
}

static void draw_if_due(TmTrainer *t) {
  const gint64 wait = MAX((gint64)PROBE_EVERY, t->probe_cost * PROBE_SHARE);
  if (g_get_monotonic_time() - t->last_probe >= wait) draw_probe(t);
}

/* ---- a step ---- */

static void record_step(TmTrainer *t, const TmStepResult *r, guint64 number) {
  TmSession *s = t->session;
  const TmStepRow row = {.step = number,
                         .epoch = (float)((double)(tm_session_place(s) - 1) / s->steps),
                         .seconds = (float)s->at.seconds,
                         .loss = (float)r->loss,
                         .lr = (float)r->lr,
                         .grad_norm = (float)r->grad_norm,
                         .loss_scale = (float)r->loss_scale};
  g_mutex_lock(&t->lock);
  g_array_append_val(t->steps, row);
  t->snap.loss = r->loss;
  t->snap.lr = r->lr;
  t->snap.grad_norm = r->grad_norm;
  g_mutex_unlock(&t->lock);
  g_autoptr(GError) e = NULL;
  if (tm_run_add_step(s->run, &row, &e)) return;
  tm_trainer_set_notice(t, e->message); /* the disk is full: the same as for a checkpoint */
  tm_trainer_set_state(t, TM_STATE_PAUSED);
}

static void skipped(TmTrainer *t, const TmStepResult *r) {
  if (t->session->at.bad_row < BAD_ROW) return;
  tm_worker_fail(t, g_error_new(TM_ERROR, TM_ERROR_NON_FINITE,
                      _("%d steps in a row had to be left out. %s The last good checkpoint is kept: go on "
                        "from it with a lower learning rate."),
                      BAD_ROW, r->why));
}

static void was_split(TmTrainer *t, TmChange *made) {
  g_mutex_lock(&t->lock);
  t->snap.parts = (guint)t->session->settings->accumulate;
  g_mutex_unlock(&t->lock);
  tm_worker_took_effect(t, made);
}

static void one_step(TmTrainer *t) {
  TmSession *s = t->session;
  const gint64 begin = g_get_monotonic_time();
  const guint64 number = tm_session_total(s);
  TmStepResult r;
  GError *e = NULL;
  if (!tm_session_step(s, &r, &e)) {
    g_free(r.why);
    tm_change_free(r.made);
    tm_worker_fail(t, e);
    return;
  }
  t->done_here++;
  record_step(t, &r, number);
  if (r.why) tm_trainer_set_notice(t, r.why);
  if (r.made) was_split(t, r.made);
  if (r.skipped) skipped(t, &r);
  g_free(r.why);
  if (t->flow == TM_FLOW_FAIL) return;
  if (t->one_step)
    draw_probe(t); /* who steps by hand wants to see what it did */
  else
    draw_if_due(t);
  add_times(t, &r, (double)(g_get_monotonic_time() - begin) * 1e-6);
  tm_worker_publish(t);
  if (t->one_step) {
    t->one_step = FALSE;
    if (t->flow == TM_FLOW_GO) tm_trainer_set_state(t, TM_STATE_PAUSED);
  } else {
    tm_trainer_tell(t, FALSE);
  }
  if (g_get_monotonic_time() - t->last_save >= SAVE_EVERY && s->at.step < s->steps)
    save_or_pause(t, tm_session_save_last);
}

/* ---- validation ---- */

static void show_remark(TmTrainer *t, char *remark, guint unreadable) {
  if (unreadable) {
    g_autofree char *text = g_strdup_printf(ngettext("%u validation picture could not be read.",
                                                     "%u validation pictures could not be read.", unreadable),
                                            unreadable);
    tm_trainer_set_notice(t, text);
  } else if (g_strcmp0(remark, t->remark) != 0) {
    tm_trainer_set_notice(t, remark);
  }
  g_free(t->remark);
  t->remark = g_strdup(remark);
}

static gboolean record_epoch(TmTrainer *t, const TmScore *score, gboolean best, GError **error) {
  TmSession *s = t->session;
  const TmClassTable *table = tm_dataset_classes(s->data);
  g_autofree const char **names = g_new0(const char *, table->n + 1);
  g_autofree double *iou = g_new(double, table->n + 1);
  for (guint i = 0; i < table->n; i++) {
    names[i] = table->classes[i].name;
    iou[i] = score->confusion ? tm_confusion_iou(score->confusion, i) : NAN;
  }
  const guint64 total = tm_session_total(s);
  const TmEpochRow row = {.epoch = s->at.epoch,
                          .step = total ? total - 1
                                        : 0, /* the last one done: a resume at `total` keeps the row */
                          .seconds = (float)s->at.seconds,
                          .train_loss = s->at.loss_n ? (float)(s->at.loss_sum / s->at.loss_n) : NAN,
                          .val_loss = (float)score->loss,
                          .miou = (float)score->miou,
                          .accuracy = (float)score->accuracy,
                          .best = best,
                          .times = tm_step_sum_mean(&t->epoch_times)};
  g_mutex_lock(&t->lock);
  g_array_append_val(t->epochs, row);
  g_mutex_unlock(&t->lock);
  return tm_run_add_epoch(s->run, &row, table->n, names, iou, error);
}

/* Is this epoch's end one after which the net is validated? Always where the run ends or is stopped. */
static gboolean validation_due(TmTrainer *t) {
  const TmSession *s = t->session;
  const guint done = s->at.epoch + 1;
  return t->flow != TM_FLOW_GO || done % (guint)s->settings->validate_every == 0 ||
         done >= (guint)s->settings->epochs;
}

/* Validation with the weights that are judged, where it is due, and the probe as they see it. FALSE when it
 * was cut short or failed. */
static gboolean score_and_draw(TmTrainer *t, gboolean due, TmScore *score) {
  TmSession *s = t->session;
  GError *e = NULL, *back = NULL;
  tm_trainer_set_state(t, TM_STATE_VALIDATING);
  const gboolean ok = tm_session_judged_begin(s, &e) && (!due || tm_session_validate(s, score, &e));
  if (ok) {
    draw_probe(t);
    keep_probes(t);
  }
  t->draw_s = 0; /* belongs to no step */
  if (!ok && !g_error_matches(e, TM_ERROR, TM_ERROR_CANCELLED)) tm_worker_fail(t, g_steal_pointer(&e));
  g_clear_error(&e);
  /* Of a lost device nothing more may be asked. */
  if (t->flow != TM_FLOW_FAIL && !tm_session_judged_end(s, &back))
    tm_worker_fail(t, back); /* the weights are not where they belong: nothing can follow */
  if (t->flow == TM_FLOW_FAIL) return FALSE;
  tm_trainer_set_state(t, TM_STATE_TRAINING);
  return ok;
}

/* Is it the best so far, @epochs after the last score? Never when a number is missing: a comparison with NaN
 * decides nothing. */
static gboolean take_best(TmSession *s, guint epochs, const TmScore *score) {
  const gboolean usable = isfinite(score->miou) && isfinite(score->loss) && s->at.bad_row == 0;
  const gboolean best = usable && (isnan(s->at.best_miou) || score->miou > s->at.best_miou);
  if (best) {
    s->at.best_miou = score->miou;
    s->at.best_epoch = s->at.epoch;
    s->at.since_best = 0;
  } else if (s->at.step == s->steps) {
    s->at.since_best += epochs;
  }
  return best;
}

/* Scores where it is due, records, keeps the best. FALSE when cut short: the position is as before, and it
 * can be done again.
 */
static gboolean judge(TmTrainer *t) {
  TmSession *s = t->session;
  g_auto(TmScore) score = {.loss = NAN, .miou = NAN, .accuracy = NAN};
  g_autoptr(GError) e = NULL;
  const TmPosition before = s->at;
  const gboolean due = validation_due(t);
  const gint64 begin = g_get_monotonic_time();
  if (!score_and_draw(t, due, &score)) return FALSE;
  gboolean best = FALSE;
  if (due) {
    t->validation_s = (double)(g_get_monotonic_time() - begin) * 1e-6;
    t->val_loss = score.loss;
    t->val_miou = score.miou;
    best = take_best(s, (guint)s->settings->validate_every, &score);
    t->validated_at = tm_session_total(s);
    show_remark(t, score.remark, score.unreadable);
  }
  if (!record_epoch(t, &score, best, &e))
    tm_trainer_set_notice(t, e->message); /* the checkpoint that follows pauses if the disk is full */
  tm_worker_publish(t);
  if (!best || save_or_pause(t, tm_session_save_best)) return TRUE;
  s->at = before;
  return FALSE;
}

static void end_epoch(TmTrainer *t) {
  TmSession *s = t->session;
  if (!judge(t)) return;
  s->at.epoch++;
  s->at.step = 0;
  s->at.loss_sum = 0;
  s->at.loss_n = 0;
  t->epoch_times = (TmStepSum){0};
  tm_worker_publish(t);
  save_or_pause(t, tm_session_save_last);
}

/* ---- the run ---- */

static gboolean finished(TmTrainer *t) {
  const TmPosition *p = &t->session->at;
  const TmSettings *o = t->session->settings;
  if ((int)p->epoch >= o->epochs) return TRUE;
  if (o->stop_after == 0 || p->since_best < (guint)o->stop_after || isnan(p->best_miou))
    return FALSE;
  g_autofree char *text = g_strdup_printf(ngettext("Stopped early: no gain for %u epoch.",
                                                   "Stopped early: no gain for %u epochs.", p->since_best),
                                          p->since_best);
  tm_trainer_set_notice(t, text);
  return TRUE;
}

static void train(TmTrainer *t) {
  TmSession *s = t->session;
  while (t->flow == TM_FLOW_GO) {
    obey(t);
    if (t->flow == TM_FLOW_GO) tm_worker_change_waiting(t);
    if (t->flow == TM_FLOW_GO) tm_worker_replay(t);
    if (t->flow != TM_FLOW_GO) break;
    if (finished(t))
      t->flow = TM_FLOW_FINISH;
    else if (s->at.step >= s->steps)
      end_epoch(t);
    else
      one_step(t);
  }
  if (t->flow == TM_FLOW_STOP && t->done_here > 0) {
    if (t->validated_at != tm_session_total(s) && tm_worker_take_device(t)) {
      if (s->at.step >= s->steps)
        end_epoch(t);
      else
        judge(t);
    }
    save_or_pause(t, tm_session_save_last);
  }
}

static void finish(TmTrainer *t) {
  TmTrainerState end = t->flow == TM_FLOW_FINISH ? TM_STATE_FINISHED
                       : t->flow == TM_FLOW_FAIL ? TM_STATE_FAILED
                                                 : TM_STATE_STOPPED;
  g_autoptr(GError) e = NULL;
  if (t->flow == TM_FLOW_STOP_NOW && t->save_at_end && !tm_session_save_last(t->session, &e)) {
    if (not_finite(e))
      tm_trainer_set_notice(t, e->message);
    else {
      tm_worker_fail(t, g_steal_pointer(&e));
      end = TM_STATE_FAILED;
    }
    g_clear_error(&e);
  }
  if (t->session) {
    static const char *const names[] = {
        [TM_STATE_FINISHED] = "finished", [TM_STATE_STOPPED] = "stopped", [TM_STATE_FAILED] = "failed"};
    const char *name = t->snap.lost ? "interrupted" : names[end];
    if (!tm_session_write_info(t->session, name, &e)) tm_trainer_set_notice(t, e->message);
    tm_worker_publish(t);
    tm_session_close(t->session);
    t->session = NULL;
  }
  g_free(t->remark);
  t->remark = NULL;
  tm_trainer_set_activity(t, NULL);
  tm_trainer_set_state(t, end);
}

static void show_activity(const char *sentence, gpointer user) {
  tm_trainer_set_activity(user, sentence);
}

static gboolean open_session(TmTrainer *t) {
  g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(TmStepRow)),
                    epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  const TmSessionPlan plan = {.data = t->data,
                              .scan = t->has_scan ? &t->scan : NULL,
                              .settings = &t->settings,
                              .run_dir = t->run_dir,
                              .resume = t->resume,
                              .cancel = &t->abort,
                              .activity = show_activity,
                              .user = t,
                              .step_rows = steps,
                              .epoch_rows = epochs};
  GError *e = NULL;
  t->session = tm_session_open(&plan, &e);
  if (!t->session) {
    if (g_error_matches(e, TM_ERROR, TM_ERROR_CANCELLED)) {
      t->flow = TM_FLOW_STOP;
      g_error_free(e);
    } else {
      tm_worker_fail(t, e);
    }
    return FALSE;
  }
  GPtrArray *changes = tm_run_read_changes(t->run_dir); /* of a new run: the batch was split at once */
  g_mutex_lock(&t->lock);
  if (changes) g_ptr_array_extend_and_steal(t->changes, changes);
  t->snap.n_changes = t->changes->len;
  if (steps->len) g_array_append_vals(t->steps, steps->data, steps->len);
  if (epochs->len) {
    g_array_append_vals(t->epochs, epochs->data, epochs->len);
    const TmEpochRow *last = &g_array_index(epochs, TmEpochRow, epochs->len - 1);
    t->val_loss = last->val_loss;
    t->val_miou = last->miou;
  }
  g_mutex_unlock(&t->lock);
  return TRUE;
}

gpointer tm_trainer_thread(gpointer trainer) {
  TmTrainer *t = trainer;
  t->self = g_thread_self();
  tm_trainer_set_state(t, TM_STATE_PREPARING);
  if (open_session(t)) {
    publish_device(t);
    tm_worker_publish(t);
    if (t->session->note) tm_trainer_set_notice(t, t->session->note);
    tm_trainer_set_activity(t, NULL);
    tm_trainer_set_state(t, TM_STATE_TRAINING);
    /* A run has a checkpoint from its first moment: a full disk shows now, and whatever happens it can be
     * resumed. */
    if (!t->resume)
      save_or_pause(t, tm_session_save_last);
    else
      saved(t);
    t->last_save = g_get_monotonic_time();
    if (t->flow == TM_FLOW_GO) draw_probe(t);
    train(t);
  }
  finish(t);
  return NULL;
}
