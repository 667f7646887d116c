/* cell_item.h: one cell of a confusion matrix as a row of a list model. Main thread. */
#pragma once

#include <glib-object.h>

#define TM_TYPE_CELL_ITEM (tm_cell_item_get_type())
G_DECLARE_FINAL_TYPE(TmCellItem, tm_cell_item, TM, CELL_ITEM, GObject)

TmCellItem *tm_cell_item_new(const char *truth, const char *call, guint64 pixels, double share);
const char *tm_cell_item_get_truth(TmCellItem *i);
const char *tm_cell_item_get_call(TmCellItem *i);
guint64 tm_cell_item_get_pixels(TmCellItem *i);
/** Of the pixels of the true class. */
double tm_cell_item_get_share(TmCellItem *i);
