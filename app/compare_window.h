/* compare_window.h: two runs beside each other: their curves by epoch, how they ended, and the settings in which they differ. Main thread. */
#pragma once

#include <gtk/gtk.h>

/** Reads both folders on a thread and shows what they hold. */
void tm_compare_window_show(GtkWindow *parent, const char *run, const char *other);
