/* confusion_map.h: a confusion matrix as a map of cells, true classes downwards and called ones across, coloured by a
 * square-root scale so that rare mistakes show. One cell is selected: arrows, Home and End move it, Enter or a double
 * click activates it. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"
#include "engine/train/metrics.h"

#define TM_TYPE_CONFUSION_MAP (tm_confusion_map_get_type())
G_DECLARE_FINAL_TYPE(TmConfusionMap, tm_confusion_map, TM, CONFUSION_MAP, GtkWidget)

typedef enum {
  TM_SCALE_TRUTH,  /* share of the pixels that truly are of the class: rows sum to 1 */
  TM_SCALE_CALL,   /* share of the pixels called so: columns sum to 1 */
  TM_SCALE_PIXELS, /* share of all judged pixels */
} TmConfusionScale;

/* Signals "selected" (uint truth, uint call): the selected cell changed; "activated" (the same): Enter. */
GtkWidget *tm_confusion_map_new(void);
/** Copies both; NULLs empty. The selected cell stays where it is in range, else goes to the most frequent mistake. */
void tm_confusion_map_set(TmConfusionMap *m, const TmConfusion *c, const TmClassTable *classes);
void tm_confusion_map_set_scale(TmConfusionMap *m, TmConfusionScale scale);
/** Names as numbers, and small cells: little width. */
void tm_confusion_map_set_compact(TmConfusionMap *m, gboolean compact);
void tm_confusion_map_select(TmConfusionMap *m, guint truth, guint call);
/** FALSE while it is empty. */
gboolean tm_confusion_map_get_selected(TmConfusionMap *m, guint *truth, guint *call);
/** What a cell holds by the scale in force, 0..1; NAN where there is nothing to share. */
double tm_confusion_map_share(TmConfusionMap *m, guint truth, guint call);
/** "12.7 % of Pavement pixels were called Road." of the selected cell, by the scale in force. Free it. */
char *tm_confusion_map_sentence(TmConfusionMap *m);
/** The colour of a share on a light or a dark card. */
GdkRGBA tm_confusion_colour(double share, gboolean dark);
/** The colour of a number on a cell of that colour. */
GdkRGBA tm_confusion_text(const GdkRGBA *cell);
