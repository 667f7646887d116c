/* runs_view.h: the sidebar's runs of the open dataset: state by icon and words, star, title, note; renamed, annotated, compared, removed from
 * the row's menu. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/train/trainer.h"

#define TM_TYPE_RUNS_VIEW (tm_runs_view_get_type())
G_DECLARE_FINAL_TYPE(TmRunsView, tm_runs_view, TM, RUNS_VIEW, GtkBox)

/* Signals: "opened" (string folder): a row was activated. "compare" (string folder): to be set beside the run that is shown.
 * "removed" (string folder): it was put aside; tm_runs_view_restore() takes it back. "failed" (string): a sentence. */
GtkWidget *tm_runs_view_new(void);
/** Shows the runs under @root; NULL: none. */
void tm_runs_view_set_root(TmRunsView *l, const char *root);
/** Reads the folder again. */
void tm_runs_view_refresh(TmRunsView *l);
/** The run that is in training: its row says so in these words; NULL: none is. */
void tm_runs_view_set_live(TmRunsView *l, const char *folder, const char *words);
void tm_runs_view_restore(TmRunsView *l, const char *folder);
