/* plan_words.h: an estimate as people and machines read it. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/train/estimate.h"
#include "engine/train/trainer.h"

/** A table by layer with its sums, to standard output. */
void tm_plan_print(const TmEstimate *e);
/** "Predicted: 1.09 GB of memory, 0.61 s a step, 1 min 4 s an epoch." Free it. */
char *tm_plan_sentence(const TmEstimate *e);
/** The same beside what @times and @peak (bytes resident, 0: unknown) turned out to be. Free it. */
char *tm_plan_outcome(const TmEstimate *e, const TmStepTimes *times, gsize peak);
/** Members of the sums and an array "layers". */
JsonObject *tm_plan_json(const TmEstimate *e);
