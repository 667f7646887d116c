#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/class_table.h"

enum { LARGEST_VALUE = 0xffffff };

/* The other values of class @index, where there are any. */
static void add_also(JsonBuilder *b, const TmClassTable *t, guint index) {
  gboolean any = FALSE;
  for (guint i = 0; i < t->n_also; i++) {
    if (t->also[i].index != index) continue;
    if (!any) {
      json_builder_set_member_name(b, "also");
      json_builder_begin_array(b);
    }
    any = TRUE;
    json_builder_add_int_value(b, t->also[i].value);
  }
  if (any) json_builder_end_array(b);
}

JsonNode *tm_class_table_to_json(const TmClassTable *t) {
  g_autoptr(JsonBuilder) b = json_builder_new();
  json_builder_begin_object(b);
  json_builder_set_member_name(b, "code");
  json_builder_add_string_value(b, t->code == TM_MASK_COLOUR ? "colour" : "index");
  json_builder_set_member_name(b, "classes");
  json_builder_begin_array(b);
  for (guint i = 0; i < t->n; i++) {
    const TmClass *c = &t->classes[i];
    char hex[8];
    g_snprintf(hex, sizeof hex, "#%02x%02x%02x", c->colour[0], c->colour[1], c->colour[2]);
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "name");
    json_builder_add_string_value(b, c->name);
    json_builder_set_member_name(b, "colour");
    json_builder_add_string_value(b, hex);
    json_builder_set_member_name(b, "value");
    json_builder_add_int_value(b, c->value);
    add_also(b, t, i);
    json_builder_end_object(b);
  }
  json_builder_end_array(b);
  json_builder_set_member_name(b, "void");
  json_builder_begin_array(b);
  for (guint i = 0; i < t->n_void; i++) json_builder_add_int_value(b, t->void_values[i]);
  json_builder_end_array(b);
  json_builder_set_member_name(b, "source");
  json_builder_add_string_value(b, t->source ? t->source : "");
  json_builder_end_object(b);
  return json_builder_get_root(b);
}

static gboolean complain(GError **error, const char *what) {
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("The class table cannot be read: %s."), what);
  return FALSE;
}

/* Members of files others may have edited: the type is asked before the value is taken. */
static const char *text_member(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING
             ? json_node_get_string(n)
             : NULL;
}

static gboolean value_of(JsonNode *n, gint32 *out) {
  if (!n || !JSON_NODE_HOLDS_VALUE(n) || json_node_get_value_type(n) != G_TYPE_INT64) return FALSE;
  const gint64 v = json_node_get_int(n);
  *out = (gint32)v;
  return v >= 0 && v <= LARGEST_VALUE;
}

static JsonArray *array_member(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_ARRAY(n) ? json_node_get_array(n) : NULL;
}

static gboolean read_class(JsonNode *node, TmClassTable *t, GError **error) {
  if (!JSON_NODE_HOLDS_OBJECT(node)) return complain(error, _("a class is no object"));
  JsonObject *o = json_node_get_object(node);
  const char *name = text_member(o, "name"), *colour = text_member(o, "colour");
  gint32 value;
  guint rgb;
  if (!name || !*name) return complain(error, _("a class has no name"));
  if (!colour || strlen(colour) != 7 || sscanf(colour, "#%6x", &rgb) != 1)
    return complain(error, _("a colour is not written “#rrggbb”"));
  if (!value_of(json_object_get_member(o, "value"), &value))
    return complain(error, _("a class has no value from 0 to 16777215"));
  if (tm_class_table_index(t, value) >= 0) return complain(error, _("two classes have one value"));
  tm_class_table_add(t, name, rgb, value);
  return TRUE;
}

/* After all classes, since a value that is a class of its own is no other's. */
static gboolean read_also(JsonArray *values, TmClassTable *t, guint index, GError **error) {
  for (guint i = 0; values && i < json_array_get_length(values); i++) {
    gint32 v;
    if (!value_of(json_array_get_element(values, i), &v))
      return complain(error, _("a class has no value from 0 to 16777215"));
    if (tm_class_table_index(t, v) >= 0) return complain(error, _("two classes have one value"));
    tm_class_table_add_also(t, v, index);
  }
  return TRUE;
}

static gboolean read_void(JsonArray *values, TmClassTable *t, GError **error) {
  for (guint i = 0; values && i < json_array_get_length(values); i++) {
    gint32 v;
    if (!value_of(json_array_get_element(values, i), &v))
      return complain(error, _("a void value is not from 0 to 16777215"));
    const int c = tm_class_table_index(t, v);
    if (c >= 0 && (guint)c < t->n) return complain(error, _("a value is both a class and void"));
    tm_class_table_add_void(t, v);
  }
  return TRUE;
}

static gboolean read_all(JsonObject *o, TmClassTable *t, GError **error) {
  const char *code = text_member(o, "code");
  JsonArray *classes = array_member(o, "classes");
  const guint n = classes ? json_array_get_length(classes) : 0;
  if (g_strcmp0(code, "colour") == 0)
    t->code = TM_MASK_COLOUR;
  else if (g_strcmp0(code, "index") != 0)
    return complain(error, _("“code” is neither “index” nor “colour”"));
  if (n < 1 || n > TM_MAX_CLASSES) return complain(error, _("it needs 1 to 254 classes"));
  for (guint i = 0; i < n; i++)
    if (!read_class(json_array_get_element(classes, i), t, error)) return FALSE;
  for (guint i = 0; i < n; i++) {
    JsonObject *c = json_array_get_object_element(classes, i);
    if (!read_also(array_member(c, "also"), t, i, error)) return FALSE;
  }
  t->source = g_strdup(text_member(o, "source"));
  return read_void(array_member(o, "void"), t, error);
}

TmClassTable *tm_class_table_from_json(JsonNode *node, GError **error) {
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
    complain(error, _("it is no object"));
    return NULL;
  }
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_INDEX);
  return read_all(json_node_get_object(node), t, error) ? g_steal_pointer(&t) : NULL;
}
