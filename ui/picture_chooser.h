/* picture_chooser.h: a list of pictures by name with a check each and a search, to choose a few of many. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_PICTURE_CHOOSER (tm_picture_chooser_get_type())
G_DECLARE_FINAL_TYPE(TmPictureChooser, tm_picture_chooser, TM, PICTURE_CHOOSER, GtkBox)

/* Signal "changed" (): the person checked or unchecked one. */
/** At least one and at most @most can be chosen. */
GtkWidget *tm_picture_chooser_new(guint most);
/** The names, copied, and which of them are chosen: @n_chosen indices. */
void tm_picture_chooser_set(TmPictureChooser *c, const char *const *names, const guint *chosen, guint n_chosen);
/** The indices of those chosen, ascending guints; free with g_array_unref(). */
GArray *tm_picture_chooser_get(TmPictureChooser *c);
