/* page_train.h: the Train page: header with the run's commands, curves, probe, meters, step timeline,
 * settings. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/live_run.h"
#include "app/project.h"
#include "engine/monitor/monitor.h"

#define TM_TYPE_PAGE_TRAIN (tm_page_train_get_type())
G_DECLARE_FINAL_TYPE(TmPageTrain, tm_page_train, TM, PAGE_TRAIN, GtkBox)

/* Signal "run-changed": the run's snapshot changed, or there is another run or none. */
TmPageTrain *tm_page_train_new(TmProject *project);
/** The actions behind the page's buttons, to be inserted as "train". Owned by the page. */
GActionGroup *tm_page_train_actions(TmPageTrain *p);
/** NULL while there is none. Owned by the page. */
TmLiveRun *tm_page_train_run(TmPageTrain *p);
/** New samples of the machine, oldest first. */
void tm_page_train_update_meters(TmPageTrain *p, const TmMonitorSample *samples, guint n);
void tm_page_train_set_machine(TmPageTrain *p, const TmMachine *m);
/** The sidebar is folded away: shows Back. */
void tm_page_train_set_folded(TmPageTrain *p, gboolean folded);
