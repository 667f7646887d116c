/* widget_png.h: what a widget shows, as a PNG file. Main thread. */
#pragma once

#include <gtk/gtk.h>

/** Draws @w, which must be on the screen, in its own size on a card's background. FALSE with TM_ERROR_FILE. */
gboolean tm_widget_write_png(GtkWidget *w, const char *path, GError **error);
