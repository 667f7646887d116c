#include "engine/run/change.h"

#include <math.h>
#include <string.h>

#include "engine/run/json_text.h"
#include "engine/run/run_names.h"

enum { MOST_BYTES = 64 << 20 };

TmChange *tm_change_new(guint64 step, const char *key, const char *from, const char *to, gboolean undo) {
  TmChange *c = g_new0(TmChange, 1);
  *c = (TmChange){.step = step, .key = g_strdup(key), .from = g_strdup(from), .to = g_strdup(to), .undo = undo};
  return c;
}

TmChange *tm_change_copy(const TmChange *c) {
  return tm_change_new(c->step, c->key, c->from, c->to, c->undo);
}

void tm_change_free(TmChange *c) {
  if (!c) return;
  g_free(c->key);
  g_free(c->from);
  g_free(c->to);
  g_free(c);
}

/* Numbers stay numbers to other readers. */
static void set_value(JsonObject *o, const char *key, const char *text) {
  char *end = NULL;
  const double x = g_ascii_strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(x))
    json_object_set_double_member(o, key, x);
  else
    json_object_set_string_member(o, key, text);
}

JsonObject *tm_change_to_json(const TmChange *c) {
  JsonObject *o = json_object_new();
  json_object_set_int_member(o, "step", (gint64)c->step);
  json_object_set_string_member(o, "change", c->key);
  set_value(o, "from", c->from);
  set_value(o, "to", c->to);
  if (c->undo) json_object_set_boolean_member(o, "undo", TRUE);
  return o;
}

static char *value_text(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  if (!n || !JSON_NODE_HOLDS_VALUE(n)) return NULL;
  const GType type = json_node_get_value_type(n);
  if (type == G_TYPE_STRING) return json_node_dup_string(n);
  if (type == G_TYPE_INT64) return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(n));
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return type == G_TYPE_DOUBLE ? g_strdup(g_ascii_dtostr(text, sizeof text, json_node_get_double(n))) : NULL;
}

TmChange *tm_change_from_json(JsonNode *node) {
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) return NULL;
  JsonObject *o = json_node_get_object(node);
  JsonNode *step = json_object_get_member(o, "step");
  if (!step || !JSON_NODE_HOLDS_VALUE(step) || json_node_get_value_type(step) != G_TYPE_INT64 ||
      json_node_get_int(step) < 0)
    return NULL;
  g_autofree char *key = value_text(o, "change"), *from = value_text(o, "from"), *to = value_text(o, "to");
  if (!key || !to) return NULL;
  JsonNode *undo = json_object_get_member(o, "undo");
  return tm_change_new((guint64)json_node_get_int(step), key, from ? from : "", to,
                       undo && JSON_NODE_HOLDS_VALUE(undo) && json_node_get_boolean(undo));
}

GPtrArray *tm_run_read_changes(const char *path) {
  GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free);
  g_autofree char *full = g_build_filename(path, TM_RUN_CHANGES, NULL), *text = NULL;
  gsize size = 0;
  if (!g_file_get_contents(full, &text, &size, NULL) || size > MOST_BYTES) return list;
  for (char *line = text, *end; line && (end = memchr(line, '\n', size - (gsize)(line - text))); line = end + 1) {
    *end = '\0';
    g_autoptr(JsonNode) node = tm_json_parse(line, (gsize)(end - line), 64, NULL);
    TmChange *c = tm_change_from_json(node);
    if (c) g_ptr_array_add(list, c);
  }
  return list;
}
