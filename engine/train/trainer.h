/* trainer.h: trains a net on a dataset on its own thread, steered by commands, watched through snapshots.
 *
 *   idle -> preparing -> training <-> paused
 *                        training -> validating -> training
 *                        any -> stopping -> finished | stopped | failed
 *
 * The trainer thread owns the backend, the programs, the optimizer's state and all checkpoint writing. Commands go in through a queue and act between
 * two steps; what happens comes out as one latest snapshot and a growing history. */
#pragma once

#include "engine/backend/backend.h"
#include "engine/data/dataset.h"
#include "engine/data/scan.h"
#include "engine/run/change.h"
#include "engine/run/history.h"
#include "engine/train/metrics.h"
#include "engine/train/settings.h"

typedef enum {
  TM_STATE_IDLE,
  TM_STATE_PREPARING,
  TM_STATE_TRAINING,
  TM_STATE_PAUSED,
  TM_STATE_VALIDATING,
  TM_STATE_FINISHED, /* ran to its end, or early stopping */
  TM_STATE_STOPPED,  /* by a command */
  TM_STATE_FAILED, /* snapshot.lost: because the device was lost */
} TmTrainerState;

typedef struct _TmTrainer TmTrainer;

enum { TM_MAX_PROBES = 12 };

/* The probe picture as the net sees it now. All host memory, w*h. */
typedef struct {
  guint entry;       /* in the dataset */
  guint epoch, step; /* when the mask was predicted */
  int w, h;
  guint8 *rgb, *labels, *truth; /* truth may be NULL */
  double miou, wrong; /* mean IoU of this picture; share of judged pixels that are wrong; NAN without truth */
  TmVisible *visible; /* where the device has it, for the screen; NULL: it does not */
  guint64 picture;    /* its number there */
} TmProbe;

/* A copy of where the run stands. */
typedef struct {
  TmTrainerState state;
  guint epoch, epochs;      /* epoch under way from 0 */
  guint step, steps;        /* in the epoch; batches an epoch */
  guint64 total_step;       /* optimizer steps done in all, from 0 */
  double share;             /* of the run that is done, 0 to 1 */
  double loss, smooth_loss; /* last step; NAN before the first */
  double lr, grad_norm;
  double lr_factor;         /* what the schedule's rate is multiplied with */
  TmSettings settings;      /* as steered so far */
  int next_batch;           /* from the next epoch on; 0: stays */
  guint n_changes;          /* what tm_trainer_changes() has */
  gboolean parked;          /* paused, and the device is given back */
  double val_loss, val_miou, best_miou; /* NAN before the first validation */
  guint best_epoch;
  guint skipped;            /* non-finite steps left out so far */
  guint replaced;           /* pictures that could not be read, so that others stood in for them, so far */
  double seconds;           /* of training, pauses left out */
  double seconds_left;      /* NAN until it can be told */
  double images_per_s;
  TmStepTimes times;        /* of the last 50 steps */
  TmStepTimes run_times;    /* of all steps since start */
  gsize memory;             /* bytes the programs and optimizer hold on the device */
  char *activity;           /* "Building the network", a sentence for preparing; may be NULL */
  char *error;              /* the reason when failed; NULL otherwise */
  gboolean lost;            /* failed because the device does not answer any more: the run can go on elsewhere from its last checkpoint */
  guint parts;              /* in which a batch is computed since memory ran out in this run; 0: it did not */
  char *notice;             /* last thing worth telling: "Step 412 was skipped: the gradient is not finite." or NULL */
  TmDType precision;
  char *device;             /* "cpu: AMD EPYC, 2 threads, AVX512-BF16" */
  char *device_uuid;        /* of the GPU it runs on; NULL on a processor */
  char *run_dir;
} TmSnapshot;

/** Makes a trainer in state idle. @run_dir: an existing empty or new folder for the run, or one with a checkpoint when @resume. Settings are copied. @scan may be
 * NULL: then the trainer scans first. Any thread. */
TmTrainer *tm_trainer_new(TmDataset *d, const TmScan *scan, const TmSettings *s, const char *run_dir, gboolean resume, GError **error);
/** Stops at once if it runs, joins the thread. No callback comes after it returns. */
void tm_trainer_free(TmTrainer *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmTrainer, tm_trainer_free)

/** Called on the trainer's thread whenever there is a new snapshot, at most 30 times a second, and at every change of state. Set before start.
 * A window's callback only schedules one main-loop callback, if none is pending. */
typedef void (*TmTrainerNotify)(TmTrainer *t, gpointer user);
void tm_trainer_set_notify(TmTrainer *t, TmTrainerNotify notify, gpointer user);

/* Commands. Any thread; they return at once. A command that makes no sense in the present state does nothing. */
void tm_trainer_start(TmTrainer *t);
void tm_trainer_pause(TmTrainer *t);
void tm_trainer_park(TmTrainer *t);                 /* pauses and gives the device back; going on takes it again */
void tm_trainer_resume(TmTrainer *t);
void tm_trainer_step(TmTrainer *t);                 /* one optimizer step, then paused */
void tm_trainer_stop(TmTrainer *t);                 /* validate, save, keep the best: finished as stopped */
void tm_trainer_stop_now(TmTrainer *t, gboolean save); /* within one step; @save writes a checkpoint to resume from */
void tm_trainer_save(TmTrainer *t);                 /* a checkpoint now */
void tm_trainer_set_lr(TmTrainer *t, double factor); /* tm_trainer_change() of TM_RATE_FACTOR */
/** Sets one of the steerable settings (steer.h) from the next step on, a batch from the next epoch on; kept in steering.jsonl. What
 * cannot be is told as the notice. */
void tm_trainer_change(TmTrainer *t, const char *key, const char *to, gboolean undo);
/** Before the start: makes the run again that had these changes (TmChange, copied); it stops where that one did, after @until
 * steps (0: at its end). A change that cannot be made again ends the run with the reason. */
void tm_trainer_set_replay(TmTrainer *t, const GPtrArray *changes, guint64 until);
void tm_trainer_set_probe(TmTrainer *t, guint entry);
/** The pictures whose masks are kept in the run folder at every epoch, at most TM_MAX_PROBES; those of tm_probes_default() else. */
void tm_trainer_set_probes(TmTrainer *t, const guint *entries, guint n);
/** Up to six pictures, evenly over the val split, or over the train split where there is none; returns how many. Any thread. */
guint tm_probes_default(TmDataset *d, guint out[TM_MAX_PROBES]);

/* Reading. Any thread; copies. */
TmTrainerState tm_trainer_state(TmTrainer *t);
void tm_trainer_snapshot(TmTrainer *t, TmSnapshot *out);
void tm_snapshot_clear(TmSnapshot *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmSnapshot, tm_snapshot_clear)
/** The latest probe if newer than (@epoch, @step) of the last one seen, else NULL. Free with tm_probe_free(). */
TmProbe *tm_trainer_probe(TmTrainer *t, const TmProbe *last);
void tm_probe_free(TmProbe *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmProbe, tm_probe_free)
/** Copies history rows from @from on into @out (cleared first); returns the number of rows there are. */
guint tm_trainer_steps(TmTrainer *t, guint from, GArray *out /* TmStepRow */);
guint tm_trainer_epochs(TmTrainer *t, guint from, GArray *out /* TmEpochRow */);
/** Changes from number @from on, those of a resumed run's past first; free with g_ptr_array_unref(). */
GPtrArray *tm_trainer_changes(TmTrainer *t, guint from);
/** As given; the snapshot has those in force. */
const TmSettings *tm_trainer_settings(TmTrainer *t);
/** The settings of the run at @run_dir: with which it goes on, or with which it began. */
gboolean tm_run_settings(const char *run_dir, gboolean begun, TmSettings *out, GError **error);
/** Blocks until the state is finished, stopped or failed; the reason in @error when failed. For the command line. */
gboolean tm_trainer_wait(TmTrainer *t, GError **error);
const char *tm_trainer_state_name(TmTrainerState s); /* N_() */
