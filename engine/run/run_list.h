/* run_list.h: the runs below a folder, as their own files tell of them. Any thread. */
#pragma once

#include <glib.h>

typedef struct {
  char *path, *name; /* name: the folder's, valid UTF-8 */
  char *title;       /* the person's (run_card.h), else the name */
  char *note;        /* "" when there is none */
  gboolean star;
  char *state;       /* "running", "finished", "stopped", "failed"; "" when run.json does not tell */
  double best_miou;  /* NAN: not known */
  guint best_epoch, epochs;
  gboolean has_network; /* a checkpoint to use */
  gint64 written;    /* of its newest checkpoint, else of run.json; seconds since 1970 */
} TmRunInfo;

void tm_run_info_free(TmRunInfo *i);
/** A network that was opened by its path and belongs to no run that is known: no state, no score. */
TmRunInfo *tm_run_info_of_file(const char *path);
/** TmRunInfo*, the newest first; empty when there is no such folder. Free with g_ptr_array_unref(). */
GPtrArray *tm_run_list(const char *root);
