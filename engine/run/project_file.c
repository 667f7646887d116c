#include "engine/run/project_file.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "engine/run/atomic.h"
#include "engine/run/json_text.h"
#include "engine/run/run_dir.h"
#include "engine/run/run_names.h"

#define PROJECT_NAME "project.json"
enum { VERSION = 1, DEPTH = 16 };

static gboolean is_demo(const char *path) {
  return strcmp(path, "demo") == 0;
}

void tm_project_file_free(TmProjectFile *p) {
  if (!p) return;
  g_free(p->folder);
  g_free(p->path);
  g_free(p->title);
  tm_amend_free(p->amend);
  g_free(p);
}

static TmProjectFile *project_new(const char *path) {
  TmProjectFile *p = g_new0(TmProjectFile, 1);
  p->path = is_demo(path) ? g_strdup(path) : g_canonicalize_filename(path, NULL);
  p->title = is_demo(path) ? g_strdup(_("Demo roads")) : g_filename_display_basename(p->path);
  g_autofree char *runs = tm_run_default_root(p->path, p->title);
  p->folder = g_path_get_dirname(runs);
  p->options.val_fraction = 0.2f;
  return p;
}

/* ---- writing ---- */

static JsonNode *to_json(const TmProjectFile *p) {
  JsonObject *o = json_object_new();
  json_object_set_int_member(o, "version", VERSION);
  /* JSON is UTF-8 and a path need not be. */
  g_autofree char *uri = is_demo(p->path) ? g_strdup(p->path) : g_filename_to_uri(p->path, NULL, NULL);
  json_object_set_string_member(o, "dataset", uri);
  json_object_set_string_member(o, "title", p->title);
  const struct {
    const char *key;
    gint64 value;
  } demo[] = {{"seed", (gint64)p->options.seed},
              {"demo_train", p->options.demo_train},
              {"demo_val", p->options.demo_val},
              {"demo_width", p->options.demo_width},
              {"demo_height", p->options.demo_height}};
  for (guint i = 0; is_demo(p->path) && i < G_N_ELEMENTS(demo); i++)
    json_object_set_int_member(o, demo[i].key, demo[i].value);
  json_object_set_double_member(o, "val_fraction", (double)p->options.val_fraction);
  json_object_set_int_member(o, "opened", p->opened);
  json_object_set_boolean_member(o, "forgotten", p->forgotten);
  json_object_set_int_member(o, "pictures", p->n_pictures);
  tm_amend_to_json(p->amend, o);
  JsonNode *node = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(node, o);
  return node;
}

gboolean tm_project_file_write(const TmProjectFile *p, GError **error) {
  if (g_mkdir_with_parents(p->folder, 0777) != 0) {
    tm_write_error(error, errno, p->folder, 0);
    return FALSE;
  }
  g_autoptr(JsonNode) node = to_json(p);
  g_autofree char *text = tm_json_text(node, TRUE), *path = g_build_filename(p->folder, PROJECT_NAME, NULL);
  return tm_atomic_write_file(path, text, strlen(text), error);
}

/* ---- reading ---- */

static gint64 whole(JsonObject *o, const char *key, gint64 usual) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_INT64 ? json_node_get_int(n)
                                                                                      : usual;
}

static int small(JsonObject *o, const char *key) {
  return (int)CLAMP(whole(o, key, 0), 0, G_MAXINT);
}

static const char *words(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING
             ? json_node_get_string(n)
             : NULL;
}

/* Fills @p, whose folder is set. */
static gboolean read_object(TmProjectFile *p, JsonObject *o, GError **error) {
  const char *uri = words(o, "dataset"), *title = words(o, "title");
  g_autofree char *path = !uri ? NULL : is_demo(uri) ? g_strdup(uri) : g_filename_from_uri(uri, NULL, NULL);
  if (!path || whole(o, "version", 0) != VERSION) {
    g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT,
                path ? _("It was written by another version of Tarmac.")
                     : _("It does not say where the pictures are."));
    return FALSE;
  }
  g_autofree char *layers = g_build_filename(p->folder, "void", NULL);
  TmAmend *amend = tm_amend_from_json(o, layers, error);
  if (!amend) return FALSE;
  tm_amend_free(p->amend);
  p->amend = amend;
  g_free(p->path);
  p->path = g_steal_pointer(&path);
  if (title) {
    g_free(p->title);
    p->title = g_strdup(title);
  }
  JsonNode *fraction = json_object_get_member(o, "val_fraction");
  const double val = fraction && JSON_NODE_HOLDS_VALUE(fraction) ? json_node_get_double(fraction) : 0.2;
  p->options = (TmDatasetOptions){.val_fraction = val >= 0 && val <= 1 ? (float)val : 0.2f,
                                  .seed = (guint64)whole(o, "seed", 0),
                                  .demo_train = small(o, "demo_train"),
                                  .demo_val = small(o, "demo_val"),
                                  .demo_width = small(o, "demo_width"),
                                  .demo_height = small(o, "demo_height")};
  p->opened = whole(o, "opened", 0);
  p->forgotten = json_object_get_boolean_member_with_default(o, "forgotten", FALSE);
  p->n_pictures = (guint)small(o, "pictures");
  return TRUE;
}

/* FALSE without an error: there is none. */
static gboolean read_file(TmProjectFile *p, GError **error) {
  g_autofree char *path = g_build_filename(p->folder, PROJECT_NAME, NULL),
                  *shown = g_filename_display_name(path), *text = NULL;
  g_autoptr(GError) why = NULL;
  gsize size;
  if (!g_file_get_contents(path, &text, &size, &why)) {
    if (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
        g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOTDIR))
      return FALSE;
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("The project “%s” cannot be read: %s."), shown,
                why->message);
    return FALSE;
  }
  g_autoptr(JsonNode) node = tm_json_parse(text, size, DEPTH, &why);
  if (node && !JSON_NODE_HOLDS_OBJECT(node))
    g_set_error_literal(&why, TM_ERROR, TM_ERROR_CORRUPT, _("It is no object."));
  if (why || !read_object(p, json_node_get_object(node), &why)) {
    g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT,
                _("The project “%s” is damaged: %s Move that file away to begin the project anew."), shown,
                why->message);
    return FALSE;
  }
  return TRUE;
}

TmProjectFile *tm_project_file_open(const char *path, GError **error) {
  g_autoptr(TmProjectFile) p = project_new(path);
  g_autoptr(GError) why = NULL;
  g_autofree char *asked = g_strdup(p->path);
  if (read_file(p, &why)) {
    /* The folder's name holds the path's hash; should they differ, the path that was asked for counts. */
    g_free(p->path);
    p->path = g_steal_pointer(&asked);
    return g_steal_pointer(&p);
  }
  if (why) {
    g_propagate_error(error, g_steal_pointer(&why));
    return NULL;
  }
  g_autofree char *layers = g_build_filename(p->folder, "void", NULL);
  p->amend = tm_amend_new(layers);
  return g_steal_pointer(&p);
}

/* ---- all of them ---- */

static int by_opened(gconstpointer a, gconstpointer b) {
  const TmProjectFile *x = *(TmProjectFile *const *)a, *y = *(TmProjectFile *const *)b;
  return x->opened != y->opened ? (x->opened < y->opened ? 1 : -1) : g_strcmp0(x->title, y->title);
}

GPtrArray *tm_project_file_list(void) {
  GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)tm_project_file_free);
  g_autofree char *root = g_build_filename(g_get_user_data_dir(), "tarmac", "projects", NULL);
  g_autoptr(GDir) dir = g_dir_open(root, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autoptr(TmProjectFile) p = g_new0(TmProjectFile, 1);
    p->folder = g_build_filename(root, name, NULL);
    if (read_file(p, NULL) && p->title) g_ptr_array_add(all, g_steal_pointer(&p));
  }
  g_ptr_array_sort(all, by_opened);
  return all;
}

/* The best mean IoU of a run, NAN when it has none. */
static double run_miou(const char *run) {
  g_autoptr(GArray) epochs = g_array_new(FALSE, FALSE, sizeof(TmEpochRow));
  double best = NAN;
  if (!tm_run_read_history(run, NULL, epochs, NULL)) return best;
  for (guint i = 0; i < epochs->len; i++) {
    const double miou = (double)g_array_index(epochs, TmEpochRow, i).miou;
    if (!isnan(miou) && !(miou <= best)) best = miou;
  }
  return best;
}

static int newest_first(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)b, *(char *const *)a);
}

guint tm_project_file_runs(const TmProjectFile *p, char **best_run, double *miou) {
  g_autofree char *root = g_build_filename(p->folder, "runs", NULL);
  g_autoptr(GDir) dir = g_dir_open(root, 0, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *info = g_build_filename(root, name, TM_RUN_INFO, NULL);
    if (g_file_test(info, G_FILE_TEST_EXISTS)) g_ptr_array_add(names, g_strdup(name));
  }
  g_ptr_array_sort(names, newest_first);
  *best_run = NULL;
  *miou = NAN;
  for (guint i = 0; i < names->len && isnan(*miou); i++) {
    g_autofree char *run = g_build_filename(root, names->pdata[i], NULL);
    *miou = run_miou(run);
    if (!isnan(*miou)) *best_run = g_strdup(names->pdata[i]);
  }
  return names->len;
}

/* ---- the dataset ---- */

static char *sentence(const TmAmend *a) {
  const guint out = g_hash_table_size(a->left_out), moved = g_hash_table_size(a->splits),
              painted = g_hash_table_size(a->painted);
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
  if (a->classes)
    g_ptr_array_add(parts, g_strdup_printf(ngettext("its class table with %u class",
                                                    "its class table with %u classes", a->classes->n),
                                           a->classes->n));
  if (out)
    g_ptr_array_add(parts,
                    g_strdup_printf(ngettext("%u picture left out", "%u pictures left out", out), out));
  if (moved)
    g_ptr_array_add(
        parts, g_strdup_printf(ngettext("%u picture in another split", "%u pictures in another split", moved),
                               moved));
  if (painted)
    g_ptr_array_add(parts,
                    g_strdup_printf(ngettext("%u mask painted on", "%u masks painted on", painted), painted));
  if (!parts->len) return NULL;
  g_ptr_array_add(parts, NULL);
  g_autofree char *list = g_strjoinv(", ", (char **)parts->pdata);
  return g_strdup_printf(_("The project changes: %s."), list);
}

TmDataset *tm_project_dataset_open(const char *path, const TmDatasetOptions *options, char **said,
                                   GError **error) {
  if (said) *said = NULL;
  g_autoptr(TmProjectFile) p = tm_project_file_open(path, error);
  g_autoptr(TmDataset) base = p ? tm_dataset_open(path, options, error) : NULL;
  if (!base) return NULL;
  if (options && options->classes) tm_amend_set_classes(p->amend, NULL); /* whoever gives a table means it */
  char *text = sentence(p->amend);
  if (!text) return g_steal_pointer(&base);
  TmDataset *d = tm_amend_apply(p->amend, base);
  if (said)
    *said = text;
  else
    g_free(text);
  return d;
}
