#include "engine/run/json_text.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

enum { MAX_VALUES = 1000000 };

static JsonNode *finite_copy(JsonNode *n);

static JsonNode *finite_object(JsonObject *o) {
  JsonObject *copy = json_object_new();
  JsonObjectIter it;
  const char *name;
  JsonNode *member;
  json_object_iter_init_ordered(&it, o);
  while (json_object_iter_next_ordered(&it, &name, &member))
    json_object_set_member(copy, name, finite_copy(member));
  JsonNode *r = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(r, copy);
  return r;
}

static JsonNode *finite_array(JsonArray *a) {
  JsonArray *copy = json_array_sized_new(json_array_get_length(a));
  for (guint i = 0; i < json_array_get_length(a); i++)
    json_array_add_element(copy, finite_copy(json_array_get_element(a, i)));
  JsonNode *r = json_node_new(JSON_NODE_ARRAY);
  json_node_take_array(r, copy);
  return r;
}

static JsonNode *finite_copy(JsonNode *n) {
  if (JSON_NODE_HOLDS_OBJECT(n)) return finite_object(json_node_get_object(n));
  if (JSON_NODE_HOLDS_ARRAY(n)) return finite_array(json_node_get_array(n));
  if (JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_DOUBLE &&
      !isfinite(json_node_get_double(n)))
    return json_node_new(JSON_NODE_NULL);
  return json_node_copy(n);
}

char *tm_json_text(JsonNode *node, gboolean pretty) {
  g_autoptr(JsonNode) finite = finite_copy(node);
  return json_to_string(finite, pretty);
}

/* json-glib 1.6 parses by recursion without a limit and spends some hundred bytes a value, so both are
 * bounded before it sees the text. */
static gboolean plausible(const char *text, gsize size, int depth) {
  gsize values = 0;
  int level = 0;
  gboolean in_string = FALSE;
  for (gsize i = 0; i < size; i++) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_string = FALSE;
    } else if (c == '"') {
      in_string = TRUE;
    } else if (c == '{' || c == '[') {
      if (++level > depth || ++values > MAX_VALUES) return FALSE;
    } else if (c == '}' || c == ']') {
      if (--level < 0) return FALSE;
    } else if (c == ',' && ++values > MAX_VALUES) {
      return FALSE;
    }
  }
  return level == 0 && !in_string;
}

/* Length of the bare NaN or infinity that begins at @p, as Python, JavaScript and C write them; 0 for
 * anything else. */
static gsize non_finite(const char *p, gsize left) {
  static const char *const words[] = {"infinity", "inf", "nan"};
  const gsize sign = left > 0 && *p == '-' ? 1 : 0;
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    const gsize n = strlen(words[i]);
    if (left - sign >= n && g_ascii_strncasecmp(p + sign, words[i], n) == 0) return sign + n;
  }
  return 0;
}

static char *without_non_finite(const char *text, gsize size, gsize *out_size) {
  GString *out = g_string_sized_new(size + 16);
  gboolean in_string = FALSE;
  for (gsize i = 0; i < size;) {
    const gsize skip = in_string ? 0 : non_finite(text + i, size - i);
    if (skip) {
      g_string_append(out, "null");
      i += skip;
      continue;
    }
    if (in_string && text[i] == '\\' && i + 1 < size)
      g_string_append_c(out, text[i++]);
    else if (text[i] == '"')
      in_string = !in_string;
    g_string_append_c(out, text[i++]);
  }
  *out_size = out->len;
  return g_string_free(out, FALSE);
}

JsonNode *tm_json_parse(const char *text, gsize size, int depth, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new();
  if (!g_utf8_validate_len(text, size, NULL) || !plausible(text, size, depth)) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_CORRUPT, _("It is not valid JSON text."));
    return NULL;
  }
  gsize clean_size;
  g_autofree char *clean = without_non_finite(text, size, &clean_size);
  g_autoptr(GError) why = NULL;
  if (!json_parser_load_from_data(parser, clean, (gssize)clean_size, &why) || !json_parser_get_root(parser)) {
    g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("It is not valid JSON text (%s)."),
                why ? why->message : _("it is empty"));
    return NULL;
  }
  return json_parser_steal_root(parser);
}
