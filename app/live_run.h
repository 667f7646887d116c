/* live_run.h: a run as the window sees it: a trainer made on a thread, its latest snapshot and probe read on
 * the main thread after at most one pending callback, and commands passed on. Ends without blocking. Main
 * thread. */
#pragma once

#include <gio/gio.h>

#include "engine/train/trainer.h"

#define TM_TYPE_LIVE_RUN (tm_live_run_get_type())
G_DECLARE_FINAL_TYPE(TmLiveRun, tm_live_run, TM, LIVE_RUN, GObject)

typedef enum {
  TM_RUN_START,
  TM_RUN_PAUSE,
  TM_RUN_PARK, /* pauses and gives the device back */
  TM_RUN_RESUME,
  TM_RUN_STEP,
  TM_RUN_STOP,      /* validate, save, keep the best */
  TM_RUN_STOP_SAVE, /* at once, with a checkpoint to go on from */
  TM_RUN_STOP_NOW,  /* at once, without */
  TM_RUN_SAVE,
} TmRunCommand;

/* Signal "changed": there is a new snapshot, new rows, or a new probe. */
/** Begins making the trainer. @scan may be NULL; it is copied. @run_dir NULL: a new folder under the
 * dataset's runs; else the run there goes on. */
TmLiveRun *tm_live_run_new(TmDataset *d, const TmScan *scan, const TmSettings *s, const char *run_dir);
/** A run that has ended, as its folder tells of it: never alive, commands do nothing. "changed" comes when it has been read. */
TmLiveRun *tm_live_run_new_past(TmDataset *d, const char *run_dir);
/** Commands before the trainer is made wait for it. */
void tm_live_run_command(TmLiveRun *r, TmRunCommand c);
/** Sets a steerable setting; see tm_trainer_change(). */
void tm_live_run_change(TmLiveRun *r, const char *key, const char *to, gboolean undo);
/** All changes (TmChange), those of a resumed run's past first. Free with g_ptr_array_unref(). */
GPtrArray *tm_live_run_changes(TmLiveRun *r);
void tm_live_run_set_probe(TmLiveRun *r, guint entry);
/** See tm_trainer_set_probes(). */
void tm_live_run_set_probes(TmLiveRun *r, const guint *entries, guint n);

/** Never NULL; state IDLE or PREPARING until the trainer is made, FAILED with the reason when it could not
 * be. */
const TmSnapshot *tm_live_run_snapshot(TmLiveRun *r);
/** The newest probe, or NULL. Owned by the run. */
const TmProbe *tm_live_run_probe(TmLiveRun *r);
/** Counts the probes that came; 0: none yet. */
guint tm_live_run_probe_serial(TmLiveRun *r);
/** Rows since the last call; free with g_array_unref(). */
GArray *tm_live_run_take_steps(TmLiveRun *r);
GArray *tm_live_run_take_epochs(TmLiveRun *r);
const TmSettings *tm_live_run_settings(TmLiveRun *r);
TmDataset *tm_live_run_dataset(TmLiveRun *r);
/** The folder's name: "run-2025-01-15-142233"; NULL before it exists. */
const char *tm_live_run_name(TmLiveRun *r);
const char *tm_live_run_folder(TmLiveRun *r);
/** Was it made by tm_live_run_new_past()? */
gboolean tm_live_run_is_past(TmLiveRun *r);
/** TRUE from the start to the end, pauses included. */
gboolean tm_live_run_alive(TmLiveRun *r);
