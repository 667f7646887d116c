/* error_tile.h: a picture's prediction and its errors, small, with its score, its name and its most frequent mistake: a
 * button. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/scene.h"

#define TM_TYPE_ERROR_TILE (tm_error_tile_get_type())
G_DECLARE_FINAL_TYPE(TmErrorTile, tm_error_tile, TM, ERROR_TILE, GtkButton)

/** @score: "IoU 0.55", translated. @truth and @call: the mistake, classes of @classes; @call TM_VOID: none. */
GtkWidget *tm_error_tile_new(const char *name, const char *score, const TmClassTable *classes, guint truth, guint call);
/** The picture with labels and truth, once it is predicted. */
void tm_error_tile_set_scene(TmErrorTile *t, TmScene *scene);
