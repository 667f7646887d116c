#include "engine/run/safetensors.h"

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "engine/run/json_text.h"

static const struct {
  const char *name;
  gsize size;
} types[TM_ST_N_TYPES] = {
    [TM_ST_F64] = {"F64", 8},   [TM_ST_F32] = {"F32", 4}, [TM_ST_F16] = {"F16", 2},
    [TM_ST_BF16] = {"BF16", 2}, [TM_ST_I64] = {"I64", 8}, [TM_ST_U64] = {"U64", 8},
    [TM_ST_I32] = {"I32", 4},   [TM_ST_U32] = {"U32", 4}, [TM_ST_I16] = {"I16", 2},
    [TM_ST_U16] = {"U16", 2},   [TM_ST_I8] = {"I8", 1},   [TM_ST_U8] = {"U8", 1},
    [TM_ST_BOOL] = {"BOOL", 1},
};

gsize tm_st_type_size(TmStType t) {
  return types[t].size;
}

static void clear_entry(gpointer p) {
  g_free(((TmStEntry *)p)->name);
}

void tm_st_header_free(TmStHeader *h) {
  if (!h) return;
  g_array_unref(h->entries);
  g_free(h->tarmac);
  g_free(h->crc32);
  g_free(h);
}

static gboolean corrupt(const char *name, const char *what, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("The entry of tensor “%s” in its header is wrong: %s."),
              name, what);
  return FALSE;
}

/* A whole number from 0 up; json-glib wraps what does not fit into 63 bits to negative numbers. */
static gboolean get_size(JsonNode *n, gint64 *out) {
  if (!n || !JSON_NODE_HOLDS_VALUE(n) || json_node_get_value_type(n) != G_TYPE_INT64) return FALSE;
  *out = json_node_get_int(n);
  return *out >= 0;
}

static gboolean read_type(JsonObject *o, TmStEntry *e, GError **error) {
  JsonNode *n = json_object_get_member(o, "dtype");
  const char *text = n && JSON_NODE_HOLDS_VALUE(n) ? json_node_get_string(n) : NULL;
  if (!text) return corrupt(e->name, _("it has no type"), error);
  for (int t = 0; t < TM_ST_N_TYPES; t++)
    if (g_str_equal(types[t].name, text)) {
      e->type = (TmStType)t;
      return TRUE;
    }
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
              _("Tensor “%s” has the type “%.32s”, which Tarmac does not know. Save it as F32, F16 or BF16."),
              e->name, text);
  return FALSE;
}

static gboolean read_shape(JsonObject *o, TmStEntry *e, guint64 *bytes, GError **error) {
  JsonNode *n = json_object_get_member(o, "shape");
  if (!n || !JSON_NODE_HOLDS_ARRAY(n)) return corrupt(e->name, _("it has no shape"), error);
  JsonArray *a = json_node_get_array(n);
  const guint rank = json_array_get_length(a);
  if (rank > TM_ST_MAX_RANK) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("Tensor “%s” has %u axes; Tarmac's have four at most."), e->name, rank);
    return FALSE;
  }
  *bytes = types[e->type].size;
  e->rank = (int)rank;
  for (guint i = 0; i < rank; i++) {
    if (!get_size(json_array_get_element(a, i), &e->extent[i]))
      return corrupt(e->name, _("its shape is not a list of sizes"), error);
    if (e->extent[i] == 0 || e->extent[i] > G_MAXINT32) {
      g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                  _("Tensor “%s” is empty or larger than Tarmac can hold."), e->name);
      return FALSE;
    }
    if (*bytes > (guint64)G_MAXINT64 / (guint64)e->extent[i])
      return corrupt(e->name, _("its shape is larger than any file"), error);
    *bytes *= (guint64)e->extent[i];
  }
  return TRUE;
}

static gboolean read_entry(JsonNode *node, TmStEntry *e, guint64 data_size, GError **error) {
  if (!JSON_NODE_HOLDS_OBJECT(node)) return corrupt(e->name, _("it is not an object"), error);
  JsonObject *o = json_node_get_object(node);
  guint64 bytes = 0;
  gint64 begin, end;
  if (!read_type(o, e, error) || !read_shape(o, e, &bytes, error)) return FALSE;
  JsonNode *n = json_object_get_member(o, "data_offsets");
  JsonArray *a = n && JSON_NODE_HOLDS_ARRAY(n) ? json_node_get_array(n) : NULL;
  if (!a || json_array_get_length(a) != 2 || !get_size(json_array_get_element(a, 0), &begin) ||
      !get_size(json_array_get_element(a, 1), &end))
    return corrupt(e->name, _("it has no data offsets"), error);
  if (begin > end || (guint64)end > data_size)
    return corrupt(e->name, _("its data lie outside of the file"), error);
  if ((guint64)(end - begin) != bytes)
    return corrupt(e->name, _("its data are not as long as its shape says"), error);
  e->begin = (guint64)begin;
  e->end = (guint64)end;
  return TRUE;
}

static gboolean read_metadata(TmStHeader *h, JsonNode *node, GError **error) {
  JsonObject *o = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  JsonNode *tarmac = o ? json_object_get_member(o, "tarmac") : NULL,
           *crc = o ? json_object_get_member(o, "crc32") : NULL;
  if (tarmac && JSON_NODE_HOLDS_VALUE(tarmac)) h->tarmac = json_node_dup_string(tarmac);
  if (crc && JSON_NODE_HOLDS_VALUE(crc)) h->crc32 = json_node_dup_string(crc);
  /* One without the other is a key that was damaged: taking it for another program's file would skip the
   * checksum. */
  if (o && !h->tarmac == !h->crc32) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_CORRUPT, _("Its header's metadata are damaged."));
  return FALSE;
}

static gint by_offset(gconstpointer a, gconstpointer b) {
  const TmStEntry *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static gboolean check_order(TmStHeader *h, guint64 data_size, GError **error) {
  guint64 at = 0;
  g_array_sort(h->entries, by_offset);
  for (guint i = 0; i < h->entries->len; i++) {
    const TmStEntry *e = &g_array_index(h->entries, TmStEntry, i);
    if (e->begin < at) return corrupt(e->name, _("its data overlap another tensor's"), error);
    if (e->begin > at) return corrupt(e->name, _("there is a hole before its data"), error);
    at = e->end;
  }
  if (at == data_size) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT,
              _("It holds %" G_GUINT64_FORMAT " bytes more than its tensors."), data_size - at);
  return FALSE;
}

TmStHeader *tm_st_header_parse(const char *text, gsize size, guint64 data_size, GError **error) {
  g_autoptr(JsonNode) root = tm_json_parse(text, size, 4, error);
  if (!root) return NULL;
  if (!JSON_NODE_HOLDS_OBJECT(root)) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_CORRUPT, _("Its header is not a JSON object."));
    return NULL;
  }
  g_autoptr(TmStHeader) h = g_new0(TmStHeader, 1);
  h->entries = g_array_new(FALSE, TRUE, sizeof(TmStEntry));
  g_array_set_clear_func(h->entries, clear_entry);
  JsonObjectIter it;
  const char *name;
  JsonNode *node;
  json_object_iter_init_ordered(&it, json_node_get_object(root));
  while (json_object_iter_next_ordered(&it, &name, &node)) {
    if (g_str_equal(name, "__metadata__")) {
      if (!read_metadata(h, node, error)) return NULL;
      continue;
    }
    g_array_append_val(h->entries, ((TmStEntry){.name = g_strdup(name)}));
    if (!read_entry(node, &g_array_index(h->entries, TmStEntry, h->entries->len - 1), data_size, error))
      return NULL;
  }
  if (!check_order(h, data_size, error)) return NULL;
  return g_steal_pointer(&h);
}

static void append_quoted(GString *s, const char *text) {
  g_string_append_c(s, '"');
  for (const char *p = text; *p; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_printf(s, "\\%c", *p);
    else if ((guchar)*p < 0x20 || *p == 0x7f)
      g_string_append_printf(s, "\\u%04x", (guint)(guchar)*p);
    else
      g_string_append_c(s, *p);
  }
  g_string_append_c(s, '"');
}

GString *tm_st_header_text(const GArray *entries, const char *tarmac) {
  GString *s = g_string_new(TM_ST_CRC_PREFIX "00000000\",\"tarmac\":");
  append_quoted(s, tarmac);
  g_string_append_c(s, '}');
  for (guint i = 0; i < entries->len; i++) {
    const TmStEntry *e = &g_array_index(entries, TmStEntry, i);
    g_string_append_c(s, ',');
    append_quoted(s, e->name);
    g_string_append_printf(s, ":{\"dtype\":\"%s\",\"shape\":[", types[e->type].name);
    for (int k = 0; k < e->rank; k++)
      g_string_append_printf(s, "%s%" G_GINT64_FORMAT, k ? "," : "", e->extent[k]);
    g_string_append_printf(s, "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}", e->begin,
                           e->end);
  }
  g_string_append_c(s, '}');
  while (s->len % 8) g_string_append_c(s, ' ');
  return s;
}

TmShape tm_st_shape(const TmStEntry *e) {
  const gint64 *x = e->extent;
  switch (e->rank) {
  case 0:
    return TM_SHAPE(1, 1, 1, 1);
  case 1:
    return TM_SHAPE(1, (int)x[0], 1, 1);
  case 2:
    return TM_SHAPE((int)x[0], (int)x[1], 1, 1);
  case 3:
    return TM_SHAPE((int)x[0], 1, (int)x[1], (int)x[2]);
  default:
    return TM_SHAPE((int)x[0], (int)x[1], (int)x[2], (int)x[3]);
  }
}

void tm_st_set_extent(TmStEntry *e, TmShape s, gboolean four_axes) {
  const gboolean vector = s.n == 1 && s.h == 1 && s.w == 1 && !four_axes;
  const gint64 all[4] = {s.n, s.c, s.h, s.w};
  e->rank = vector ? 1 : 4;
  for (int i = 0; i < e->rank; i++) e->extent[i] = vector ? s.c : all[i];
}
