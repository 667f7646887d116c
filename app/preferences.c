#include "app/preferences.h"

#define ID "io.github.tarmac.Tarmac"

/* Folders beside the program where the compiled schema may lie: of a build, of an installation that the
 * system's paths do not name. */
static const char *const beside[] = {"../assets", "../share/glib-2.0/schemas"};

static GSettingsSchema *find_schema(void) {
  GSettingsSchemaSource *system = g_settings_schema_source_get_default();
  GSettingsSchema *schema = system ? g_settings_schema_source_lookup(system, ID, TRUE) : NULL;
  g_autofree char *self = schema ? NULL : g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
  for (guint i = 0; folder && !schema && i < G_N_ELEMENTS(beside); i++) {
    g_autofree char *path = g_build_filename(folder, beside[i], NULL);
    g_autoptr(GSettingsSchemaSource) source =
        g_settings_schema_source_new_from_directory(path, system, TRUE, NULL);
    if (source) schema = g_settings_schema_source_lookup(source, ID, FALSE);
  }
  return schema;
}

GSettings *tm_preferences(void) {
  static gsize looked;
  static GSettings *settings;
  if (g_once_init_enter(&looked)) {
    g_autoptr(GSettingsSchema) schema = find_schema();
    if (schema)
      settings = g_settings_new_full(schema, NULL, NULL);
    else
      g_message("The settings' schema %s is not installed: nothing is kept from one start to the next.", ID);
    g_once_init_leave(&looked, 1);
  }
  return settings;
}

GSettings *tm_preferences_window(void) {
  static GSettings *window;
  if (!window && tm_preferences()) window = g_settings_get_child(tm_preferences(), "window");
  return window;
}

gboolean tm_preferences_get_flag(const char *key) {
  return tm_preferences() ? g_settings_get_boolean(tm_preferences(), key) : TRUE;
}
