/* picture_path.h: the rungs of viz.h as a list: which one is in use, why those above it are not, and a choice where to begin. Main
 * thread. */
#pragma once

#include <adwaita.h>

#define TM_TYPE_PICTURE_PATH (tm_picture_path_get_type())
G_DECLARE_FINAL_TYPE(TmPicturePath, tm_picture_path, TM, PICTURE_PATH, GtkBox)

GtkWidget *tm_picture_path_new(void);
/** Shows what is in use now. */
void tm_picture_path_update(TmPicturePath *p);
