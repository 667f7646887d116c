/* confusion_table.h: the cells of a confusion matrix as a table, the most frequent mistakes first, with Copy as CSV. Main
 * thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"
#include "engine/train/metrics.h"

#define TM_TYPE_CONFUSION_TABLE (tm_confusion_table_get_type())
G_DECLARE_FINAL_TYPE(TmConfusionTable, tm_confusion_table, TM, CONFUSION_TABLE, GtkBox)

GtkWidget *tm_confusion_table_new(void);
/** Copies both; NULLs empty. */
void tm_confusion_table_set(TmConfusionTable *t, const TmConfusion *c, const TmClassTable *classes);
/** "truth,called,pixels,share of truth" and a line for each cell that is not empty. Free it. */
char *tm_confusion_table_csv(TmConfusionTable *t);
