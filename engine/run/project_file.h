/* project_file.h: a project, as the window and the terminal both open it: what a person decided about one
 * dataset, in $XDG_DATA_HOME/tarmac/projects/<title>-<hash>/project.json, beside the folder of its runs and
 * the void it painted. Nothing of it lies in the dataset. Written whole or not at all; whoever writes last
 * wins. Plain data; one thread at a time. */
#pragma once

#include "engine/data/amend.h"

typedef struct {
  char *folder;             /* of the project */
  char *path;               /* of the dataset: absolute, or "demo" */
  char *title;              /* shown */
  TmDatasetOptions options; /* classes unset */
  TmAmend *amend;           /* owned; its layers lie in <folder>/void */
  gint64 opened;            /* Unix seconds; 0 never */
  gboolean forgotten;       /* not among the recent ones; its runs stay */
  guint n_pictures;         /* when it was opened last */
} TmProjectFile;

/** The project of the dataset at @path (a folder or "demo"): the one on disk, or a new one, which is not
 * written yet. TM_ERROR_CORRUPT names the file when there is one that cannot be read: it is never written
 * over. */
TmProjectFile *tm_project_file_open(const char *path, GError **error);
void tm_project_file_free(TmProjectFile *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmProjectFile, tm_project_file_free)
/** Makes the folder where it is missing. */
gboolean tm_project_file_write(const TmProjectFile *p, GError **error);

/** Every project that can be read, the one opened last first. TmProjectFile*, free with g_ptr_array_unref().
 */
GPtrArray *tm_project_file_list(void);
/** Runs in it, and the best mean IoU of the newest that has one (NAN: none) with its name (NULL: none; free
 * it). */
guint tm_project_file_runs(const TmProjectFile *p, char **best_run, double *miou);

/** tm_dataset_open(), with what the dataset's project changed. @said (may be NULL) receives a sentence when
 * that is anything; free it. */
TmDataset *tm_project_dataset_open(const char *path, const TmDatasetOptions *options, char **said,
                                   GError **error);
