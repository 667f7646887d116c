/* run_source.h: where a run's pictures come from: the folder, or the demo roads and how they were drawn. Kept
 * beside run.json in data.json, so that evaluate and --resume need only the run. */
#pragma once

#include "engine/data/dataset.h"

typedef struct {
  char *path;               /* absolute, or "demo"; owned */
  TmDatasetOptions options; /* classes unset */
} TmRunSource;

void tm_run_source_clear(TmRunSource *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmRunSource, tm_run_source_clear)

/** @given: what the user wrote; paths are made absolute. */
void tm_run_source_set(TmRunSource *s, const char *given);
gboolean tm_run_source_write(const TmRunSource *s, const char *run, GError **error);
/** Reads data.json, else the path in run.json (runs of the studio). @run may be a run's folder or a
 * checkpoint in its checkpoints/. TM_ERROR_FILE says to name the folder when neither tells. */
gboolean tm_run_source_read(TmRunSource *s, const char *run, GError **error);
/** The run folder that @path, itself one or a checkpoint file in it, belongs to. Free it. */
char *tm_run_source_folder(const char *path);
