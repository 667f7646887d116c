#include "engine/data/amend.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/dataset_private.h"

static GHashTable *keys_new(void) {
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

TmAmend *tm_amend_new(const char *layers) {
  TmAmend *a = g_new0(TmAmend, 1);
  a->left_out = keys_new();
  a->splits = keys_new();
  a->painted = keys_new();
  a->layers = g_strdup(layers);
  return a;
}

static void copy_keys(GHashTable *to, GHashTable *from) {
  GHashTableIter i;
  gpointer key, value;
  g_hash_table_iter_init(&i, from);
  while (g_hash_table_iter_next(&i, &key, &value)) g_hash_table_insert(to, g_strdup(key), value);
}

TmAmend *tm_amend_copy(const TmAmend *a) {
  TmAmend *c = tm_amend_new(a->layers);
  c->classes = a->classes ? tm_class_table_copy(a->classes) : NULL;
  copy_keys(c->left_out, a->left_out);
  copy_keys(c->splits, a->splits);
  copy_keys(c->painted, a->painted);
  return c;
}

void tm_amend_free(TmAmend *a) {
  if (!a) return;
  tm_class_table_free(a->classes);
  g_hash_table_unref(a->left_out);
  g_hash_table_unref(a->splits);
  g_hash_table_unref(a->painted);
  g_free(a->layers);
  g_free(a);
}

/* ---- changes ---- */

void tm_amend_leave_out(TmAmend *a, const char *key, gboolean out) {
  if (out)
    g_hash_table_add(a->left_out, g_strdup(key));
  else
    g_hash_table_remove(a->left_out, key);
}

void tm_amend_set_splits(TmAmend *a, const TmDataset *base, const TmDataset *d, const TmSplit *splits) {
  g_autoptr(GHashTable) own = keys_new();
  for (guint i = 0; i < tm_dataset_n(base); i++)
    g_hash_table_insert(own, tm_dataset_key(base, i), GUINT_TO_POINTER(tm_dataset_at(base, i)->split));
  g_hash_table_remove_all(a->splits);
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    g_autofree char *key = tm_dataset_key(d, i);
    if (GPOINTER_TO_UINT(g_hash_table_lookup(own, key)) != splits[i])
      g_hash_table_insert(a->splits, g_steal_pointer(&key), GUINT_TO_POINTER(splits[i]));
  }
}

void tm_amend_set_classes(TmAmend *a, TmClassTable *classes) {
  tm_class_table_free(a->classes);
  a->classes = classes;
}

/* A key is no file name: it may hold folders and be too long. */
char *tm_amend_layer(const TmAmend *a, const char *key, guint version) {
  if (!a->layers) return NULL;
  g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1),
                  *name = g_strdup_printf("%.32s-%u.png", hash, version);
  return g_build_filename(a->layers, name, NULL);
}

/* ---- applying ---- */

static int by_split(gconstpointer x, gconstpointer y, gpointer data) {
  const TmDataset *d = data;
  const guint i = *(const guint *)x, j = *(const guint *)y;
  const TmSplit a = tm_dataset_at(d, i)->split, b = tm_dataset_at(d, j)->split;
  return a != b    ? (int)a - (int)b
         : d->demo ? (i > j) - (i < j)
                   : strcmp(tm_dataset_at(d, i)->image, tm_dataset_at(d, j)->image);
}

/* The demo's scene numbers move with their entries. */
static void sort(TmDataset *d) {
  const guint n = d->entries->len;
  g_autofree guint *order = g_new(guint, MAX(n, 1)), *scenes = d->scenes;
  g_autofree gpointer *entries = g_memdup2(d->entries->pdata, MAX(n, 1) * sizeof(gpointer));
  for (guint i = 0; i < n; i++) order[i] = i;
  g_qsort_with_data(order, (int)n, sizeof *order, by_split, d);
  d->scenes = scenes ? g_new0(guint, MAX(n, 1)) : NULL;
  for (guint i = 0; i < n; i++) {
    d->entries->pdata[i] = entries[order[i]];
    if (scenes) d->scenes[i] = scenes[order[i]];
  }
}

TmDataset *tm_amend_apply(const TmAmend *a, const TmDataset *base) {
  TmDataset *d = tm_dataset_subset(base, NULL, a->classes);
  for (guint i = 0; i < d->entries->len; i++) {
    TmEntry *e = tm_dataset_at(d, i);
    g_autofree char *key = tm_dataset_key(d, i);
    gpointer split;
    e->left_out = g_hash_table_contains(a->left_out, key);
    if (g_hash_table_lookup_extended(a->splits, key, NULL, &split))
      e->split = (TmSplit)GPOINTER_TO_UINT(split);
    const guint painted = GPOINTER_TO_UINT(g_hash_table_lookup(a->painted, key));
    g_free(e->layer);
    e->layer = painted ? tm_amend_layer(a, key, painted) : NULL;
  }
  sort(d);
  tm_dataset_seal(d);
  return d;
}

/* ---- JSON ---- */

static JsonArray *keys_to_json(GHashTable *keys, int split) {
  JsonArray *out = json_array_new();
  g_autoptr(GList) all = g_list_sort(g_hash_table_get_keys(keys), (GCompareFunc)strcmp);
  for (GList *l = all; l; l = l->next)
    if (split < 0 || (int)GPOINTER_TO_UINT(g_hash_table_lookup(keys, l->data)) == split)
      json_array_add_string_element(out, l->data);
  return out;
}

void tm_amend_to_json(const TmAmend *a, JsonObject *o) {
  if (a->classes) json_object_set_member(o, "classes", tm_class_table_to_json(a->classes));
  json_object_set_array_member(o, "left_out", keys_to_json(a->left_out, -1));
  JsonObject *painted = json_object_new();
  GHashTableIter i;
  gpointer key, version;
  g_hash_table_iter_init(&i, a->painted);
  while (g_hash_table_iter_next(&i, &key, &version))
    json_object_set_int_member(painted, key, GPOINTER_TO_UINT(version));
  json_object_set_object_member(o, "painted", painted);
  JsonObject *splits = json_object_new();
  for (TmSplit s = 0; s < TM_N_SPLITS; s++)
    json_object_set_array_member(splits, tm_split_name(s), keys_to_json(a->splits, (int)s));
  json_object_set_object_member(o, "splits", splits);
}

/* Absent is empty. */
static gboolean keys_from_json(JsonObject *o, const char *name, GHashTable *to, gpointer value,
                               GError **error) {
  JsonNode *node = json_object_get_member(o, name);
  JsonArray *keys = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  gboolean good = !node || keys;
  for (guint i = 0; good && keys && i < json_array_get_length(keys); i++) {
    JsonNode *key = json_array_get_element(keys, i);
    good = JSON_NODE_HOLDS_VALUE(key) && json_node_get_value_type(key) == G_TYPE_STRING;
    if (good) g_hash_table_insert(to, json_node_dup_string(key), value);
  }
  if (!good) g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” is no list of pictures."), name);
  return good;
}

static gboolean painted_from_json(JsonObject *o, GHashTable *to) {
  JsonObjectIter i;
  const char *key;
  JsonNode *node;
  json_object_iter_init(&i, o);
  while (json_object_iter_next(&i, &key, &node)) {
    const gboolean number = JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64;
    const gint64 version = number ? json_node_get_int(node) : 0;
    if (version < 1 || version > G_MAXINT) return FALSE;
    g_hash_table_insert(to, g_strdup(key), GUINT_TO_POINTER((guint)version));
  }
  return TRUE;
}

TmAmend *tm_amend_from_json(JsonObject *o, const char *layers, GError **error) {
  g_autoptr(TmAmend) a = tm_amend_new(layers);
  JsonNode *classes = json_object_get_member(o, "classes"), *splits = json_object_get_member(o, "splits"),
           *painted = json_object_get_member(o, "painted");
  if (classes && !(a->classes = tm_class_table_from_json(classes, error))) return NULL;

  if (!keys_from_json(o, "left_out", a->left_out, NULL, error)) return NULL;
  if ((splits && !JSON_NODE_HOLDS_OBJECT(splits)) || (painted && !JSON_NODE_HOLDS_OBJECT(painted)) ||
      (painted && !painted_from_json(json_node_get_object(painted), a->painted))) {
    g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” is no list of pictures."),
                splits && !JSON_NODE_HOLDS_OBJECT(splits) ? "splits" : "painted");
    return NULL;
  }
  for (TmSplit s = 0; splits && s < TM_N_SPLITS; s++)
    if (!keys_from_json(json_node_get_object(splits), tm_split_name(s), a->splits, GUINT_TO_POINTER(s),
                        error))
      return NULL;
  return g_steal_pointer(&a);
}
