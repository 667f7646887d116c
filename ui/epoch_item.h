/* epoch_item.h: one epoch's numbers as a row of a list model. Main thread. */
#pragma once

#include <glib-object.h>

#include "engine/run/history.h"

#define TM_TYPE_EPOCH_ITEM (tm_epoch_item_get_type())
G_DECLARE_FINAL_TYPE(TmEpochItem, tm_epoch_item, TM, EPOCH_ITEM, GObject)

TmEpochItem *tm_epoch_item_new(const TmEpochRow *row);
const TmEpochRow *tm_epoch_item_get_row(TmEpochItem *i);
