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
/** NAN when there are no judged pixels. */
double tm_confusion_accuracy(const TmConfusion *c);
