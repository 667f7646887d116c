/* live_changes.h: what was changed on a run's way, as people count it: changes that stand, the last one to take back, words for the
 * marks on the curves. Plain functions over lists of TmChange; any thread. */
#pragma once

#include "engine/run/change.h"
#include "engine/train/settings.h"

/** The changes of @all that were not taken back, in groups (GPtrArray of borrowed TmChange) that are one to a person: all of one moment's
 * augmentation. Free with g_ptr_array_unref(). */
GPtrArray *tm_live_changes_standing(const GPtrArray *all);
/** All that held for at least a step, and those that took them back, in such groups: the marks on the curves. */
GPtrArray *tm_live_changes_marks(const GPtrArray *all);
/** "rate ÷ 2", "batch 8", "stronger augmentation" of one group. Free it. */
char *tm_live_changes_words(const GPtrArray *group);
/** What the schedule is to be multiplied with so that the rate of the step at @place of @places is @wanted; NAN when it cannot. */
double tm_live_changes_factor(const TmSettings *s, guint64 place, guint64 places, double wanted);
