/* schedule_view.h: the learning rate over a run: what it was, what it is to be, and where the run is now. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/train/settings.h"

#define TM_TYPE_SCHEDULE_VIEW (tm_schedule_view_get_type())
G_DECLARE_FINAL_TYPE(TmScheduleView, tm_schedule_view, TM, SCHEDULE_VIEW, GtkWidget)

GtkWidget *tm_schedule_view_new(void);
/** The schedule of @s times @factor; @now: the share of the run that is done, NAN before it begins. */
void tm_schedule_view_set(TmScheduleView *v, const TmSettings *s, double factor, double now);
/** The rate that was in force at a share of the run; NAN forgets them all. */
void tm_schedule_view_add_past(TmScheduleView *v, double share, double rate);
