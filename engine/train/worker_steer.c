/* worker_steer.c: the trainer's thread when a run is changed on its way, made again, or waits without its device. */
#include <glib/gi18n.h>
#include <string.h>

#include "engine/train/trainer-private.h"

static void told(TmTrainer *t) {
  tm_worker_publish(t);
  tm_trainer_tell(t, TRUE);
}

/* ---- changes ---- */

void tm_worker_took_effect(TmTrainer *t, TmChange *made) {
  if (!made) return;
  g_mutex_lock(&t->lock);
  g_ptr_array_add(t->changes, made);
  t->snap.n_changes = t->changes->len;
  g_mutex_unlock(&t->lock);
}

void tm_worker_change(TmTrainer *t, const char *key, const char *to, gboolean undo) {
  GError *e = NULL;
  TmChange *made = NULL;
  if (!tm_session_change(t->session, key, to, undo, &made, &e)) tm_worker_fail_softly(t, e);
  tm_worker_took_effect(t, made);
  told(t);
}

void tm_worker_change_waiting(TmTrainer *t) {
  GError *e = NULL;
  TmChange *made = NULL;
  if (!tm_session_change_waiting(t->session, &made, &e)) tm_worker_fail_softly(t, e);
  tm_worker_took_effect(t, made);
}

/* A batch changes between two epochs: the old one's end comes first. */
void tm_worker_replay(TmTrainer *t) {
  TmSession *s = t->session;
  const guint64 now = tm_session_total(s);
  for (; t->replay && t->replayed < t->replay->len && t->flow == TM_FLOW_GO; t->replayed++) {
    const TmChange *c = t->replay->pdata[t->replayed];
    if (c->step > now || (s->at.step == s->steps && strcmp(c->key, "batch") == 0)) return;
    GError *e = NULL;
    TmChange *made = NULL;
    if (!tm_session_change(s, c->key, c->to, c->undo, &made, &e)) tm_worker_fail(t, e);
    tm_worker_took_effect(t, made);
  }
  if (t->until && now >= t->until && t->flow == TM_FLOW_GO) t->flow = TM_FLOW_STOP;
}

/* ---- the device ---- */

void tm_worker_give_device(TmTrainer *t) {
  GError *e = NULL;
  if (!tm_session_park(t->session, &e)) tm_worker_fail_softly(t, e);
  told(t);
}

gboolean tm_worker_take_device(TmTrainer *t) {
  g_autoptr(GError) e = NULL;
  if (!t->session->parked) return TRUE;
  tm_trainer_set_activity(t, _("Taking the device again"));
  const gboolean ok = tm_session_unpark(t->session, &e);
  if (!ok) tm_trainer_set_notice(t, e->message);
  tm_trainer_set_activity(t, NULL);
  told(t);
  return ok;
}
