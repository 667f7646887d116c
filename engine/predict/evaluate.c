#include <glib/gi18n.h>

#include "engine/predict/predictor-private.h"

gboolean tm_predictor_same_classes(const TmClassTable *net, const TmClassTable *data, GError **error) {
  if (net->n != data->n) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("The network knows %u classes (%s) and the dataset has %u (%s). Evaluate it on data with "
                  "the classes it learned."),
                net->n, net->source ? net->source : "", data->n, data->source ? data->source : "");
    return FALSE;
  }
  for (guint i = 0; i < net->n; i++) {
    if (g_utf8_collate(net->classes[i].name, data->classes[i].name) == 0) continue;
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("Class %u is “%s” in the network and “%s” in the dataset. Evaluate it on data with the "
                  "classes it learned, in their order."),
                i, net->classes[i].name, data->classes[i].name);
    return FALSE;
  }
  return TRUE;
}

static gboolean add_entry(TmPredictor *p, const TmDataset *d, guint entry, TmConfusion *out, GError **error) {
  g_auto(TmSample) s = {0};
  if (!tm_dataset_read(d, entry, &s, error)) return FALSE;
  if (!s.labels) return TRUE;
  const gsize pixels = (gsize)s.w * (gsize)s.h;
  g_autofree guint8 *labels = g_try_malloc(pixels);
  if (!labels) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for the mask of “%s”."),
                tm_dataset_entry(d, entry)->name);
    return FALSE;
  }
  if (!tm_predictor_run(p, s.rgb, s.w, s.h, labels, error)) return FALSE;
  tm_confusion_add_labels(out, s.labels, labels, pixels);
  return TRUE;
}

/* Demo roads have masks without files. */
static gboolean is_judged(const TmDataset *d, guint i, TmSplit split) {
  const TmEntry *e = tm_dataset_entry(d, i);
  return e->split == split && (e->mask || !e->image);
}

gboolean tm_predictor_evaluate(TmPredictor *p, const TmDataset *d, TmSplit split, TmConfusion *out,
                               gboolean (*progress)(guint done, guint total, gpointer user), gpointer user,
                               GError **error) {
  if (!tm_predictor_same_classes(p->meta.classes, tm_dataset_classes(d), error)) return FALSE;
  if (out->n != p->meta.classes->n) {
    g_set_error(error, TM_ERROR, TM_ERROR_SHAPE, _("Scores of %u classes cannot be kept in a table of %u."),
                p->meta.classes->n, out->n);
    return FALSE;
  }
  guint total = 0, done = 0;
  for (guint i = 0; i < tm_dataset_n(d); i++) total += is_judged(d, i, split) ? 1 : 0;
  if (total == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” has no pictures with masks in the split “%s”. Choose another split."),
                tm_dataset_path(d), tm_split_name(split));
    return FALSE;
  }
  tm_confusion_clear(out);
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    if (!is_judged(d, i, split)) continue;
    if (!add_entry(p, d, i, out, error)) return FALSE;
    if (progress && !progress(++done, total, user)) {
      g_set_error_literal(error, TM_ERROR, TM_ERROR_CANCELLED, _("The evaluation was stopped."));
      return FALSE;
    }
  }
  return TRUE;
}
