/* step_times.h: what a step's time is spent on, added up, and the sentence that says what holds the run back.
 * Plain data; any thread. */
#pragma once

#include "engine/run/history.h"

/* Zeroed it is empty. */
typedef struct {
  TmStepTimes sum;
  guint n, n_forward; /* steps; those that told forward apart */
} TmStepSum;

void tm_step_sum_add(TmStepSum *s, const TmStepTimes *one);
/** All NAN when nothing was added. */
TmStepTimes tm_step_sum_mean(const TmStepSum *s);

/** One cause, one number, what to do: @strong is the sentence's first part, @rest what follows (may be
 * empty). Free both. TRUE when it asks for attention. */
gboolean tm_step_times_sentence(const TmStepTimes *t, char **strong, char **rest);
