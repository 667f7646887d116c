/* evaluator.h: networks judged, and single pictures predicted, on a thread of their own that keeps the network open
 * between the two. Told by one signal. Main thread. */
#pragma once

#include <gio/gio.h>

#include "engine/predict/evaluation.h"
#include "ui/scene.h"

#define TM_TYPE_EVALUATOR (tm_evaluator_get_type())
G_DECLARE_FINAL_TYPE(TmEvaluator, tm_evaluator, TM, EVALUATOR, GObject)

/* Signal "changed": there is more of the evaluation, or it ended. */
TmEvaluator *tm_evaluator_new(void);

/** Judges the network at @network, a run's folder or a checkpoint, on @split of @d. @match, of 256, says which class of
 * the data each of the network's means; NULL: they are the same. The scores are kept in the run's folder. One at a
 * time: what is under way is stopped. */
void tm_evaluator_begin(TmEvaluator *e, const char *network, TmDataset *d, TmSplit split, const guint8 *match);
void tm_evaluator_stop(TmEvaluator *e);
gboolean tm_evaluator_is_busy(TmEvaluator *e);
/** The network under way or, after the end, judged last; NULL: none yet. */
const char *tm_evaluator_network(TmEvaluator *e);
void tm_evaluator_progress(TmEvaluator *e, guint *done, guint *total);
/** A copy of the pixels counted so far; NULL when there are none. Free it. */
TmConfusion *tm_evaluator_so_far(TmEvaluator *e);
/** What the last one gave, once; NULL when it failed, was stopped, or was taken. Free it. */
TmEvaluation *tm_evaluator_take(TmEvaluator *e);
/** Why the last one failed; NULL: it did not. TM_ERROR_CANCELLED is no failure. */
const GError *tm_evaluator_error(TmEvaluator *e);
/** The classes of the network whose evaluation failed because they are not the data's, once; NULL: it did not fail of
 * that. Free it. */
TmClassTable *tm_evaluator_differing_classes(TmEvaluator *e);

/** Called with the picture, its prediction and its truth, at most @max_side pixels on the longer side (0: all), or with
 * the reason it cannot be shown. */
typedef void (*TmLookReady)(TmScene *scene, const GError *error, gpointer user);
/** Predicts picture @entry; returns a number by which it can be cancelled. @match as above. */
guint tm_evaluator_look(TmEvaluator *e, const char *network, TmDataset *d, guint entry, int max_side,
                        const guint8 *match, TmLookReady ready, gpointer user);
/** No call of @ready comes afterwards. */
void tm_evaluator_cancel_look(TmEvaluator *e, guint look);
/** All of them. */
void tm_evaluator_cancel_looks(TmEvaluator *e);
