#include "engine/run/run_list.h"

#include <glib/gstdio.h>
#include <math.h>

#include "engine/run/run_card.h"
#include "engine/run/run_dir.h"

void tm_run_info_free(TmRunInfo *i) {
  g_free(i->path);
  g_free(i->name);
  g_free(i->title);
  g_free(i->note);
  g_free(i->state);
  g_free(i);
}

TmRunInfo *tm_run_info_of_file(const char *path) {
  TmRunInfo *i = g_new0(TmRunInfo, 1);
  i->path = g_strdup(path);
  i->name = g_filename_display_basename(path);
  i->state = g_strdup("");
  i->best_miou = NAN;
  i->has_network = TRUE;
  return i;
}

static const char *text_of(JsonObject *o, const char *key) {
  JsonNode *n = o ? json_object_get_member(o, key) : NULL;
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING ? json_node_get_string(n)
                                                                                      : "";
}

static double number_of(JsonObject *o, const char *key) {
  JsonNode *n = o ? json_object_get_member(o, key) : NULL;
  if (!n || !JSON_NODE_HOLDS_VALUE(n)) return NAN;
  const GType type = json_node_get_value_type(n);
  return type == G_TYPE_DOUBLE  ? json_node_get_double(n)
         : type == G_TYPE_INT64 ? (double)json_node_get_int(n)
                                : NAN;
}

static guint count_of(JsonObject *o, const char *key) {
  const double v = number_of(o, key);
  return v >= 0 && v < 1e9 ? (guint)v : 0;
}

static gint64 time_of(const char *path) {
  GStatBuf st;
  return g_stat(path, &st) == 0 ? (gint64)st.st_mtime : 0;
}

static TmRunInfo *read_run(const char *path) {
  g_autoptr(JsonNode) node = tm_run_read_info(path, NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT(node)) return NULL;
  JsonObject *o = json_node_get_object(node);
  JsonNode *result = json_object_get_member(o, "result");
  JsonObject *r = result && JSON_NODE_HOLDS_OBJECT(result) ? json_node_get_object(result) : NULL;
  g_autofree char *base = g_path_get_basename(path), *network = tm_run_best_path(path, NULL),
                  *last = g_build_filename(path, "checkpoints", "last.safetensors", NULL),
                  *info = g_build_filename(path, "run.json", NULL);
  TmRunInfo *i = g_new0(TmRunInfo, 1);
  i->path = g_strdup(path);
  i->name = g_filename_display_name(base);
  tm_run_card_read(path, &i->title, &i->note, &i->star);
  if (!i->title) i->title = g_strdup(i->name);
  i->state = g_strdup(text_of(o, "state"));
  i->best_miou = number_of(r, "best_miou");
  i->best_epoch = count_of(r, "best_epoch");
  i->epochs = count_of(r, "epochs");
  i->has_network = network != NULL;
  i->written = MAX(time_of(last), time_of(info));
  return i;
}

static int newest_first(gconstpointer a, gconstpointer b) {
  const TmRunInfo *x = *(TmRunInfo *const *)a, *y = *(TmRunInfo *const *)b;
  return x->written != y->written ? (x->written < y->written ? 1 : -1) : g_strcmp0(y->name, x->name);
}

GPtrArray *tm_run_list(const char *root) {
  GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)tm_run_info_free);
  g_autoptr(GDir) d = g_dir_open(root, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    g_autofree char *path = g_build_filename(root, name, NULL);
    TmRunInfo *i = name[0] != '.' && g_file_test(path, G_FILE_TEST_IS_DIR) ? read_run(path) : NULL;
    if (i) g_ptr_array_add(runs, i);
  }
  g_ptr_array_sort(runs, newest_first);
  return runs;
}
