#include "engine/predict/calibrate.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/predict/infer_graph.h"
#include "engine/predict/predictor-private.h"
#include "engine/predict/range.h"
#include "engine/run/atomic.h"
#include "engine/core/crc32c.h"
#include "engine/run/json_text.h"

enum { MOST_SIDE = 512, ENOUGH = 1 << 18, JSON_DEPTH = 8 };

/* ---- the file ---- */

char *tm_calibration_path(const char *path) {
  const gsize stem =
      g_str_has_suffix(path, ".safetensors") ? strlen(path) - strlen(".safetensors") : strlen(path);
  g_autofree char *name = g_strndup(path, stem);
  return g_strconcat(name, ".int8.json", NULL);
}

/* Of all names and numbers, so that a file that was cut or edited counts as none. */
static guint32 limits_sum(GHashTable *limits) {
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(limits), (GCompareFunc)strcmp);
  g_autoptr(GByteArray) all = g_byte_array_new();
  for (GList *i = names; i; i = i->next) {
    g_byte_array_append(all, i->data, (guint)strlen(i->data) + 1);
    g_byte_array_append(all, g_hash_table_lookup(limits, i->data), sizeof(double));
  }
  return tm_crc32c(all->data, all->len);
}

gboolean tm_calibration_write(const char *path, GHashTable *limits, guint32 weights_sum, GError **error) {
  JsonObject *root = json_object_new(), *values = json_object_new();
  g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(limits), (GCompareFunc)strcmp);
  for (GList *i = names; i; i = i->next)
    json_object_set_double_member(values, i->data, *(const double *)g_hash_table_lookup(limits, i->data));
  json_object_set_int_member(root, "weights_crc32c", weights_sum);
  json_object_set_int_member(root, "limits_crc32c", limits_sum(limits));
  json_object_set_object_member(root, "limits", values);
  json_node_take_object(node, root);
  g_autofree char *text = tm_json_text(node, TRUE);
  return tm_atomic_write_file(path, text, strlen(text), error);
}

static GHashTable *limits_new(void) {
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void set_limit(GHashTable *limits, const char *name, double limit) {
  g_hash_table_insert(limits, g_strdup(name), g_memdup2(&limit, sizeof limit));
}

static gboolean sum_is(JsonObject *root, const char *name, guint32 sum) {
  JsonNode *n = json_object_get_member(root, name);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_int(n) == (gint64)sum;
}

GHashTable *tm_calibration_read(const char *path, guint32 weights_sum) {
  g_autofree char *text = NULL;
  gsize size;
  if (!g_file_get_contents(path, &text, &size, NULL)) return NULL;
  g_autoptr(JsonNode) node = tm_json_parse(text, size, JSON_DEPTH, NULL);
  JsonObject *root = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  JsonNode *values = root ? json_object_get_member(root, "limits") : NULL;
  if (!values || !JSON_NODE_HOLDS_OBJECT(values) || !sum_is(root, "weights_crc32c", weights_sum)) return NULL;
  g_autoptr(GHashTable) limits = limits_new();
  g_autoptr(GList) names = json_object_get_members(json_node_get_object(values));
  for (GList *i = names; i; i = i->next) {
    JsonNode *one = json_object_get_member(json_node_get_object(values), i->data);
    if (JSON_NODE_HOLDS_VALUE(one)) set_limit(limits, i->data, json_node_get_double(one));
  }
  return sum_is(root, "limits_crc32c", limits_sum(limits)) ? g_steal_pointer(&limits) : NULL;
}

/* ---- measuring ---- */

/* The net for pictures of one size with every layer's result readable. */
typedef struct {
  TmPredictor *p;
  TmGraph *graph;
  TmProgram *program;
  TmNode *picture;
  GPtrArray *taps;    /* of this graph */
  GHashTable *ranges; /* name to TmRange */
  int w, h;
} Meter;

static void meter_close(Meter *m) {
  g_clear_pointer(&m->program, tm_program_free);
  g_clear_pointer(&m->graph, tm_graph_free);
  g_ptr_array_set_size(m->taps, 0);
  m->w = m->h = 0;
}

static gboolean meter_open(Meter *m, int w, int h, GError **error) {
  if (m->w == w && m->h == h) return TRUE;
  meter_close(m);
  m->graph = tm_graph_new();
  TmNode *labels = tm_infer_graph(m->graph, &m->p->net, TM_SHAPE(1, 3, h, w), &m->picture, NULL);
  if (!tm_graph_check(m->graph, error)) return FALSE;
  g_autoptr(TmQuantised) q = tm_quantised_new(m->graph, labels, error);
  if (!q) return FALSE;
  for (guint i = 0; i < q->layers->len; i++) {
    const TmNode *out = g_array_index(q->layers, TmQuantisedLayer, i).out;
    if (out) g_ptr_array_add(m->taps, tm_graph_node(m->graph, out->id));
  }
  const TmProgramOptions options = {
      .precision = m->p->precision, .n_outputs = m->taps->len, .outputs = (TmNode *const *)m->taps->pdata};
  m->program = tm_program_new(m->p->backend, m->p->params, m->graph, &options, error);
  m->w = w;
  m->h = h;
  return m->program != NULL;
}

static TmRange *range_of(Meter *m, const char *name) {
  TmRange *r = g_hash_table_lookup(m->ranges, name);
  if (!r) g_hash_table_insert(m->ranges, g_strdup(name), r = g_new0(TmRange, 1));
  return r;
}

/* Of very many numbers those of some pixels, moved to the front: counting all takes as long as the net.
 * Returns how many. */
static gsize thin_out(float *x, TmShape shape) {
  const gsize pixels = tm_shape_pixels(shape), channels = (gsize)shape.c,
              step = pixels * channels / ENOUGH + 1;
  if (step == 1) return pixels * channels;
  gsize n = channels;
  for (gsize p = step; p < pixels; p += step, n += channels)
    memcpy(x + n, x + p * channels, channels * sizeof *x);
  return n;
}

static gboolean measure(Meter *m, const guint8 *rgb, GError **error) {
  if (!tm_program_write(m->program, m->picture, rgb, TM_U8, error) || !tm_program_run(m->program, error))
    return FALSE;
  for (guint i = 0; i < m->taps->len; i++) {
    const TmNode *n = m->taps->pdata[i];
    const gsize count = tm_shape_count(n->shape);
    g_autofree float *x = g_try_new(float, count);
    if (!x) {
      g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for the numbers of “%s”."),
                  n->name);
      return FALSE;
    }
    if (!tm_program_read(m->program, n, x, TM_F32, error)) return FALSE;
    tm_range_add(range_of(m, n->name), x, thin_out(x, n->shape));
  }
  return TRUE;
}

/* The middle of the picture, of what size is quick. */
static gboolean measure_entry(Meter *m, const TmDataset *d, guint entry, GError **error) {
  g_auto(TmSample) s = {0};
  if (!tm_dataset_read(d, entry, &s, error)) return FALSE;
  const int w = MIN(s.w, MOST_SIDE), h = MIN(s.h, MOST_SIDE), left = (s.w - w) / 2, top = (s.h - h) / 2;
  for (int i = 0; i < h; i++)
    memmove(s.rgb + (gsize)i * (gsize)w * 3, s.rgb + ((gsize)(top + i) * (gsize)s.w + (gsize)left) * 3,
            (gsize)w * 3);
  return meter_open(m, w, h, error) && measure(m, s.rgb, error);
}

/* Training pictures where there are any: those that are judged should stay unseen. */
static GArray *choose_entries(const TmDataset *d) {
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint));
  const gboolean any = tm_dataset_n_split(d, TM_SPLIT_TRAIN) == 0;
  for (guint i = 0; i < tm_dataset_n(d); i++)
    if (any || tm_dataset_entry(d, i)->split == TM_SPLIT_TRAIN) g_array_append_val(all, i);
  const guint n = MIN(all->len, TM_CALIBRATE_PICTURES);
  GArray *chosen = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < n; i++) g_array_append_val(chosen, g_array_index(all, guint, i * all->len / n));
  return chosen;
}

static GHashTable *limits_of(Meter *m) {
  GHashTable *limits = limits_new();
  for (guint i = 0; i < m->taps->len; i++) {
    const TmNode *n = m->taps->pdata[i];
    set_limit(limits, n->name, tm_range_limit(range_of(m, n->name), tm_quantised_positive(n) ? 255 : 127));
  }
  return limits;
}

GHashTable *tm_calibrate(TmPredictor *p, const TmDataset *d,
                         gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                         GError **error) {
  g_autoptr(GArray) entries = choose_entries(d);
  if (entries->len == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” has no pictures to measure the network's ranges on."),
                tm_dataset_path(d));
    return NULL;
  }
  Meter m = {.p = p,
             .taps = g_ptr_array_new(),
             .ranges = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < entries->len; i++) {
    ok = measure_entry(&m, d, g_array_index(entries, guint, i), error);
    if (ok && progress && !progress(i + 1, entries->len, user)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED,
                          _("Measuring the network's ranges was stopped."));
      ok = FALSE;
    }
  }
  GHashTable *limits = ok ? limits_of(&m) : NULL;
  meter_close(&m);
  g_ptr_array_unref(m.taps);
  g_hash_table_unref(m.ranges);
  return limits;
}
