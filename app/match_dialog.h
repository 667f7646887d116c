/* match_dialog.h: asks which class of the data each class of a network means. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/data/class_table.h"

/** Proposes those of one name, and calls @matched with 256 of them once the person agrees, as long as @owner lives. */
void tm_match_dialog_show(GtkWindow *parent, const TmClassTable *net, const TmClassTable *data,
                          void (*matched)(const guint8 *match, gpointer user), GObject *owner);
