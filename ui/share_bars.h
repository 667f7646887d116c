/* share_bars.h: a bar per class with its share of the pixels. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"

#define TM_TYPE_SHARE_BARS (tm_share_bars_get_type())
G_DECLARE_FINAL_TYPE(TmShareBars, tm_share_bars, TM, SHARE_BARS, GtkWidget)

GtkWidget *tm_share_bars_new(void);
/** @shares: one per class, 0..1, shown in falling order; @t NULL empties. */
void tm_share_bars_set(TmShareBars *b, const TmClassTable *t, const double *shares);
