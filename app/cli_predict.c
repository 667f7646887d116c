/* cli_predict.c: tarmac predict: masks for a folder of pictures. */
#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/cli_precision.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/predict/predictor.h"

typedef struct {
  char *out, *backend, *precision;
  int threads;
  gboolean replace, json;
} Options;

static gboolean on_progress(guint done, guint total, gpointer user) {
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

static void print_json(const char *run, const Options *o, const char *precision,
                       const TmFolderResult *result) {
  JsonObject *out = json_object_new();
  json_object_set_string_member(out, "run", run);
  json_object_set_string_member(out, "out", o->out);
  json_object_set_string_member(out, "precision", precision);
  json_object_set_int_member(out, "done", result->done);
  json_object_set_int_member(out, "failed", result->failed);
  JsonArray *errors = json_array_new();
  for (guint i = 0; result->errors && i < result->errors->len; i++)
    json_array_add_string_element(errors, result->errors->pdata[i]);
  json_object_set_array_member(out, "errors", errors);
  tm_cli_json_number(out, "seconds", result->seconds);
  tm_cli_json_number(out, "peak_rss_mb", tm_cli_peak_rss_mb());
  tm_cli_json_print(out);
}

static int write_masks(const char *run, const char *folder, const Options *o) {
  g_autoptr(GError) error = NULL;
  TmBackendOptions backend = {.threads = o->threads};
  g_autoptr(TmPredictor) p = tm_predictor_open(run, o->backend, &backend, &error);
  if (!p) return tm_cli_fail(error, TM_EXIT_FAILED);
  if (!tm_cli_set_precision(p, o->precision, run, NULL, &error))
    return tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught()
                                 : tm_cli_fail(error, TM_EXIT_FAILED);
  TmFolderResult result = {0};
  gboolean good;
  {
    g_autoptr(TmProgress) progress = tm_progress_new(_("Predicting"), _("pictures"));
    good = tm_predictor_folder(p, folder, o->out, o->replace, &result, on_progress, progress, &error);
  }
  int code = result.failed ? TM_EXIT_FAILED : TM_EXIT_OK;
  for (guint i = 0; result.errors && i < result.errors->len; i++)
    g_printerr("tarmac: %s\n", (const char *)result.errors->pdata[i]);
  if (!good)
    code =
        tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught() : tm_cli_fail(error, TM_EXIT_FAILED);
  if (good && o->json)
    print_json(run, o, tm_predictor_precision(p), &result);
  else if (good)
    g_print(_("%u pictures predicted, %u failed: masks, overlays and classes.csv are in %s\n"), result.done,
            result.failed, o->out);
  tm_folder_result_clear(&result);
  return code;
}

static int predict(int argc, char **argv) {
  Options o = {0};
  const GOptionEntry entries[] = {
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, N_("Folder for the results; made if it is not there"),
       N_("DIR")},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &o.replace, N_("Write over results that are there already"), NULL},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &o.backend, N_("auto, cuda, cpu or ref"), N_("NAME")},
      {"precision", 0, 0, G_OPTION_ARG_STRING, &o.precision,
       N_("f32, bf16 or int8; auto, unless said, is what engine and run suggest"), N_("TYPE")},
      {"threads", 0, 0, G_OPTION_ARG_INT, &o.threads, N_("Processor threads; 0 uses all"), N_("N")},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, N_("End with one line of JSON on standard output"), NULL},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  int code = TM_EXIT_OK;
  if (!tm_cli_parse(&tm_command_predict, entries, NULL, argc, argv, 2, 2, &words, &code)) {
    /* said */
  } else if (!o.out) {
    code = tm_cli_usage(&tm_command_predict, "%s", _("say where the results go with --out DIR."));
  } else if (o.threads < 0) {
    code = tm_cli_usage(&tm_command_predict, "%s", _("--threads is not negative."));
  } else {
    tm_interrupt_catch();
    code = write_masks(words[0], words[1], &o);
  }
  g_free(o.out);
  g_free(o.backend);
  g_free(o.precision);
  return code;
}

const TmCommand tm_command_predict = {
    .name = "predict",
    .operands = N_("RUN FOLDER"),
    .summary = N_("write masks for a folder of pictures"),
    .detail =
        N_("Predicts every picture of a folder with the best network of a run. For each: NAME.png, a mask in "
           "the values of the\n"
           "run's own masks, and NAME_overlay.png to look at; classes.csv has the share of each class. "
           "Pictures that cannot be read\n"
           "are named and left out; the exit code is then 1.\n\n"
           "Examples:\n"
           "  tarmac predict runs/wide holiday --out holiday-masks\n"
           "  tarmac predict runs/wide/checkpoints/last.safetensors holiday --out holiday-masks --replace"),
    .run = predict,
};
