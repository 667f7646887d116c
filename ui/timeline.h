/* timeline.h: what one training step is made of, as bars on one millisecond axis: the loader's lane (of one
 * worker's time) above the engine's. NAN: not measured yet. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/run/history.h"

#define TM_TYPE_TIMELINE (tm_timeline_get_type())
G_DECLARE_FINAL_TYPE(TmTimeline, tm_timeline, TM, TIMELINE, GtkWidget)

GtkWidget *tm_timeline_new(void);
void tm_timeline_set(TmTimeline *t, const TmStepTimes *times);
