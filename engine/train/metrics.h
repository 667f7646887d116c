/* metrics.h: scores from one global confusion matrix, never averaged by batch. Plain data; any thread. */
#pragma once

#include <glib.h>

#include "engine/data/class_table.h"

typedef struct {
  guint n;                 /* classes */
  guint64 *pixels;         /* n*n: pixels[truth * n + call] */
} TmConfusion;

TmConfusion *tm_confusion_new(guint n);
void tm_confusion_free(TmConfusion *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmConfusion, tm_confusion_free)
void tm_confusion_clear(TmConfusion *c);
void tm_confusion_add(TmConfusion *c, const gint32 *counts); /* n*n, as the confusion op gives */
void tm_confusion_add_labels(TmConfusion *c, const guint8 *truth, const guint8 *call, gsize count);

/** IoU of class @i: TP / (TP + FP + FN); NAN when the class is in neither truth nor call ("n/a"). */
double tm_confusion_iou(const TmConfusion *c, guint i);
/** Mean over the classes whose IoU is not NAN; NAN when there is none. */
double tm_confusion_miou(const TmConfusion *c);
/** Precision TP / (TP + FP): NAN when the class is never called. Recall TP / (TP + FN): NAN when it is not in the truth. F1 2 TP / (2 TP + FP + FN)
 * (the Dice coefficient): NAN when it is in neither. */
double tm_confusion_precision(const TmConfusion *c, guint i);
double tm_confusion_recall(const TmConfusion *c, guint i);
double tm_confusion_f1(const TmConfusion *c, guint i);
/** IoU weighted by each class's share of the truth (Long et al., Fully Convolutional Networks, 2015); NAN when there are no judged pixels. */
double tm_confusion_weighted_iou(const TmConfusion *c);
/** Pixels of class @i in the truth, and called so. */
guint64 tm_confusion_truth(const TmConfusion *c, guint i);
guint64 tm_confusion_called(const TmConfusion *c, guint i);
/** NAN when there are no judged pixels. */
double tm_confusion_accuracy(const TmConfusion *c);
