/* steer.h: what of a run can be changed while it goes on. Any thread. */
#pragma once

#include <glib.h>

/* Multiplies the schedule's rate: not a setting, but steered like one. */
#define TM_RATE_FACTOR "lr_factor"

/** Is @key a setting that tm_trainer_change() takes, or TM_RATE_FACTOR? */
gboolean tm_steerable(const char *key);
