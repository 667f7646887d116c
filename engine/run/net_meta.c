#include "engine/run/net_meta.h"

#include <glib/gi18n.h>
#include <math.h>

void tm_net_meta_clear(TmNetMeta *m) {
  g_clear_pointer(&m->settings, json_node_unref);
  g_clear_pointer(&m->classes, tm_class_table_free);
  g_clear_pointer(&m->version, g_free);
  *m = (TmNetMeta){0};
}

static void set_triple(JsonObject *o, const char *key, const double *v) {
  JsonArray *a = json_array_new();
  for (int i = 0; i < 3; i++) json_array_add_double_element(a, v[i]);
  json_object_set_array_member(o, key, a);
}

void tm_net_meta_write(JsonObject *o, const TmNetMeta *m) {
  json_object_set_string_member(o, "version", m->version ? m->version : TM_VERSION);
  json_object_set_member(o, "settings", json_node_copy(m->settings));
  json_object_set_member(o, "classes", tm_class_table_to_json(m->classes));
  set_triple(o, "mean", m->mean);
  set_triple(o, "std", m->std);
  json_object_set_int_member(o, "epoch", m->epoch);
  json_object_set_int_member(o, "total_step", (gint64)m->total_step);
  if (isfinite(m->best_miou))
    json_object_set_double_member(o, "best_miou", m->best_miou);
  else
    json_object_set_null_member(o, "best_miou");
}

/* JSON knows one kind of number; GLib's reader makes int64 or double of it. */
static gboolean get_number(JsonNode *n, double *out) {
  if (!n || !JSON_NODE_HOLDS_VALUE(n)) return FALSE;
  const GType t = json_node_get_value_type(n);
  if (t != G_TYPE_INT64 && t != G_TYPE_DOUBLE) return FALSE;
  *out = json_node_get_double(n);
  return isfinite(*out);
}

static gboolean wrong(const char *key, GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” is missing or wrong in the checkpoint's description of its network."), key);
  return FALSE;
}

static gboolean get_triple(JsonObject *o, const char *key, gboolean positive, double *out, GError **error) {
  JsonNode *n = json_object_get_member(o, key);
  if (!n || !JSON_NODE_HOLDS_ARRAY(n) || json_array_get_length(json_node_get_array(n)) != 3)
    return wrong(key, error);
  for (guint i = 0; i < 3; i++)
    if (!get_number(json_array_get_element(json_node_get_array(n), i), &out[i]) || (positive && out[i] <= 0))
      return wrong(key, error);
  return TRUE;
}

static gboolean get_count(JsonObject *o, const char *key, double limit, double *out, GError **error) {
  if (!get_number(json_object_get_member(o, key), out) || *out < 0 || *out > limit || *out != floor(*out))
    return wrong(key, error);
  return TRUE;
}

gboolean tm_net_meta_read(JsonObject *o, TmNetMeta *m, GError **error) {
  g_auto(TmNetMeta) r = {0};
  double epoch, step;
  JsonNode *settings = json_object_get_member(o, "settings");
  if (!settings || !JSON_NODE_HOLDS_OBJECT(settings)) return wrong("settings", error);
  if (!json_object_has_member(o, "classes")) return wrong("classes", error);
  if (!(r.classes = tm_class_table_from_json(json_object_get_member(o, "classes"), error))) {
    g_prefix_error(error, "%s", _("The class table in the checkpoint cannot be read: "));
    return FALSE;
  }
  if (!get_triple(o, "mean", FALSE, r.mean, error) || !get_triple(o, "std", TRUE, r.std, error)) return FALSE;
  if (!get_count(o, "epoch", G_MAXINT32, &epoch, error) || !get_count(o, "total_step", 0x1p53, &step, error))
    return FALSE;
  if (!get_number(json_object_get_member(o, "best_miou"), &r.best_miou)) r.best_miou = NAN;
  JsonNode *version = json_object_get_member(o, "version");
  if (version && JSON_NODE_HOLDS_VALUE(version)) r.version = json_node_dup_string(version);
  r.epoch = (guint)epoch;
  r.total_step = (guint64)step;
  r.settings = json_node_copy(settings);
  *m = r;
  r = (TmNetMeta){0};
  return TRUE;
}
