/* page_train.h: the Train page: header with the run's commands, curves, probe, meters, step timeline,
 * settings. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/live_run.h"
#include "app/page.h"
#include "app/project.h"

#define TM_TYPE_PAGE_TRAIN (tm_page_train_get_type())
G_DECLARE_FINAL_TYPE(TmPageTrain, tm_page_train, TM, PAGE_TRAIN, GtkBox)

/* Signal "run-changed": the run's snapshot changed, or there is another run or none. */
TmPage *tm_page_train_new(TmProject *project);
/** NULL while there is none. Owned by the page. */
TmLiveRun *tm_page_train_run(TmPageTrain *p);
/** Shows a run of the open dataset that has ended. FALSE while another one is in training, which stays. */
gboolean tm_page_train_open_run(TmPageTrain *p, const char *folder);
