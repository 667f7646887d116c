/* cli_evaluate.c: tarmac evaluate: scores a run's best net on a split. */
#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/cli_precision.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/run_source.h"
#include "app/scores.h"
#include "engine/predict/evaluate.h"
#include "engine/run/project_file.h"

typedef struct {
  char *data, *split, *backend, *precision;
  int threads;
  gboolean json;
} Options;

static gboolean on_progress(const TmEvaluation *so_far, guint done, guint total, gpointer user) {
  (void)so_far;
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

static TmDataset *open_data(const char *run, const Options *o, const TmClassTable *classes, GError **error) {
  g_auto(TmRunSource) source = {0};
  g_autoptr(GError) unknown = NULL;
  gboolean known = tm_run_source_read(&source, run, &unknown);
  if (!known && !o->data) {
    g_propagate_error(error, g_steal_pointer(&unknown));
    return NULL;
  }
  if (o->data) {
    tm_run_source_set(&source, o->data);
    if (!known) source.options.val_fraction = 0.2f;
  }
  /* The masks are read the way the net was taught: through the run's own class table. */
  source.options.classes = classes;
  g_autofree char *said = NULL;
  TmDataset *d = tm_project_dataset_open(source.path, &source.options, &said, error);
  if (said) g_printerr("%s\n", said);
  return d;
}

/* In the run, unless other pictures than its own were scored or the checkpoint lies elsewhere. A run that cannot be
 * written to is scored all the same. */
static void keep(const TmEvaluation *e, const char *run, const Options *o) {
  g_autofree char *folder = tm_run_source_folder(run), *info = g_build_filename(folder, "run.json", NULL);
  g_autoptr(GError) why = NULL;
  if (o->data || !g_file_test(info, G_FILE_TEST_EXISTS)) return;
  if (!tm_evaluation_write(e, folder, &why)) g_printerr(_("The scores were not kept: %s\n"), why->message);
}

static gboolean score(const char *run, const Options *o, TmSplit split, GError **error) {
  gint64 started = g_get_monotonic_time();
  TmBackendOptions backend = {.threads = o->threads};
  g_autoptr(TmPredictor) p = tm_predictor_open(run, o->backend, &backend, error);
  if (!p) return FALSE;
  const TmClassTable *classes = tm_predictor_classes(p);
  g_autoptr(TmDataset) d = open_data(run, o, classes, error);
  if (!d) return FALSE;
  if (tm_dataset_n_split(d, split) == 0) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” has no pictures in the split “%s”: it has %u to train, %u to validate, %u to test."),
                tm_dataset_path(d), tm_split_name(split), tm_dataset_n_split(d, TM_SPLIT_TRAIN),
                tm_dataset_n_split(d, TM_SPLIT_VAL), tm_dataset_n_split(d, TM_SPLIT_TEST));
    return FALSE;
  }
  if (!tm_cli_set_precision(p, o->precision, run, d, error)) return FALSE;
  g_printerr(_("%s, epoch %u, in %s, on %s: %u pictures of the split “%s”.\n"), tm_predictor_checkpoint(p),
             tm_predictor_epoch(p), tm_predictor_precision(p), tm_dataset_title(d),
             tm_dataset_n_split(d, split), tm_split_name(split));
  const TmEvaluateOptions options = {.split = split};
  g_autoptr(TmEvaluation) e = NULL;
  {
    g_autoptr(TmProgress) progress = tm_progress_new(_("Predicting"), _("pictures"));
    if (!(e = tm_evaluate(p, d, &options, on_progress, progress, error))) return FALSE;
  }
  keep(e, run, o);
  if (!o->json) {
    tm_scores_print(e);
    return TRUE;
  }
  JsonObject *out = json_object_new();
  json_object_set_string_member(out, "run", run);
  json_object_set_string_member(out, "checkpoint", tm_predictor_checkpoint(p));
  json_object_set_string_member(out, "split", tm_split_name(split));
  json_object_set_string_member(out, "precision", tm_predictor_precision(p));
  json_object_set_int_member(out, "pictures", tm_dataset_n_split(d, split));
  tm_scores_to_json(out, e, classes);
  tm_cli_json_number(out, "network_seconds", e->seconds);
  tm_cli_json_number(out, "seconds", (double)(g_get_monotonic_time() - started) / 1e6);
  tm_cli_json_number(out, "peak_rss_mb", tm_cli_peak_rss_mb());
  tm_cli_json_print(out);
  return TRUE;
}

static int evaluate(int argc, char **argv) {
  Options o = {0};
  const GOptionEntry entries[] = {
      {"data", 'd', 0, G_OPTION_ARG_FILENAME, &o.data,
       N_("Score on this folder instead of the run's own pictures"), N_("DIR")},
      {"split", 's', 0, G_OPTION_ARG_STRING, &o.split, N_("train, val (unless said) or test"), N_("NAME")},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &o.backend, N_("auto, cuda, cpu or ref"), N_("NAME")},
      {"precision", 0, 0, G_OPTION_ARG_STRING, &o.precision,
       N_("f32, bf16 or int8; auto, unless said, is what engine and run suggest"), N_("TYPE")},
      {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, N_("Processor threads; 0 uses all"), N_("N")},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, N_("End with one line of JSON on standard output"), NULL},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  g_autoptr(GError) error = NULL;
  int code = TM_EXIT_OK;
  TmSplit split = TM_SPLIT_VAL;
  if (!tm_cli_parse(&tm_command_evaluate, entries, NULL, argc, argv, 1, 1, &words, &code)) {
    /* said */
  } else if (o.split && !tm_split_parse(o.split, &split)) {
    code =
        tm_cli_usage(&tm_command_evaluate, _("there is no split “%s”: it is train, val or test."), o.split);
  } else if (o.threads < 0) {
    code = tm_cli_usage(&tm_command_evaluate, "%s", _("--threads is not negative."));
  } else {
    tm_interrupt_catch();
    if (!score(words[0], &o, split, &error))
      code =
          tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught() : tm_cli_fail(error, TM_EXIT_FAILED);
  }
  g_free(o.data);
  g_free(o.split);
  g_free(o.backend);
  g_free(o.precision);
  return code;
}

const TmCommand tm_command_evaluate = {
    .name = "evaluate",
    .operands = N_("RUN"),
    .summary = N_("score a run's best network: IoU, F1, boundaries, calibration"),
    .detail =
        N_("Scores the best network of a run on pictures it was not trained on. All pixels of the "
           "split go into one confusion\n"
           "matrix; a class in neither truth nor prediction is n/a and outside the mean. Boundaries are compared "
           "within 3 pixels (Csurka\n"
           "et al., 2013), calibration in 15 bins (Guo et al., 2017). The scores are kept in the run as "
           "evaluation-SPLIT.json and .csv.\n"
           "int8 is the fastest: the first time, it measures the network on training pictures and remembers the "
           "result beside the\n"
           "checkpoint.\n\n"
           "Examples:\n"
           "  tarmac evaluate runs/wide\n"
           "  tarmac evaluate runs/wide --split test\n"
           "  tarmac evaluate runs/wide --precision int8\n"
           "  tarmac evaluate runs/wide --data other-roads --json"),
    .run = evaluate,
};
