/* scores.h: a confusion matrix as people and machines read it. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/train/metrics.h"

/** A table of IoU by class with each class's share of the truth, mean, accuracy, the rule for absent classes,
 * and a warning for each class that is in the pictures but never predicted. To standard output. */
void tm_scores_print(const TmConfusion *c, const TmClassTable *classes);
/** Members miou, pixel_accuracy and iou (an object by class name); null where there is nothing to say. @c
 * NULL: all null. */
void tm_scores_to_json(JsonObject *o, const TmConfusion *c, const TmClassTable *classes);
