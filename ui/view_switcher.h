/* view_switcher.h: the row of icons with words at the bottom of a narrow page, of which one is chosen. Main
 * thread. */
#pragma once

#include <gtk/gtk.h>

/** Fills @row with @n toggle buttons, the first chosen, and keeps them in @buttons. @names are to be
 * translated, @icons are symbolic; @toggled (GtkToggleButton *, @user) is called for every button whose state
 * changes from now on. */
void tm_view_switcher_fill(GtkBox *row, const char *const *names, const char *const *icons, guint n,
                           GtkWidget **buttons, GCallback toggled, gpointer user);
