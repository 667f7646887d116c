/* swatch.h: a class's colour, 12 pixels, with a border so that pale and dark ones stay visible. Void is
 * hatched. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_SWATCH (tm_swatch_get_type())
G_DECLARE_FINAL_TYPE(TmSwatch, tm_swatch, TM, SWATCH, GtkWidget)

/** @rgb 0xRRGGBB; G_MAXUINT32 draws void. */
GtkWidget *tm_swatch_new(guint32 rgb);
