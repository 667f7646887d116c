#include "app/window_state.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#define GROUP "window"
enum { LEAST = 200, MOST = 16384 };

static char *file_name(void) {
  return g_build_filename(g_get_user_state_dir(), "tarmac", "window.ini", NULL);
}

void tm_window_state_clear(TmWindowState *s) {
  g_clear_pointer(&s->page, g_free);
  g_clear_pointer(&s->project, g_free);
  *s = (TmWindowState){0};
}

static int side(GKeyFile *f, const char *key) {
  const int v = g_key_file_get_integer(f, GROUP, key, NULL);
  return v >= LEAST && v <= MOST ? v : 0;
}

void tm_window_state_read(TmWindowState *s) {
  *s = (TmWindowState){0};
  g_autofree char *path = file_name();
  g_autoptr(GKeyFile) f = g_key_file_new();
  if (!g_key_file_load_from_file(f, path, G_KEY_FILE_NONE, NULL)) return;
  s->width = side(f, "width");
  s->height = side(f, "height");
  if (!s->width || !s->height) s->width = s->height = 0;
  s->maximized = g_key_file_get_boolean(f, GROUP, "maximized", NULL);
  s->page = g_key_file_get_string(f, GROUP, "page", NULL);
  g_autofree char *uri = g_key_file_get_string(f, GROUP, "project", NULL);
  if (uri) s->project = g_str_equal(uri, "demo") ? g_strdup(uri) : g_filename_from_uri(uri, NULL, NULL);
}

void tm_window_state_write(const TmWindowState *s) {
  g_autoptr(GKeyFile) f = g_key_file_new();
  g_key_file_set_integer(f, GROUP, "width", s->width);
  g_key_file_set_integer(f, GROUP, "height", s->height);
  g_key_file_set_boolean(f, GROUP, "maximized", s->maximized);
  if (s->page) g_key_file_set_string(f, GROUP, "page", s->page);
  if (s->project) { /* a path need not be UTF-8 */
    g_autofree char *uri =
        g_str_equal(s->project, "demo") ? g_strdup("demo") : g_filename_to_uri(s->project, NULL, NULL);
    if (uri) g_key_file_set_string(f, GROUP, "project", uri);
  }
  g_autofree char *path = file_name(), *folder = g_path_get_dirname(path);
  if (g_mkdir_with_parents(folder, 0700) == 0) g_key_file_save_to_file(f, path, NULL);
}
