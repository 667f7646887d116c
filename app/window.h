/* window.h: one window on one dataset: sidebar with pages and the device line, the pages beside it. Main
 * thread. */
#pragma once

#include <adwaita.h>

#include "engine/data/dataset.h"

#define TM_TYPE_WINDOW (tm_window_get_type())
G_DECLARE_FINAL_TYPE(TmWindow, tm_window, TM, WINDOW, AdwApplicationWindow)

TmWindow *tm_window_new(GtkApplication *app);
/** Opens a folder or "demo"; @options may be NULL. */
void tm_window_open(TmWindow *w, const char *path, const TmDatasetOptions *options);
/** The project, the page and, with @size, the size of the window that was closed last. At a first start: the welcome. */
void tm_window_restore(TmWindow *w, gboolean size);
/** Saves and closes without asking, as soon as the trainer has stopped (SIGTERM, log-out). */
void tm_window_save_and_close(TmWindow *w);
/** The name of page number @n of the sidebar, for "win.page"; NULL after the last. */
const char *tm_window_page(guint n);
