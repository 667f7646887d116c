#include "app/window_state.h"

#include "app/preferences.h"

enum { LEAST = 200, MOST = 16384 };

void tm_window_state_clear(TmWindowState *s) {
  g_clear_pointer(&s->page, g_free);
  g_clear_pointer(&s->project, g_free);
  *s = (TmWindowState){0};
}

/* NULL for an empty string. */
static char *text_of(GSettings *g, const char *key) {
  g_autofree char *text = g_settings_get_string(g, key);
  return *text ? g_steal_pointer(&text) : NULL;
}

void tm_window_state_read(TmWindowState *s) {
  *s = (TmWindowState){0};
  GSettings *g = tm_preferences_window();
  if (!g) return;
  g_settings_get(g, "size", "(ii)", &s->width, &s->height);
  if (s->width < LEAST || s->width > MOST || s->height < LEAST || s->height > MOST) s->width = s->height = 0;
  s->maximized = g_settings_get_boolean(g, "maximized");
  s->page = text_of(g, "page");
  g_autofree char *uri = text_of(g, "project");
  if (uri) s->project = g_str_equal(uri, "demo") ? g_strdup(uri) : g_filename_from_uri(uri, NULL, NULL);
}

void tm_window_state_write(const TmWindowState *s) {
  GSettings *g = tm_preferences_window();
  if (!g) return;
  g_settings_set(g, "size", "(ii)", s->width, s->height);
  g_settings_set_boolean(g, "maximized", s->maximized);
  g_settings_set_string(g, "page", s->page ? s->page : "");
  g_autofree char *uri = NULL; /* a path need not be UTF-8 */
  if (s->project)
    uri = g_str_equal(s->project, "demo") ? g_strdup("demo") : g_filename_to_uri(s->project, NULL, NULL);
  g_settings_set_string(g, "project", uri ? uri : "");
  g_settings_sync(); /* the program may end right after */
}
