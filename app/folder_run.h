/* folder_run.h: a folder job as the window sees it: told on the main thread after at most one pending callback, and ended
 * without blocking. Main thread. */
#pragma once

#include <gio/gio.h>

#include "engine/predict/folder_job.h"

#define TM_TYPE_FOLDER_RUN (tm_folder_run_get_type())
G_DECLARE_FINAL_TYPE(TmFolderRun, tm_folder_run, TM, FOLDER_RUN, GObject)

/* Signal "changed": the job's snapshot, pictures or errors changed. */
TmFolderRun *tm_folder_run_new(const TmFolderOptions *o);
/** For commands and reading; owned by the run. */
TmFolderJob *tm_folder_run_job(TmFolderRun *r);
/** As of the last "changed". */
const TmFolderSnapshot *tm_folder_run_snapshot(TmFolderRun *r);
/** TRUE from the start until it is done, stopped or failed. */
gboolean tm_folder_run_is_alive(TmFolderRun *r);
