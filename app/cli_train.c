/* cli_train.c: tarmac train: opens and scans the pictures, trains, scores the best net, and leaves a run
 * folder. */
#include <math.h>
#include <string.h>

#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/lr_report.h"
#include "app/plan_words.h"
#include "app/progress.h"
#include "app/run_source.h"
#include "app/scores.h"
#include "app/setting_options.h"
#include "app/sheet.h"
#include "app/train_watch.h"
#include "engine/predict/evaluate.h"
#include "engine/run/project_file.h"
#include "engine/run/run_dir.h"
#include "engine/train/step_times.h"

typedef struct {
  char *out, *name, *resume, *replay, *preset, *demo_size, *explain;
  int demo_train, demo_val;
  double val_fraction;
  gboolean json, lr_test, plan;
} Options;

/* All that a run needs, opened one after the other. */
typedef struct {
  Options o;
  TmRunSource source;
  TmSettings settings;
  TmDataset *data;
  TmScan *scan;
  TmEstimate *estimate; /* NULL: it could not be made */
  char *run;
  char *replayed; /* the folder of the run that is made again */
} Job;

static void job_clear(Job *j) {
  g_free(j->o.out);
  g_free(j->o.name);
  g_free(j->o.resume);
  g_free(j->o.replay);
  g_free(j->o.preset);
  g_free(j->o.demo_size);
  g_free(j->o.explain);
  tm_run_source_clear(&j->source);
  if (j->data) tm_dataset_unref(j->data);
  tm_scan_free(j->scan);
  tm_estimate_free(j->estimate);
  g_free(j->run);
  g_free(j->replayed);
}

/* ---- settings ---- */

/* SegNet's CamVid has a recipe of its own, the demo roads a quick one; anything else starts from the table.
 */
static const char *fitting_preset(const TmDataset *d) {
  if (strcmp(tm_dataset_path(d), "demo") == 0) return "quick";
  g_autoptr(TmClassTable) camvid = tm_class_table_camvid();
  gboolean segnet = strstr(tm_dataset_layout(d), "SegNet") != NULL;
  return segnet && tm_dataset_classes(d)->n == camvid->n ? "camvid" : NULL;
}

static gboolean choose_settings(Job *j, const TmSettingOptions *given, GError **error) {
  tm_settings_defaults(&j->settings);
  if (j->o.resume || j->o.replay)
    return tm_run_settings(j->o.resume ? j->run : j->replayed, j->o.replay != NULL, &j->settings, error) &&
           tm_setting_options_apply(given, &j->settings, error);
  const char *preset = j->o.preset ? j->o.preset : fitting_preset(j->data);
  if (preset) {
    if (!tm_settings_preset(&j->settings, preset, error)) return FALSE;
    g_printerr(_("Preset %s: %s.\n"), preset, _(tm_settings_preset_text(preset)));
  } else {
    g_printerr("%s\n", _("Settings: the defaults (see tarmac train --help; --preset chooses others)."));
  }
  return tm_setting_options_apply(given, &j->settings, error);
}

/* ---- pictures ---- */

static gboolean open_data(Job *j, GError **error) {
  g_autofree char *said = NULL;
  j->data = tm_project_dataset_open(j->source.path, &j->source.options, &said, error);
  if (!j->data) return FALSE;
  g_printerr(_("%s: %s; %u pictures to train on, %u to validate.\n"), tm_dataset_title(j->data),
             tm_dataset_layout(j->data), tm_dataset_n_split(j->data, TM_SPLIT_TRAIN),
             tm_dataset_n_split(j->data, TM_SPLIT_VAL));
  for (const char *const *note = tm_dataset_notes(j->data); note && *note; note++)
    g_printerr("  %s\n", *note);
  if (said) g_printerr("  %s\n", said);
  return TRUE;
}

static gboolean scan_progress(guint done, guint total, gpointer user) {
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

static gboolean scan_data(Job *j, GError **error) {
  g_autoptr(TmProgress) progress = tm_progress_new(_("Checking every picture"), _("pictures"));
  const double most = j->o.plan ? 0 : j->settings.picture_cache;
  g_autoptr(TmPictureStore) pictures = most > 0 ? tm_picture_store_new(NULL, (guint64)(most * (1 << 30))) : NULL;
  j->scan = tm_scan_keep(j->data, pictures, j->settings.threads, scan_progress, progress, error);
  if (!j->scan) return FALSE;
  enum { SHOWN = 12 };
  guint told = 0;
  for (guint i = 0; i < j->scan->findings->len; i++) {
    const TmFinding *f = j->scan->findings->pdata[i];
    if (f->kind == TM_FINDING_NOTE) continue;
    if (told++ < SHOWN) tm_progress_say(progress, "  %s%s", f->text, f->leaves_out ? _(" Left out.") : "");
  }
  if (told > SHOWN)
    tm_progress_say(progress, _("  … and %u findings more: tarmac inspect lists them."), told - SHOWN);
  return TRUE;
}

/* A run does not depend on its prediction. */
static void predict(Job *j) {
  g_autoptr(GError) error = NULL;
  j->estimate = tm_estimate_new(j->data, j->scan, &j->settings, &error);
  g_autofree char *text = j->estimate ? tm_plan_sentence(j->estimate) : NULL;
  g_printerr("%s\n", text ? text : error->message);
}

static int print_plan(Job *j) {
  g_autoptr(GError) error = NULL;
  j->estimate = tm_estimate_new(j->data, j->scan, &j->settings, &error);
  if (!j->estimate)
    return tm_cli_fail(error, g_error_matches(error, TM_ERROR, TM_ERROR_SETTING) ? TM_EXIT_USAGE : TM_EXIT_FAILED);
  if (j->o.json)
    tm_cli_json_print(tm_plan_json(j->estimate));
  else
    tm_plan_print(j->estimate);
  return TM_EXIT_OK;
}

/* ---- a run made again ---- */

static JsonObject *object_of(JsonNode *node, const char *key) {
  JsonNode *n = node && JSON_NODE_HOLDS_OBJECT(node) ? json_object_get_member(json_node_get_object(node), key) : NULL;
  return n && JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

/* The same bits come from the same pictures only. */
static gboolean check_replay(Job *j, GError **error) {
  g_autoptr(JsonNode) info = tm_run_read_info(j->replayed, error);
  if (!info) return FALSE;
  JsonObject *data = object_of(info, "data");
  const char *hash = data ? json_object_get_string_member_with_default(data, "hash", "") : "";
  if (strcmp(hash, tm_dataset_hash(j->data)) == 0) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("The pictures are not those that “%s” was trained on, so it cannot be made again."), j->replayed);
  return FALSE;
}

static void set_replay(const Job *j, TmTrainer *t) {
  g_autoptr(JsonNode) info = tm_run_read_info(j->replayed, NULL);
  g_autoptr(GPtrArray) changes = tm_run_read_changes(j->replayed);
  JsonObject *result = object_of(info, "result");
  const gboolean whole = info && g_strcmp0(json_object_get_string_member_with_default(json_node_get_object(info), "state", ""),
                                           "finished") == 0;
  const gint64 steps = result ? json_object_get_int_member_with_default(result, "steps", 0) : 0;
  tm_trainer_set_replay(t, changes, whole ? 0 : (guint64)MAX(steps, 0));
  g_printerr(ngettext("Making “%s” again, with %u change.\n", "Making “%s” again, with %u changes.\n", changes->len),
             j->replayed, changes->len);
}

/* ---- the end ---- */

static JsonObject *times_json(const TmStepTimes *t) {
  JsonObject *o = json_object_new();
  tm_cli_json_number(o, "step", t->step);
  tm_cli_json_number(o, "wait", t->wait);
  tm_cli_json_number(o, "decode", t->decode);
  tm_cli_json_number(o, "augment", t->augment);
  tm_cli_json_number(o, "upload", t->upload);
  tm_cli_json_number(o, "forward", t->forward);
  tm_cli_json_number(o, "backward", t->network - t->forward);
  tm_cli_json_number(o, "network", t->network);
  tm_cli_json_number(o, "update", t->update);
  tm_cli_json_number(o, "draw", t->draw);
  return o;
}

/* What holds the run back, in one sentence. Free it. */
static char *pace_sentence(const TmSnapshot *s) {
  g_autofree char *strong = NULL, *rest = NULL;
  tm_step_times_sentence(&s->run_times, &strong, &rest);
  return *rest ? g_strconcat(strong, " ", rest, NULL) : g_steal_pointer(&strong);
}

static JsonObject *summary(const Job *j, const TmSnapshot *s) {
  JsonObject *o = json_object_new();
  json_object_set_string_member(o, "run", j->run);
  json_object_set_string_member(o, "state", tm_trainer_state_name(s->state));
  json_object_set_int_member(o, "epochs",
                             s->state == TM_STATE_FINISHED ? MIN(s->epoch + 1, s->epochs) : s->epoch);
  if (isnan(s->best_miou))
    json_object_set_null_member(o, "best_epoch");
  else
    json_object_set_int_member(o, "best_epoch", s->best_epoch + 1);
  json_object_set_int_member(o, "steps", (gint64)s->total_step);
  json_object_set_int_member(o, "skipped", s->skipped);
  json_object_set_int_member(o, "replaced", s->replaced);
  tm_cli_json_number(o, "loss", s->smooth_loss);
  tm_cli_json_number(o, "seconds", s->seconds);
  json_object_set_string_member(o, "device", s->device ? s->device : "");
  json_object_set_string_member(o, "precision", tm_dtype_name(s->precision));
  json_object_set_object_member(o, "step_times", times_json(&s->run_times));
  g_autofree char *pace = pace_sentence(s);
  json_object_set_string_member(o, "pace", pace);
  return o;
}

static gboolean evaluate_progress(const TmEvaluation *so_far, guint done, guint total, gpointer user) {
  (void)so_far;
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

/* Scores the kept net, keeps the scores in the run, and draws the sheet. @e stays NULL when there is nothing to
 * score. */
static gboolean judge(Job *j, TmEvaluation **e, GError **error) {
  TmBackendOptions backend = {.threads = j->settings.threads};
  g_autoptr(TmPredictor) p = tm_predictor_open(j->run, j->settings.backend, &backend, error);
  if (!p) return FALSE;
  TmSplit split = tm_dataset_n_split(j->data, TM_SPLIT_VAL) ? TM_SPLIT_VAL : TM_SPLIT_TRAIN;
  g_autoptr(TmDataset) sound = tm_dataset_subset(j->data, j->scan->leave_out, NULL);
  if (split == TM_SPLIT_VAL) {
    g_autoptr(TmProgress) progress = tm_progress_new(_("Scoring the best network"), _("pictures"));
    const TmEvaluateOptions options = {.split = split};
    *e = tm_evaluate(p, sound, &options, evaluate_progress, progress, error);
    if (!*e || !tm_evaluation_write(*e, j->run, error)) return FALSE;
  }
  g_autofree char *sheet = g_build_filename(j->run, "result.png", NULL);
  g_autoptr(GError) trouble = NULL;
  if (tm_sheet_write(p, sound, split, 3, sheet, &trouble))
    g_printerr(_("Picture of the result (picture, prediction, truth): %s\n"), sheet);
  else if (trouble)
    g_printerr("tarmac: %s\n", trouble->message);
  return TRUE;
}

static int finish(Job *j, TmTrainer *t) {
  g_autoptr(GError) error = NULL;
  gboolean good = tm_trainer_wait(t, &error);
  TmSnapshot snapshot;
  tm_trainer_snapshot(t, &snapshot);
  const double peak = tm_cli_peak_rss_mb() * 1048576; /* of training alone: what follows has a program of its own */
  g_autoptr(TmEvaluation) evaluation = NULL;
  int signum = tm_interrupt_caught(), code = signum ? TM_EXIT_SIGNAL + signum : TM_EXIT_OK;
  if (!good)
    code = tm_cli_fail(error, TM_EXIT_FAILED);
  else if (!signum && !judge(j, &evaluation, &error))
    code = tm_cli_fail(error, TM_EXIT_FAILED);
  if (evaluation && !j->o.json) tm_scores_print(evaluation);
  if (snapshot.run_times.step > 0) {
    g_autofree char *pace = pace_sentence(&snapshot);
    g_printerr("%s\n", pace);
    g_autofree char *outcome = j->estimate ? tm_plan_outcome(j->estimate, &snapshot.run_times, (gsize)peak) : NULL;
    if (outcome) g_printerr("%s\n", outcome);
  }
  g_printerr(_("Run: %s\n"), j->run);
  if (signum && good) {
    g_autofree char *quoted = strpbrk(j->run, " '\"$\\*?&;|<>()") ? g_shell_quote(j->run) : g_strdup(j->run);
    g_printerr(_("Stopped and saved. Go on with: tarmac train --resume %s\n"), quoted);
  }
  if (snapshot.lost) {
    g_autofree char *quoted = strpbrk(j->run, " '\"$\\*?&;|<>()") ? g_shell_quote(j->run) : g_strdup(j->run);
    g_printerr(_("Go on on the processor with: tarmac train --resume %s --backend cpu\n"), quoted);
  }
  if (j->o.json) {
    JsonObject *o = summary(j, &snapshot);
    tm_scores_to_json(o, evaluation, tm_dataset_classes(j->data));
    tm_cli_json_number(o, "peak_rss_mb", tm_cli_peak_rss_mb());
    tm_cli_json_number(o, "training_rss_mb", peak / 1048576);
    if (j->estimate) json_object_set_object_member(o, "predicted", tm_plan_json(j->estimate));
    tm_cli_json_print(o);
  }
  tm_snapshot_clear(&snapshot);
  return code;
}

/* ---- the command ---- */

static gboolean make_run(Job *j, GError **error) {
  if (j->o.resume) return TRUE;
  g_autofree char *root = j->o.out ? g_strdup(j->o.out)
                                   : tm_run_default_root(tm_dataset_path(j->data), tm_dataset_title(j->data));
  j->run = tm_run_create(root, j->o.name, error);
  return j->run && tm_run_source_write(&j->source, j->run, error);
}

static int check_words(Job *j, char **words) {
  const TmCommand *c = &tm_command_train;
  if (!words[0] && !j->o.resume && !j->o.replay)
    return tm_cli_usage(c, "%s", _("name a folder of pictures, or “demo” for the demo roads."));
  if (j->o.resume && (j->o.preset || j->o.out || j->o.name))
    return tm_cli_usage(c, "%s",
                        _("--resume goes on in the run's own folder with its own settings; --preset, --out "
                          "and --name do not go with it."));
  if (j->o.replay && (j->o.resume || j->o.preset || j->o.lr_test))
    return tm_cli_usage(c, "%s",
                        _("--replay makes a run again with its own settings and changes; --resume, --preset and "
                          "--lr-test do not go with it."));
  if (j->o.lr_test && (j->o.resume || j->o.out || j->o.name))
    return tm_cli_usage(c, "%s",
                        _("--lr-test trains a net of its own and keeps nothing; --resume, --out and --name "
                          "do not go with it."));
  if (j->o.demo_train < 0 || j->o.demo_val < 0)
    return tm_cli_usage(c, "%s", _("numbers of demo pictures are not negative."));
  if (!(j->o.val_fraction >= 0 && j->o.val_fraction < 1))
    return tm_cli_usage(c, "%s", _("--val-fraction is from 0 to below 1."));
  int w = 0, h = 0;
  if (j->o.demo_size && (!tm_cli_extent(j->o.demo_size, &w, &h) || MIN(w, h) < 16 || MAX(w, h) > 4096))
    return tm_cli_usage(c, _("--demo-size is written 240x180, each side 16 to 4096, not “%s”."),
                        j->o.demo_size);
  j->source.options = (TmDatasetOptions){.val_fraction = (float)j->o.val_fraction,
                                         .demo_train = j->o.demo_train,
                                         .demo_val = j->o.demo_val,
                                         .demo_width = w,
                                         .demo_height = h};
  if (words[0]) tm_run_source_set(&j->source, words[0]);
  return TM_EXIT_OK;
}

/* FALSE: the program ends with *@code. */
static gboolean parse(Job *j, TmSettingOptions *given, int argc, char **argv, int *code) {
  const GOptionEntry entries[] = {
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &j->o.out, N_("Folder in which the run's folder is made"),
       N_("RUN_ROOT")},
      {"name", 'n', 0, G_OPTION_ARG_STRING, &j->o.name,
       N_("Name of the run's folder; else made from the date"), N_("NAME")},
      {"resume", 0, 0, G_OPTION_ARG_FILENAME, &j->o.resume, N_("Go on with a run from its last checkpoint"),
       N_("RUN")},
      {"replay", 0, 0, G_OPTION_ARG_FILENAME, &j->o.replay,
       N_("Make a run again, with what was changed while it went on: the same bits"), N_("RUN")},
      {"preset", 'p', 0, G_OPTION_ARG_STRING, &j->o.preset,
       N_("Start from these settings: quick, camvid, road64"), N_("NAME")},
      {"lr-test", 0, 0, G_OPTION_ARG_NONE, &j->o.lr_test,
       N_("Try learning rates from 1e-6 to 1, suggest one and end; nothing is kept"), NULL},
      {"explain", 0, 0, G_OPTION_ARG_STRING, &j->o.explain, N_("Say what a setting does and end"),
       N_("SETTING")},
      {"plan", 0, 0, G_OPTION_ARG_NONE, &j->o.plan,
       N_("Predict memory and time by layer, and end without training"), NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &j->o.json, N_("End with one line of JSON on standard output"), NULL},
      {"val-fraction", 0, 0, G_OPTION_ARG_DOUBLE, &j->o.val_fraction,
       N_("Share kept for validation where the folder has no split"), N_("SHARE")},
      {"demo-size", 0, 0, G_OPTION_ARG_STRING, &j->o.demo_size, N_("Demo roads: size of the pictures"),
       N_("WxH")},
      {"demo-train", 0, 0, G_OPTION_ARG_INT, &j->o.demo_train, N_("Demo roads: pictures to train on"),
       N_("N")},
      {"demo-val", 0, 0, G_OPTION_ARG_INT, &j->o.demo_val, N_("Demo roads: pictures to validate"), N_("N")},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  if (!tm_cli_parse(&tm_command_train, entries, tm_setting_options_groups(given), argc, argv, 0, 1, &words,
                    code))
    return FALSE;
  *code = j->o.explain ? TM_EXIT_OK : check_words(j, words);
  return *code == TM_EXIT_OK;
}

/* A resumed run brings its own pictures, unless others were named: the folder may have moved. */
static gboolean find_source(Job *j, GError **error) {
  if (!j->o.resume && !j->o.replay) return TRUE;
  char *run = tm_run_source_folder(j->o.resume ? j->o.resume : j->o.replay);
  *(j->o.resume ? &j->run : &j->replayed) = run;
  g_autofree char *moved = g_steal_pointer(&j->source.path);
  if (!tm_run_source_read(&j->source, run, moved ? NULL : error) && !moved) return FALSE;
  if (moved) tm_run_source_set(&j->source, moved);
  return TRUE;
}

static gboolean prepare(Job *j, const TmSettingOptions *given, GError **error) {
  return find_source(j, error) && open_data(j, error) && choose_settings(j, given, error) &&
         scan_data(j, error) && (!j->o.replay || check_replay(j, error)) && (j->o.lr_test || j->o.plan || make_run(j, error));
}

static int train(int argc, char **argv) {
  g_autoptr(TmSettingOptions) given = tm_setting_options_new();
  g_autoptr(GError) error = NULL;
  Job j = {.o.val_fraction = 0.2};
  int code;
  if (!parse(&j, given, argc, argv, &code)) {
    /* said */
  } else if (j.o.explain) {
    code = tm_setting_explain(j.o.explain, &error) ? TM_EXIT_OK : tm_cli_fail(error, TM_EXIT_USAGE);
  } else {
    tm_interrupt_catch();
    g_autoptr(TmTrainer) t = NULL;
    const gboolean prepared = prepare(&j, given, &error);
    if (prepared && !j.o.lr_test && !j.o.plan) {
      predict(&j);
      t = tm_trainer_new(j.data, j.scan, &j.settings, j.run, j.o.resume != NULL, &error);
    }
    if (t && j.o.replay) set_replay(&j, t);
    if (prepared && j.o.plan) {
      code = print_plan(&j);
    } else if (t) {
      tm_train_watch(t);
      code = finish(&j, t);
    } else if (prepared && j.o.lr_test) {
      code = tm_lr_report(j.data, j.scan, &j.settings, j.o.json);
    } else if (tm_interrupt_caught()) {
      code = TM_EXIT_SIGNAL + tm_interrupt_caught();
    } else {
      code = tm_cli_fail(error,
                         g_error_matches(error, TM_ERROR, TM_ERROR_SETTING) ? TM_EXIT_USAGE : TM_EXIT_FAILED);
    }
  }
  job_clear(&j);
  return code;
}

const TmCommand tm_command_train = {
    .name = "train",
    .operands = N_("DATASET|demo"),
    .summary = N_("train a network on a folder of pictures, or on the demo roads"),
    .detail = N_("Trains a UNet and leaves a run: a folder with settings, curves, checkpoints and a picture "
                 "of the result.\n"
                 "Ctrl+C saves and leaves; a second Ctrl+C leaves at once.\n\n"
                 "Examples:\n"
                 "  tarmac train demo                                   the demo roads, small and quick\n"
                 "  tarmac train camvid --epochs 12 --precision bf16    SegNet's CamVid by its own recipe\n"
                 "  tarmac train roads --base 32 --crop 320 --batch 8 --out runs --name wide\n"
                 "  tarmac train --resume runs/wide                     goes on, bit for bit\n"
                 "  tarmac train --replay runs/wide --out again         makes it again, with its live changes\n"
                 "  tarmac train roads --lr-test                        suggests a learning rate\n"
                 "  tarmac train camvid --base 64 --plan                what it would take, layer by layer\n"
                 "  tarmac train --explain lr                           what a setting does"),
    .run = train,
};
