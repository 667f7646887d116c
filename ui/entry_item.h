/* entry_item.h: one picture of a dataset, by its index, as an item of a list model. Main thread. */
#pragma once

#include <glib-object.h>

#define TM_TYPE_ENTRY_ITEM (tm_entry_item_get_type())
G_DECLARE_FINAL_TYPE(TmEntryItem, tm_entry_item, TM, ENTRY_ITEM, GObject)

TmEntryItem *tm_entry_item_new(guint entry);
guint tm_entry_item_get_entry(TmEntryItem *i);
