/* epoch_table.h: the curves as a table, one row per epoch, with Copy as CSV. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/run/history.h"

#define TM_TYPE_EPOCH_TABLE (tm_epoch_table_get_type())
G_DECLARE_FINAL_TYPE(TmEpochTable, tm_epoch_table, TM, EPOCH_TABLE, GtkBox)

GtkWidget *tm_epoch_table_new(void);
void tm_epoch_table_clear(TmEpochTable *t);
void tm_epoch_table_add(TmEpochTable *t, const TmEpochRow *row);
/** The table as comma-separated values with a head line; unknown values are empty. Free it. */
char *tm_epoch_table_csv(TmEpochTable *t);
