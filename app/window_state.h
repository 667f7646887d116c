/* window_state.h: what the window was like when it was closed last: size, page, project. Kept in GSettings; what is
 * missing or wrong is a first start. Main thread. */
#pragma once

#include <glib.h>

typedef struct {
  int width, height; /* 0: not known */
  gboolean maximized;
  char *page;    /* NULL: not known */
  char *project; /* path of the dataset, or "demo"; NULL: none was open */
} TmWindowState;

void tm_window_state_read(TmWindowState *s);
/** Failing is silent: there is nobody left to tell. */
void tm_window_state_write(const TmWindowState *s);
void tm_window_state_clear(TmWindowState *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmWindowState, tm_window_state_clear)
