/* drop_area.h: where a folder may be dropped: a dashed frame that says so, turns solid while a folder is held over it, and says when what is
 * held is no folder. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_DROP_AREA (tm_drop_area_get_type())
G_DECLARE_FINAL_TYPE(TmDropArea, tm_drop_area, TM, DROP_AREA, GtkWidget)

typedef enum { TM_DROP_IDLE, TM_DROP_READY, TM_DROP_REFUSED } TmDropState;

/* Signal "dropped" (const char *path): a folder was let go over it. */
GtkWidget *tm_drop_area_new(void);
/** Takes what is held over @widget, too. Once, before the window is shown. */
void tm_drop_area_listen(TmDropArea *a, GtkWidget *widget);
/** As holding something over it does. */
void tm_drop_area_set_state(TmDropArea *a, TmDropState state);
/** The folder in @files, NULL when the first of them is none. Free it. */
char *tm_drop_area_folder(GdkFileList *files);
