/* run_dir.h: a run's folder: run.json, history.csv, steps.csv, a TensorBoard event file, checkpoints/, steering.jsonl, probes/.
 *
 * Checkpoints: checkpoints/last.safetensors (to resume), checkpoints/previous.safetensors (the one before, should last be damaged), checkpoints/best.safetensors.
 * Owned by one thread at a time (the trainer while it runs). */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/run/checkpoint.h"
#include "engine/run/history.h"

typedef struct _TmRunDir TmRunDir;

/** Where runs of a dataset go when the user names no folder: $XDG_DATA_HOME/tarmac/projects/<title>-<hash>/runs. Free it. */
char *tm_run_default_root(const char *dataset_path, const char *title);
/** A new folder <root>/<name> (name NULL: "run-YYYY-MM-DD-HHMMSS"; a number is added while it exists), made with its subfolders. Free the path. */
char *tm_run_create(const char *root, const char *name, GError **error);

/** Opens an existing run folder to write. When it has history from after @resume_step (rows with step >= it), that is cut away, and
 * a new event file is begun with a SessionLog START that purges from there. @resume_step 0 starts afresh. */
TmRunDir *tm_run_open(const char *path, guint64 resume_step, GError **error);
/** Flushes and closes. */
void tm_run_close(TmRunDir *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmRunDir, tm_run_close)
const char *tm_run_path(const TmRunDir *r);

/** Writes run.json atomically; NaN and infinity become null. */
gboolean tm_run_write_info(TmRunDir *r, JsonNode *info, GError **error);
JsonNode *tm_run_read_info(const char *path, GError **error);

/** Appends to steps.csv and the event file ("loss/train", "lr", "grad_norm", in f16 "loss_scale"); buffered. */
gboolean tm_run_add_step(TmRunDir *r, const TmStepRow *row, GError **error);
/** Appends to history.csv and the event file ("loss/validation", "miou", "accuracy", "seconds/<part of a step>", "iou/<class>"); flushes everything. @iou has n_classes, NAN for n/a. */
gboolean tm_run_add_epoch(TmRunDir *r, const TmEpochRow *row, guint n_classes, const char *const *names, const double *iou, GError **error);
gboolean tm_run_flush(TmRunDir *r, GError **error);
/** Appends one line to steering.jsonl: {"step":…, "time":…, …}. Takes @change. */
gboolean tm_run_add_change(TmRunDir *r, JsonObject *change, GError **error);
/** Reads the rows back (a cut last line is dropped). @steps NULL: the epochs only. */
gboolean tm_run_read_history(const char *path, GArray *steps /* TmStepRow */, GArray *epochs /* TmEpochRow */, GError **error);

/** Rotates last to previous, then writes. */
gboolean tm_run_write_last(TmRunDir *r, TmCheckpoint *c, GError **error);
gboolean tm_run_write_best(TmRunDir *r, TmCheckpoint *c, GError **error);
/** The newest whole checkpoint to resume from: last, else previous (then @note says so; free it). */
TmCheckpoint *tm_run_read_last(const char *path, char **note, GError **error);
/** Path of the checkpoint to use a run's net by: best, else last. @path may be a run folder or a file. Free it. */
char *tm_run_best_path(const char *path, GError **error);
/** probes/<name>-epoch-NNNN.png: an index PNG with palette; see probe_files.h. */
gboolean tm_run_write_probe(TmRunDir *r, const char *name, guint epoch, const guint8 *labels, int w, int h, const guint32 *palette, guint n, GError **error);
