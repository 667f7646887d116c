/* evaluate.h: a trained net judged on pictures with truth. The thread that owns the predictor. */
#pragma once

#include "engine/predict/evaluation.h"
#include "engine/predict/predictor.h"

typedef struct {
  TmSplit split;
  const guint8 *match; /* what each class of the net means in the data, see class_match.h, all of them; NULL: the
                          tables must agree. Truth of classes that no class of the net means becomes void */
} TmEvaluateOptions;

/** After each picture: @so_far has all scores up to it. Return FALSE to stop. */
typedef gboolean (*TmEvaluateProgress)(const TmEvaluation *so_far, guint done, guint total, gpointer user);

/** Scores @p on @d. Pictures that cannot be read are left out and told in the result; memory and the device end it.
 * TM_ERROR_DATA when the classes do not agree, when the split has no pictures with truth, and when none can be read;
 * TM_ERROR_CANCELLED when @progress said so. @progress may be NULL. */
TmEvaluation *tm_evaluate(TmPredictor *p, const TmDataset *d, const TmEvaluateOptions *o,
                          TmEvaluateProgress progress, gpointer user, GError **error);
