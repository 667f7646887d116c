#include "engine/run/run_card.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/run/atomic.h"
#include "engine/run/json_text.h"

#define CARD "card.json"
#define ASIDE ".removed"

enum { MOST_CARD_BYTES = 1 << 20, MOST_DEPTH = 6 };

static JsonNode *read_card(const char *run) {
  g_autofree char *file = g_build_filename(run, CARD, NULL), *text = NULL;
  gsize size = 0;
  if (!g_file_get_contents(file, &text, &size, NULL) || size > MOST_CARD_BYTES) return NULL;
  return tm_json_parse(text, size, 16, NULL);
}

static char *words(JsonObject *o, const char *key) {
  JsonNode *n = o ? json_object_get_member(o, key) : NULL;
  const gboolean is = n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING;
  return is && *json_node_get_string(n) ? json_node_dup_string(n) : NULL;
}

void tm_run_card_read(const char *run, char **title, char **note, gboolean *star) {
  g_autoptr(JsonNode) card = read_card(run);
  JsonObject *o = card && JSON_NODE_HOLDS_OBJECT(card) ? json_node_get_object(card) : NULL;
  JsonNode *n = o ? json_object_get_member(o, "star") : NULL;
  if (title) *title = words(o, "title");
  if (note && !(*note = words(o, "note"))) *note = g_strdup("");
  if (star) *star = n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_boolean(n);
}

gboolean tm_run_card_write(const char *run, const char *title, const char *note, gboolean star, GError **error) {
  g_autofree char *base = g_path_get_basename(run), *name = g_filename_display_name(base),
                  *file = g_build_filename(run, CARD, NULL);
  g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
  JsonObject *o = json_object_new();
  json_node_take_object(node, o);
  if (title && *title && strcmp(title, name) != 0) json_object_set_string_member(o, "title", title);
  if (note && *note) json_object_set_string_member(o, "note", note);
  if (star) json_object_set_boolean_member(o, "star", TRUE);
  g_autofree char *text = tm_json_text(node, TRUE), *line = g_strconcat(text, "\n", NULL);
  return tm_atomic_write_file(file, line, strlen(line), error);
}

/* ---- removing ---- */

static char *aside_of(const char *path) {
  g_autofree char *root = g_path_get_dirname(path), *name = g_path_get_basename(path);
  return g_build_filename(root, ASIDE, name, NULL);
}

static gboolean move(const char *from, const char *to, GError **error) {
  if (!g_file_test(to, G_FILE_TEST_EXISTS) && g_rename(from, to) == 0) return TRUE;
  const int code = errno;
  g_autofree char *shown = g_filename_display_name(from);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The run “%s” cannot be moved: %s."), shown,
              g_file_test(to, G_FILE_TEST_EXISTS) ? _("there is another one of its name") : g_strerror(code));
  return FALSE;
}

gboolean tm_run_remove(const char *path, GError **error) {
  g_autofree char *aside = aside_of(path), *folder = g_path_get_dirname(aside), *shown = g_filename_display_name(path);
  if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("There is no run at “%s”."), shown);
    return FALSE;
  }
  if (g_mkdir_with_parents(folder, 0777) != 0) {
    tm_write_error(error, errno, folder, 0);
    return FALSE;
  }
  return move(path, aside, error);
}

gboolean tm_run_restore(const char *path, GError **error) {
  g_autofree char *aside = aside_of(path);
  return move(aside, path, error);
}

/* Links are removed, not followed. */
static void delete_tree(const char *path, int depth) {
  GDir *dir = depth < MOST_DEPTH && !g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? g_dir_open(path, 0, NULL) : NULL;
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    delete_tree(child, depth + 1);
  }
  if (dir) g_dir_close(dir);
  g_remove(path);
}

void tm_run_purge(const char *root) {
  g_autofree char *folder = g_build_filename(root, ASIDE, NULL);
  delete_tree(folder, 0);
}
