/* trainer-private.h: the trainer's inside, shared by trainer.c (what other threads call) and worker.c (its
 * thread).
 *
 * Invariants:
 *  1. `snap`, `probe`, `steps`, `epochs`, `changes` are touched under `lock` only; everything marked "thread" by the
 * trainer's thread only, or before it starts.
 *  2. The state goes back to nothing: after FINISHED, STOPPED or FAILED no field of the snapshot changes and
 * no callback comes.
 *  3. A command is carried out between two steps, in the order of the calls; `abort` only makes what is under
 * way end sooner.
 *
 *      start             opened            pause, one step done, disk full
 *  IDLE ----> PREPARING ----> TRAINING <-----------------------------------> PAUSED
 *                 |            |   ^ epoch's end       resume, step            |
 *                 |            v   |                                           |
 *                 |          VALIDATING                                        |
 *                 +------------+--------- stop, stop_now, end, failure --------+----> FINISHED | STOPPED |
 * FAILED
 */
#pragma once

#include "engine/train/session.h"
#include "engine/train/step_times.h"

typedef enum {
  TM_COMMAND_PAUSE,
  TM_COMMAND_PARK,
  TM_COMMAND_RESUME,
  TM_COMMAND_STEP,
  TM_COMMAND_STOP,
  TM_COMMAND_STOP_NOW,
  TM_COMMAND_SAVE,
  TM_COMMAND_CHANGE,
  TM_COMMAND_SET_PROBE,
  TM_COMMAND_SET_PROBES,
  TM_N_COMMANDS,
} TmCommandKind;

typedef struct {
  TmCommandKind kind;
  char *key, *to; /* CHANGE; owned */
  gboolean undo;  /* CHANGE */
  guint entry;    /* SET_PROBE */
  guint entries[TM_MAX_PROBES], n_entries; /* SET_PROBES */
  gboolean save;  /* STOP_NOW */
} TmCommand;

static inline void tm_command_free(TmCommand *c) {
  if (!c) return;
  g_free(c->key);
  g_free(c->to);
  g_free(c);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmCommand, tm_command_free)

/* How the thread leaves its loop. */
typedef enum { TM_FLOW_GO, TM_FLOW_STOP, TM_FLOW_STOP_NOW, TM_FLOW_FINISH, TM_FLOW_FAIL } TmFlow;

enum { TM_TIMED_STEPS = 50 };

struct _TmTrainer {
  TmDataset *data;
  TmScan scan; /* copy of the numbers; findings NULL */
  gboolean has_scan, resume;
  TmSettings settings;
  char *run_dir;
  TmTrainerNotify notify;
  gpointer notify_user;
  GThread *thread;       /* the owner's calls; NULL before start */
  GAsyncQueue *commands; /* TmCommand */
  gint abort;            /* atomic: end long work early */

  GMutex lock;
  GCond ended;
  TmSnapshot snap;
  TmProbe *probe;
  GArray *steps, *epochs;
  GPtrArray *changes; /* TmChange */

  GPtrArray *replay; /* TmChange to make again; set before the start, the thread's from there on; NULL: none */
  guint replayed;    /* of them */
  guint64 until;     /* steps after which a replay stops; 0: none */

  /* thread */
  GThread *self;
  TmSession *session;
  TmFlow flow;
  TmTrainerState state; /* as in snap */
  gboolean save_at_end; /* after STOP_NOW */
  gboolean one_step;
  GError *failure;
  double val_loss, val_miou;
  char *remark;         /* of the last validation, while it is the notice */
  guint64 validated_at; /* total step of the last validation; G_MAXUINT64: none */
  guint64 done_here;    /* steps since this thread began */
  TmStepTimes times[TM_TIMED_STEPS];
  guint n_times;                             /* ever added */
  TmStepSum epoch_times, run_times;          /* of this epoch's steps, of this thread's */
  double validation_s;                       /* of the last one */
  gint64 last_notify, last_save, last_probe; /* monotonic, microseconds */
  gint64 probe_cost;
  guint64 saved_at; /* total step of the last checkpoint; G_MAXUINT64: there is none */
  guint saved_epoch, saved_step;
  double draw_s; /* of the probe in the step under way */
};

gpointer tm_trainer_thread(gpointer trainer);

/* worker.c. Thread. */
/** Ends the run with @error (taken). A lost device leaves the checkpoint, which the reason then names. */
void tm_worker_fail(TmTrainer *t, GError *error);
/** What leaves the run as it was is only told; a lost device ends it. Takes @error. */
void tm_worker_fail_softly(TmTrainer *t, GError *error);
/** Copies where the session stands into the snapshot. */
void tm_worker_publish(TmTrainer *t);

/* worker_steer.c. Thread. */
/** Adds @made (taken; NULL does nothing) to the run's changes. */
void tm_worker_took_effect(TmTrainer *t, TmChange *made);
void tm_worker_change(TmTrainer *t, const char *key, const char *to, gboolean undo);
/** Makes the change that waited for an epoch's beginning, if this is one. */
void tm_worker_change_waiting(TmTrainer *t);
/** Makes the changes that are due of the run that is made again, and stops where it did. */
void tm_worker_replay(TmTrainer *t);
void tm_worker_give_device(TmTrainer *t);
/** FALSE: it cannot be had at present, and the notice says why. */
gboolean tm_worker_take_device(TmTrainer *t);

/** Puts the new state out and calls the callback. Thread. */
void tm_trainer_set_state(TmTrainer *t, TmTrainerState state);
void tm_trainer_set_notice(TmTrainer *t, const char *notice);
void tm_trainer_set_activity(TmTrainer *t, const char *activity);
/** Calls the callback if 1/30 s has passed since the last time, or @always. Thread; not under the lock. */
void tm_trainer_tell(TmTrainer *t, gboolean always);
