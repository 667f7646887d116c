/* class_chips.h: which classes a picture must have to be shown: the first few as toggles in a row, the rest behind "More". Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"

#define TM_TYPE_CLASS_CHIPS (tm_class_chips_get_type())
G_DECLARE_FINAL_TYPE(TmClassChips, tm_class_chips, TM, CLASS_CHIPS, GtkBox)

/* Signal "changed": another choice. */
GtkWidget *tm_class_chips_new(void);
/** NULL empties. Nothing is chosen after. */
void tm_class_chips_set_classes(TmClassChips *c, const TmClassTable *t);
/** How many stand in the row. */
void tm_class_chips_set_room(TmClassChips *c, guint n);
/** The chosen classes, guint; borrowed until the next change. */
const GArray *tm_class_chips_chosen(TmClassChips *c);
void tm_class_chips_clear(TmClassChips *c);
