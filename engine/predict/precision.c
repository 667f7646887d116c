/* precision.c: what a predictor computes in. */
#include <glib/gi18n.h>

#include "engine/predict/calibrate.h"
#include "engine/predict/infer_graph.h"
#include "engine/predict/predictor-private.h"
#include "engine/predict/quantise.h"
#include "engine/core/crc32c.h"

/* Of all numbers of the net. */
static gboolean weights_sum(TmPredictor *p, guint32 *sum, GError **error) {
  g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(guint32));
  for (guint i = 0; i < p->params->list->len; i++) {
    const TmParam *one = &g_array_index(p->params->list, TmParam, i);
    const gsize n = tm_shape_count(one->shape);
    g_autofree float *x = g_new(float, n);
    if (!tm_params_read(p->params, one, FALSE, x, error)) return FALSE;
    const guint32 part = tm_crc32c(x, n * sizeof *x);
    g_array_append_val(sums, part);
  }
  *sum = tm_crc32c(sums->data, sums->len * sizeof(guint32));
  return TRUE;
}

gboolean tm_predictor_is_calibrated(TmPredictor *p) {
  guint32 sum;
  if (!p->limits && weights_sum(p, &sum, NULL)) {
    g_autofree char *path = tm_calibration_path(p->path);
    p->limits = tm_calibration_read(path, sum);
  }
  return p->limits != NULL;
}

gboolean tm_predictor_calibrate(TmPredictor *p, const TmDataset *d,
                                gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                                GError **error) {
  guint32 sum;
  GHashTable *limits = weights_sum(p, &sum, error) ? tm_calibrate(p, d, progress, user, error) : NULL;
  if (!limits) return FALSE;
  g_clear_pointer(&p->limits, g_hash_table_unref);
  p->limits = limits;
  g_autofree char *path = tm_calibration_path(p->path);
  tm_calibration_write(path, limits, sum,
                       NULL); /* where it cannot be written it is measured again next time */
  return TRUE;
}

/* The smallest graph names all numbers; programs for real sizes find them by name. */
static TmParams *make_bytes(TmPredictor *p, GError **error) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *labels =
      tm_infer_graph(g, &p->net, TM_SHAPE(1, 3, 1 << p->net.depth, 1 << p->net.depth), NULL, NULL);
  if (!tm_graph_check(g, error)) return NULL;
  g_autoptr(TmQuantised) q = tm_quantised_new(g, labels, error);
  g_autoptr(TmParams) bytes = q ? tm_params_new(p->backend, q->graph, error) : NULL;
  return bytes && tm_quantised_fill(q, bytes, p->params, p->limits, error) ? g_steal_pointer(&bytes) : NULL;
}

static gboolean to_int8(TmPredictor *p, GError **error) {
  if (!tm_predictor_is_calibrated(p)) {
    g_autofree char *shown = g_filename_display_name(p->path);
    g_set_error(
        error, TM_ERROR, TM_ERROR_DATA,
        _("int8 needs the ranges of the network's numbers, and those of “%s” were not measured yet. Evaluate "
          "it in int8 on some pictures first."),
        shown);
    return FALSE;
  }
  TmParams *bytes = make_bytes(p, error);
  if (!bytes) return FALSE;
  tm_predictor_forget_programs(p);
  g_clear_pointer(&p->bytes, tm_params_free);
  p->bytes = bytes;
  return TRUE;
}

gboolean tm_predictor_set_precision(TmPredictor *p, const char *precision, GError **error) {
  if (g_str_equal(precision, "int8")) return to_int8(p, error);
  TmDType type;
  if (g_str_equal(precision, "auto")) {
    type = tm_predictor_choose_precision(p);
  } else if (g_str_equal(precision, "f32")) {
    type = TM_F32;
  } else if (g_str_equal(precision, "bf16")) {
    type = TM_BF16;
  } else {
    g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
                _("There is no precision “%s”: it is auto, f32, bf16 or int8."), precision);
    return FALSE;
  }
  tm_predictor_forget_programs(p);
  g_clear_pointer(&p->bytes, tm_params_free);
  p->precision = type;
  return TRUE;
}

const char *tm_predictor_precision(const TmPredictor *p) {
  return p->bytes ? "int8" : tm_dtype_name(p->precision);
}
