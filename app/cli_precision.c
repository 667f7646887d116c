#include "app/cli_precision.h"

#include <glib/gi18n.h>
#include <string.h>

#include "app/interrupt.h"
#include "app/progress.h"
#include "app/run_source.h"

static gboolean on_progress(guint done, guint total, gpointer user) {
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

static gboolean calibrate(TmPredictor *p, const TmDataset *d, GError **error) {
  g_autoptr(TmProgress) progress = tm_progress_new(_("Measuring ranges"), _("pictures"));
  return tm_predictor_calibrate(p, d, on_progress, progress, error);
}

static gboolean calibrate_on_run(TmPredictor *p, const char *run, GError **error) {
  g_auto(TmRunSource) source = {0};
  if (tm_run_source_read(&source, run, error)) {
    source.options.classes = tm_predictor_classes(p);
    g_autoptr(TmDataset) d = tm_dataset_open(source.path, &source.options, error);
    if (d) return calibrate(p, d, error);
  }
  g_prefix_error(error, "%s",
                 _("int8 first measures the network on pictures; tarmac evaluate --precision int8 "
                   "--data does so on a folder of your choice. "));
  return FALSE;
}

gboolean tm_cli_set_precision(TmPredictor *p, const char *precision, const char *run, const TmDataset *d,
                              GError **error) {
  if (!precision) precision = "auto";
  if (strcmp(precision, "int8") == 0 && !tm_predictor_is_calibrated(p) &&
      !(d ? calibrate(p, d, error) : calibrate_on_run(p, run, error)))
    return FALSE;
  return tm_predictor_set_precision(p, precision, error);
}
