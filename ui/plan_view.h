/* plan_view.h: what a run will take: memory as a bar with three shades and in words, time, and both by layer in a popover. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/train/estimate.h"

#define TM_TYPE_PLAN_VIEW (tm_plan_view_get_type())
G_DECLARE_FINAL_TYPE(TmPlanView, tm_plan_view, TM, PLAN_VIEW, GtkBox)

GtkWidget *tm_plan_view_new(void);
/** @e may be NULL: then @why says why there is none (NULL: it is being made). @epochs: of the run. @room: bytes there are; 0: unknown. */
void tm_plan_view_set(TmPlanView *v, const TmEstimate *e, const char *why, guint epochs, gsize room);
