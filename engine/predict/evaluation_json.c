/* evaluation_json.c: an evaluation as a file. What follows from the pictures' cells is written for other readers
 * and computed again when it is read. */
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/evaluation.h"
#include "engine/run/atomic.h"
#include "engine/run/json_text.h"

#define FORMAT "tarmac evaluation 1"

enum { MOST_BYTES = 256 << 20, DEPTH = 8 };

char *tm_evaluation_path(const char *folder, TmSplit split) {
  g_autofree char *name = g_strdup_printf("evaluation-%s.json", tm_split_name(split));
  return g_build_filename(folder, name, NULL);
}

/* ---- writing ---- */

static void add_number(JsonObject *o, const char *key, double v) {
  json_object_set_double_member(o, key, v);
}

static void add_scores(JsonObject *o, const TmEvaluation *e) {
  double low, high;
  tm_evaluation_interval(e, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, &low, &high);
  add_number(o, "miou", tm_confusion_miou(e->confusion));
  add_number(o, "miou_low", low);
  add_number(o, "miou_high", high);
  add_number(o, "pixel_accuracy", tm_confusion_accuracy(e->confusion));
  add_number(o, "weighted_iou", tm_confusion_weighted_iou(e->confusion));
  add_number(o, "boundary_f1", tm_evaluation_boundary_f1(e));
  json_object_set_int_member(o, "boundary_band", TM_BOUNDARY_BAND);
  add_number(o, "calibration_error", tm_reliability_error(e->bins));
}

static JsonObject *class_object(const TmEvaluation *e, guint c) {
  JsonObject *o = json_object_new();
  JsonArray *regions = json_array_new();
  json_object_set_string_member(o, "name", e->classes->classes[c].name);
  json_object_set_int_member(o, "truth", (gint64)tm_confusion_truth(e->confusion, c));
  json_object_set_int_member(o, "called", (gint64)tm_confusion_called(e->confusion, c));
  add_number(o, "iou", tm_confusion_iou(e->confusion, c));
  add_number(o, "precision", tm_confusion_precision(e->confusion, c));
  add_number(o, "recall", tm_confusion_recall(e->confusion, c));
  add_number(o, "f1", tm_confusion_f1(e->confusion, c));
  add_number(o, "boundary_f1", tm_evaluation_class_boundary_f1(e, c));
  add_number(o, "boundary_sum", e->boundary_sum[c]);
  json_object_set_int_member(o, "boundary_pictures", e->boundary_n[c]);
  for (guint k = 0; k < TM_REGION_SIZES; k++) {
    const TmRegionScore r = tm_evaluation_regions(e, c, k);
    json_array_add_int_element(regions, (gint64)r.n);
    json_array_add_double_element(regions, r.sum);
  }
  json_object_set_array_member(o, "regions", regions);
  return o;
}

/* "truth call pixels, …": one value, however many there are. */
static char *cells_text(const TmPictureScore *p) {
  GString *s = g_string_new(NULL);
  for (guint i = 0; i < p->cells->len; i++) {
    const TmCell *c = &g_array_index(p->cells, TmCell, i);
    g_string_append_printf(s, "%s%u %u %" G_GUINT64_FORMAT, i ? ", " : "", c->truth, c->call, c->pixels);
  }
  return g_string_free(s, FALSE);
}

static JsonArray *pictures_array(const TmEvaluation *e) {
  JsonArray *pictures = json_array_new();
  for (guint i = 0; i < e->pictures->len; i++) {
    const TmPictureScore *p = e->pictures->pdata[i];
    JsonObject *o = json_object_new();
    g_autofree char *cells = cells_text(p);
    json_object_set_string_member(o, "name", p->name);
    json_object_set_int_member(o, "entry", p->entry);
    add_number(o, "miou", tm_picture_miou(p, e->classes->n));
    add_number(o, "boundary_f1", p->boundary_f1);
    json_object_set_string_member(o, "cells", cells);
    json_array_add_object_element(pictures, o);
  }
  return pictures;
}

static JsonNode *evaluation_node(const TmEvaluation *e) {
  JsonObject *o = json_object_new();
  JsonArray *classes = json_array_new(), *bins = json_array_new(), *unreadable = json_array_new();
  json_object_set_string_member(o, "format", FORMAT);
  json_object_set_string_member(o, "checkpoint", e->checkpoint);
  json_object_set_int_member(o, "epoch", e->epoch);
  json_object_set_string_member(o, "precision", e->precision);
  json_object_set_string_member(o, "dataset", e->dataset);
  json_object_set_string_member(o, "dataset_hash", e->dataset_hash);
  json_object_set_string_member(o, "split", tm_split_name(e->split));
  add_scores(o, e);
  json_object_set_member(o, "classes", tm_class_table_to_json(e->classes));
  for (guint c = 0; c < e->classes->n; c++) json_array_add_object_element(classes, class_object(e, c));
  json_object_set_array_member(o, "class_scores", classes);
  for (guint m = 0; e->tells_sureness && m < TM_RELIABILITY_BINS; m++) {
    json_array_add_int_element(bins, (gint64)e->bins[m].pixels);
    json_array_add_int_element(bins, (gint64)e->bins[m].right);
    json_array_add_double_element(bins, e->bins[m].sure);
  }
  json_object_set_array_member(o, "reliability", bins);
  json_object_set_array_member(o, "pictures", pictures_array(e));
  for (guint i = 0; i < e->unreadable->len; i++)
    json_array_add_string_element(unreadable, e->unreadable->pdata[i]);
  json_object_set_array_member(o, "unreadable", unreadable);
  if (e->left_out) json_object_set_string_member(o, "left_out", e->left_out);
  add_number(o, "seconds", e->seconds);
  JsonNode *node = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(node, o);
  return node;
}

static gboolean write_text(const char *folder, TmSplit split, const char *suffix, const char *text,
                           GError **error) {
  g_autofree char *name = g_strdup_printf("evaluation-%s%s", tm_split_name(split), suffix),
                  *path = g_build_filename(folder, name, NULL);
  return tm_atomic_write_file(path, text, strlen(text), error);
}

gboolean tm_evaluation_write(const TmEvaluation *e, const char *folder, GError **error) {
  g_autoptr(JsonNode) node = evaluation_node(e);
  g_autofree char *json = tm_json_text(node, TRUE), *classes = tm_evaluation_class_csv(e),
                  *pictures = tm_evaluation_picture_csv(e);
  return write_text(folder, e->split, ".csv", classes, error) &&
         write_text(folder, e->split, "-pictures.csv", pictures, error) &&
         write_text(folder, e->split, ".json", json, error);
}

/* ---- reading ---- */

static gboolean complain(GError **error, const char *what) {
  g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” is missing or wrong"), what);
  return FALSE;
}

static const char *text_of(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING
             ? json_node_get_string(n)
             : NULL;
}

static JsonArray *array_of(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_ARRAY(n) ? json_node_get_array(n) : NULL;
}

static JsonObject *object_at(JsonArray *a, guint i) {
  JsonNode *n = json_array_get_element(a, i);
  return JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

/* A whole number from 0 to @most; -1: it is none. */
static gint64 whole(JsonNode *n, gint64 most) {
  if (!n || !JSON_NODE_HOLDS_VALUE(n) || json_node_get_value_type(n) != G_TYPE_INT64) return -1;
  const gint64 v = json_node_get_int(n);
  return v <= most ? v : -1;
}

/* NAN for null. */
static double number(JsonNode *n) {
  if (!n || !JSON_NODE_HOLDS_VALUE(n)) return NAN;
  const GType type = json_node_get_value_type(n);
  return type == G_TYPE_INT64 ? (double)json_node_get_int(n)
         : type == G_TYPE_DOUBLE ? json_node_get_double(n)
                                 : NAN;
}

static gboolean read_cells(TmEvaluation *e, TmPictureScore *p, const char *text) {
  const guint n = e->classes->n;
  while (*text) {
    guint64 v[3];
    for (int i = 0; i < 3; i++) {
      char *end;
      if (!g_ascii_isdigit(*text)) return FALSE;
      v[i] = g_ascii_strtoull(text, &end, 10);
      text = *end == ' ' && i < 2 ? end + 1 : end;
    }
    if (v[0] >= n || v[1] >= n || v[2] < 1 || v[2] > G_MAXINT64 / 1000000) return FALSE;
    g_array_append_vals(p->cells, &(TmCell){(guint8)v[0], (guint8)v[1], v[2]}, 1);
    e->confusion->pixels[v[0] * n + v[1]] += v[2];
    if (*text == ',' && text[1] == ' ')
      text += 2;
    else if (*text)
      return FALSE;
  }
  return TRUE;
}

static gboolean read_pictures(TmEvaluation *e, JsonArray *a, GError **error) {
  for (guint i = 0; i < json_array_get_length(a); i++) {
    JsonObject *o = object_at(a, i);
    const char *name = o ? text_of(o, "name") : NULL, *cells = o ? text_of(o, "cells") : NULL;
    const gint64 entry = o ? whole(json_object_get_member(o, "entry"), G_MAXUINT) : -1;
    if (!name || !cells || entry < 0) return complain(error, "pictures");
    TmPictureScore *p = g_new0(TmPictureScore, 1);
    p->name = g_strdup(name);
    p->entry = (guint)entry;
    p->cells = g_array_new(FALSE, FALSE, sizeof(TmCell));
    p->boundary_f1 = number(json_object_get_member(o, "boundary_f1"));
    g_ptr_array_add(e->pictures, p);
    if (!read_cells(e, p, cells)) return complain(error, "cells");
  }
  return e->pictures->len > 0 || complain(error, "pictures");
}

static gboolean read_classes(TmEvaluation *e, JsonArray *a, GError **error) {
  if (json_array_get_length(a) != e->classes->n) return complain(error, "class_scores");
  for (guint c = 0; c < e->classes->n; c++) {
    JsonObject *o = object_at(a, c);
    JsonArray *regions = o ? array_of(o, "regions") : NULL;
    const gint64 n = o ? whole(json_object_get_member(o, "boundary_pictures"), G_MAXUINT) : -1;
    const double sum = o ? number(json_object_get_member(o, "boundary_sum")) : NAN;
    if (n < 0 || !isfinite(sum) || !regions || json_array_get_length(regions) != 2 * TM_REGION_SIZES)
      return complain(error, "class_scores");
    e->boundary_n[c] = (guint)n;
    e->boundary_sum[c] = sum;
    for (guint k = 0; k < TM_REGION_SIZES; k++) {
      const gint64 count = whole(json_array_get_element(regions, 2 * k), G_MAXINT64);
      const double all = number(json_array_get_element(regions, 2 * k + 1));
      if (count < 0 || !isfinite(all)) return complain(error, "regions");
      e->regions[c * TM_REGION_SIZES + k] = (TmRegionScore){(guint64)count, all};
    }
  }
  return TRUE;
}

static gboolean read_bins(TmEvaluation *e, JsonArray *a, GError **error) {
  const guint n = json_array_get_length(a);
  e->tells_sureness = n > 0;
  if (n != 0 && n != 3 * TM_RELIABILITY_BINS) return complain(error, "reliability");
  for (guint m = 0; m < n / 3; m++) {
    const gint64 pixels = whole(json_array_get_element(a, 3 * m), G_MAXINT64),
                 right = whole(json_array_get_element(a, 3 * m + 1), G_MAXINT64);
    const double sure = number(json_array_get_element(a, 3 * m + 2));
    if (pixels < 0 || right < 0 || right > pixels || !isfinite(sure)) return complain(error, "reliability");
    e->bins[m] = (TmReliabilityBin){(guint64)pixels, (guint64)right, sure};
  }
  return TRUE;
}

static void read_words(TmEvaluation *e, JsonObject *o) {
  JsonArray *unreadable = array_of(o, "unreadable");
  e->checkpoint = g_strdup(text_of(o, "checkpoint"));
  e->precision = g_strdup(text_of(o, "precision"));
  e->dataset = g_strdup(text_of(o, "dataset"));
  e->dataset_hash = g_strdup(text_of(o, "dataset_hash"));
  e->left_out = g_strdup(text_of(o, "left_out"));
  for (guint i = 0; unreadable && i < json_array_get_length(unreadable); i++) {
    JsonNode *n = json_array_get_element(unreadable, i);
    if (JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING)
      g_ptr_array_add(e->unreadable, g_strdup(json_node_get_string(n)));
  }
}

static TmEvaluation *read_object(JsonObject *o, GError **error) {
  g_autoptr(TmClassTable) classes = tm_class_table_from_json(json_object_get_member(o, "classes"), error);
  if (!classes) return NULL;
  g_autoptr(TmEvaluation) e = tm_evaluation_new(classes);
  JsonArray *scores = array_of(o, "class_scores"), *bins = array_of(o, "reliability"),
            *pictures = array_of(o, "pictures");
  const char *split = text_of(o, "split");
  const gint64 epoch = whole(json_object_get_member(o, "epoch"), G_MAXUINT);
  read_words(e, o);
  e->seconds = number(json_object_get_member(o, "seconds"));
  if (g_strcmp0(text_of(o, "format"), FORMAT) != 0)
    complain(error, "format");
  else if (!e->checkpoint || !e->precision || !e->dataset || !e->dataset_hash || epoch < 0)
    complain(error, "checkpoint, epoch, precision, dataset");
  else if (!split || !tm_split_parse(split, &e->split))
    complain(error, "split");
  else if (!scores || !bins || !pictures)
    complain(error, "class_scores, reliability, pictures");
  else if (read_classes(e, scores, error) && read_bins(e, bins, error) && read_pictures(e, pictures, error)) {
    e->epoch = (guint)epoch;
    return g_steal_pointer(&e);
  }
  return NULL;
}

TmEvaluation *tm_evaluation_read(const char *path, GError **error) {
  g_autofree char *text = NULL, *shown = g_filename_display_name(path);
  g_autoptr(GError) why = NULL;
  g_autoptr(GFile) file = g_file_new_for_path(path);
  g_autoptr(GFileInfo) info =
      g_file_query_info(file, G_FILE_ATTRIBUTE_STANDARD_SIZE, G_FILE_QUERY_INFO_NONE, NULL, NULL);
  gsize size = 0;
  if (!info || g_file_info_get_size(info) > MOST_BYTES || !g_file_get_contents(path, &text, &size, &why)) {
    g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be read: %s"), shown,
                why ? why->message : _("it is not there, or too large"));
    return NULL;
  }
  g_autoptr(JsonNode) root = tm_json_parse(text, size, DEPTH, &why);
  TmEvaluation *e = root && JSON_NODE_HOLDS_OBJECT(root) ? read_object(json_node_get_object(root), &why) : NULL;
  if (!e)
    g_set_error(error, TM_ERROR, TM_ERROR_CORRUPT, _("“%s” is damaged: %s. Evaluate the run once more."), shown,
                why ? why->message : _("it is no object"));
  return e;
}
