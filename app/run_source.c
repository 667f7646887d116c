#include "app/run_source.h"

#include <string.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>

#include "engine/run/run_dir.h"

void tm_run_source_clear(TmRunSource *s) {
  g_free(s->path);
  memset(s, 0, sizeof *s);
}

static gboolean is_demo(const char *path) {
  return strcmp(path, "demo") == 0;
}

void tm_run_source_set(TmRunSource *s, const char *given) {
  g_free(s->path);
  s->path = is_demo(given) ? g_strdup(given) : g_canonicalize_filename(given, NULL);
}

gboolean tm_run_source_write(const TmRunSource *s, const char *run, GError **error) {
  g_autoptr(JsonBuilder) b = json_builder_new();
  json_builder_begin_object(b);
  json_builder_set_member_name(b, "path");
  /* JSON is UTF-8 and a path need not be: what cannot be said is escaped as in a URI. */
  g_autofree char *uri = is_demo(s->path) ? g_strdup("demo") : g_filename_to_uri(s->path, NULL, error);
  if (!uri) return FALSE;
  json_builder_add_string_value(b, uri);
  const struct {
    const char *key;
    gint64 value;
  } numbers[] = {{"seed", (gint64)s->options.seed},
                 {"demo_train", s->options.demo_train},
                 {"demo_val", s->options.demo_val},
                 {"demo_width", s->options.demo_width},
                 {"demo_height", s->options.demo_height}};
  for (guint i = 0; is_demo(s->path) && i < G_N_ELEMENTS(numbers); i++) {
    json_builder_set_member_name(b, numbers[i].key);
    json_builder_add_int_value(b, numbers[i].value);
  }
  json_builder_set_member_name(b, "val_fraction");
  json_builder_add_double_value(b, s->options.val_fraction);
  json_builder_end_object(b);
  g_autoptr(JsonNode) root = json_builder_get_root(b);
  g_autofree char *text = json_to_string(root, TRUE), *path = g_build_filename(run, "data.json", NULL);
  return g_file_set_contents_full(path, text, -1,
                                  G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, error);
}

char *tm_run_source_folder(const char *path) {
  if (!g_str_has_suffix(path, ".safetensors")) return g_strdup(path);
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *name = g_path_get_basename(folder);
  return strcmp(name, "checkpoints") == 0 ? g_path_get_dirname(folder) : g_steal_pointer(&folder);
}

static gboolean read_own(TmRunSource *s, JsonObject *o) {
  const char *uri = json_object_get_string_member_with_default(o, "path", NULL);
  if (!uri) return FALSE;
  s->path = is_demo(uri) ? g_strdup(uri) : g_filename_from_uri(uri, NULL, NULL);
  if (!s->path) return FALSE;
  s->options = (TmDatasetOptions){
      .val_fraction = (float)json_object_get_double_member_with_default(o, "val_fraction", 0.2),
      .seed = (guint64)json_object_get_int_member_with_default(o, "seed", 0),
      .demo_train = (int)json_object_get_int_member_with_default(o, "demo_train", 0),
      .demo_val = (int)json_object_get_int_member_with_default(o, "demo_val", 0),
      .demo_width = (int)json_object_get_int_member_with_default(o, "demo_width", 0),
      .demo_height = (int)json_object_get_int_member_with_default(o, "demo_height", 0),
  };
  return TRUE;
}

static gboolean read_info(TmRunSource *s, const char *folder) {
  g_autoptr(JsonNode) info = tm_run_read_info(folder, NULL);
  if (!info || !JSON_NODE_HOLDS_OBJECT(info)) return FALSE;
  JsonNode *data = json_object_get_member(json_node_get_object(info), "data");
  if (!data || !JSON_NODE_HOLDS_OBJECT(data)) return FALSE;
  const char *path = json_object_get_string_member_with_default(json_node_get_object(data), "path", NULL);
  if (!path) return FALSE;
  s->path = g_filename_from_utf8(path, -1, NULL, NULL, NULL);
  s->options.val_fraction = 0.2f;
  return s->path != NULL;
}

gboolean tm_run_source_read(TmRunSource *s, const char *run, GError **error) {
  memset(s, 0, sizeof *s);
  g_autofree char *folder = tm_run_source_folder(run);
  g_autofree char *path = g_build_filename(folder, "data.json", NULL);
  g_autoptr(JsonParser) parser = json_parser_new();
  if (json_parser_load_from_file(parser, path, NULL)) {
    JsonNode *root = json_parser_get_root(parser);
    if (root && JSON_NODE_HOLDS_OBJECT(root) && read_own(s, json_node_get_object(root))) return TRUE;
  }
  if (read_info(s, folder)) return TRUE;
  if (!g_file_test(folder, G_FILE_TEST_EXISTS))
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("There is no run at “%s”."), folder);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_FILE,
                _("The run “%s” does not say which pictures it was trained on: name their folder."), folder);
  return FALSE;
}
