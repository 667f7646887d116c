/* project.h: the dataset that is open: opened and scanned on a thread, with progress, and told by one signal.
 * Main thread. */
#pragma once

#include <gio/gio.h>

#include "engine/data/scan.h"

#define TM_TYPE_PROJECT (tm_project_get_type())
G_DECLARE_FINAL_TYPE(TmProject, tm_project, TM, PROJECT, GObject)

typedef enum {
  TM_PROJECT_EMPTY,
  TM_PROJECT_OPENING,
  TM_PROJECT_SCANNING,
  TM_PROJECT_READY,
  TM_PROJECT_FAILED
} TmProjectState;

/* Signal "changed": any of the getters below gives something else; while scanning at most ten times a second.
 */
TmProject *tm_project_new(void);
/** Opens @path ("demo": the demo roads); what was open stays until the new one is. @options may be NULL; its
 * classes are not taken. */
void tm_project_open(TmProject *p, const char *path, const TmDatasetOptions *options);
/** Scans once more. */
void tm_project_rescan(TmProject *p);
/** Ends the scan; what it found so far is dropped, the dataset can be trained on (the trainer scans then). */
void tm_project_cancel(TmProject *p);

TmProjectState tm_project_state(TmProject *p);
/** NULL until one is open. Owned by the project. */
TmDataset *tm_project_dataset(TmProject *p);
/** NULL until scanned. Owned by the project. */
const TmScan *tm_project_scan(TmProject *p);
void tm_project_progress(TmProject *p, guint *done, guint *total);
/** Why opening or scanning failed; NULL otherwise. */
const char *tm_project_error(TmProject *p);
/** The path last asked for. */
const char *tm_project_path(TmProject *p);
