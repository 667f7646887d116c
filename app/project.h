/* project.h: the project that is open: its dataset, with what a person changed about it, opened and scanned on a thread, with progress, and
 * told by one signal. Every change is kept at once in the project's file and can be taken back. Main thread. */
#pragma once

#include <gio/gio.h>

#include "engine/data/scan_issues.h"
#include "engine/run/project_file.h"

#define TM_TYPE_PROJECT (tm_project_get_type())
G_DECLARE_FINAL_TYPE(TmProject, tm_project, TM, PROJECT, GObject)

typedef enum {
  TM_PROJECT_EMPTY,
  TM_PROJECT_OPENING,
  TM_PROJECT_SCANNING,
  TM_PROJECT_READY,
  TM_PROJECT_FAILED
} TmProjectState;

/* Signals: "changed": any of the getters below gives something else; while scanning at most ten times a second. "amended" (const char *sentence): a
 * person changed the project, which tm_project_undo() takes back. "trouble" (const char *sentence): the project could not be kept. */
TmProject *tm_project_new(void);
/** Opens @path ("demo": the demo roads); what was open stays until the new one is. @options NULL: as the project has them; its classes are
 * not taken. */
void tm_project_open(TmProject *p, const char *path, const TmDatasetOptions *options);
/** Nothing is open any more. */
void tm_project_close(TmProject *p);
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

/** NULL until one is open. Owned by the project, until the next change. */
const TmProjectFile *tm_project_file(TmProject *p);
/** The dataset as it lies in its folder, without what the project changed. NULL until one is open. */
TmDataset *tm_project_base(TmProject *p);
/** What is wrong with it, TmIssue*; NULL until scanned. Owned by the project. */
GPtrArray *tm_project_issues(TmProject *p);
/** Which pictures look alike; NULL until scanned. */
const TmAlikeness *tm_project_alike(TmProject *p);
/** Takes @next, keeps it, and applies it to the dataset. @sentence, in the past tense, is told with a way back. */
void tm_project_amend(TmProject *p, TmAmend *next, const char *sentence);
/** A copy of what the project changes, to be changed and given to tm_project_amend(). NULL until one is open. */
TmAmend *tm_project_amendment(TmProject *p);
/** Takes the last change back. FALSE when there is none. */
gboolean tm_project_undo(TmProject *p);
