/* scores.h: an evaluation as people and machines read it. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/predict/evaluation.h"

/** A table by class (IoU, F1, precision, recall, boundary F1, share of the truth), the means with the interval of
 * the mean IoU, calibration, IoU by size of region, the rule for absent classes, pictures that could not be read,
 * and a warning for each class that is in the pictures but never predicted. To standard output. */
void tm_scores_print(const TmEvaluation *e);
/** Members miou, miou_low, miou_high, pixel_accuracy, weighted_iou, boundary_f1, calibration_error, and iou,
 * class_f1, class_precision, class_recall, class_boundary_f1 (objects by class name); null where there is nothing to say. @e NULL: all
 * null. */
void tm_scores_to_json(JsonObject *o, const TmEvaluation *e, const TmClassTable *classes);
