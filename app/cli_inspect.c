/* cli_inspect.c: tarmac inspect: what is in a folder of pictures, before anything is trained. */
#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/data/scan.h"
#include "engine/run/project_file.h"

static gboolean on_progress(guint done, guint total, gpointer user) {
  tm_progress_set(user, done, total);
  return tm_interrupt_caught() == 0;
}

static guint64 pixels_of(const TmScan *s, guint split) {
  guint64 sum = 0;
  for (guint i = 0; i < TM_MAX_CLASSES; i++) sum += s->pixels[split][i];
  return sum;
}

static double share(const TmScan *s, guint split, guint of) {
  guint64 all = pixels_of(s, split);
  return all ? (double)s->pixels[split][of] / (double)all : 0;
}

static double void_share(const TmScan *s, guint split) {
  guint64 out = s->pixels[split][TM_MAX_CLASSES], all = pixels_of(s, split) + out;
  return all ? (double)out / (double)all : 0;
}

static void print_value(const TmClassTable *t, gint32 value) {
  if (t->code == TM_MASK_COLOUR)
    g_print("#%06x", (guint)value);
  else
    g_print("%7d", value);
}

static void print_classes(const TmDataset *d, const TmScan *s) {
  const TmClassTable *t = tm_dataset_classes(d);
  glong width = g_utf8_strlen(_("Void"), -1);
  for (guint i = 0; i < t->n; i++) width = MAX(width, g_utf8_strlen(t->classes[i].name, -1));
  g_print(_("%u classes, from: %s\n"), t->n, t->source ? t->source : _("a guess"));
  g_print("  %s %*s %8s %8s %9s\n", _(" # "), (int)width + 8, _("in masks"), tm_split_name(TM_SPLIT_TRAIN),
          tm_split_name(TM_SPLIT_VAL), _("pictures"));
  for (guint i = 0; i < t->n; i++) {
    const char *name = t->classes[i].name;
    g_print("  %3u %s%*s", i, name, (int)(width - g_utf8_strlen(name, -1)), "");
    print_value(t, t->classes[i].value);
    g_print("  %6.2f %% %6.2f %% %8" G_GUINT64_FORMAT "\n", share(s, TM_SPLIT_TRAIN, i) * 100,
            share(s, TM_SPLIT_VAL, i) * 100,
            s->pictures[TM_SPLIT_TRAIN][i] + s->pictures[TM_SPLIT_VAL][i] + s->pictures[TM_SPLIT_TEST][i]);
  }
  g_print("      %s%*s", _("Void"), (int)(width - g_utf8_strlen(_("Void"), -1)), "");
  if (t->n_void)
    print_value(t, t->void_values[0]);
  else
    g_print("%7s", "–");
  g_print("  %6.2f %% %6.2f %%  %s\n", void_share(s, TM_SPLIT_TRAIN) * 100, void_share(s, TM_SPLIT_VAL) * 100,
          _("(of all pixels)"));
}

static void print_report(const TmDataset *d, const TmScan *s) {
  g_print("%s\n", tm_dataset_title(d));
  g_print(_("Layout: %s\n"), tm_dataset_layout(d));
  g_print(_("Pictures: %u to train, %u to validate, %u to test"), tm_dataset_n_split(d, TM_SPLIT_TRAIN),
          tm_dataset_n_split(d, TM_SPLIT_VAL), tm_dataset_n_split(d, TM_SPLIT_TEST));
  if (s->max_w > 0) {
    if (s->min_w == s->max_w && s->min_h == s->max_h)
      g_print("; %d × %d", s->max_w, s->max_h);
    else
      g_print(_("; from %d × %d to %d × %d"), s->min_w, s->min_h, s->max_w, s->max_h);
  }
  g_print("\n");
  for (const char *const *note = tm_dataset_notes(d); note && *note; note++) g_print("  %s\n", *note);
  print_classes(d, s);
  if (s->findings->len == 0) g_print("%s\n", _("Nothing to complain about."));
  for (guint i = 0; i < s->findings->len; i++) {
    const TmFinding *f = s->findings->pdata[i];
    g_print("%s %s%s\n", f->kind == TM_FINDING_NOTE ? "·" : "!", f->text,
            f->leaves_out ? _(" Left out.") : "");
  }
  if (s->n_left_out)
    g_print(_("%u of %u pictures cannot be trained on and are left out.\n"), s->n_left_out, s->n_entries);
}

static JsonObject *report_json(const TmDataset *d, const TmScan *s) {
  JsonObject *o = json_object_new(), *splits = json_object_new();
  json_object_set_string_member(o, "dataset", tm_dataset_title(d));
  json_object_set_string_member(o, "layout", tm_dataset_layout(d));
  json_object_set_string_member(o, "hash", tm_dataset_hash(d));
  for (guint i = 0; i < TM_N_SPLITS; i++)
    json_object_set_int_member(splits, tm_split_name(i), tm_dataset_n_split(d, i));
  json_object_set_object_member(o, "pictures", splits);
  const TmClassTable *t = tm_dataset_classes(d);
  json_object_set_string_member(o, "classes_from", t->source ? t->source : "");
  JsonArray *classes = json_array_new(), *findings = json_array_new();
  for (guint i = 0; i < t->n; i++) {
    JsonObject *c = json_object_new();
    json_object_set_string_member(c, "name", t->classes[i].name);
    json_object_set_int_member(c, "value", t->classes[i].value);
    for (guint k = 0; k < TM_N_SPLITS; k++)
      json_object_set_double_member(c, tm_split_name(k), share(s, k, i));
    json_array_add_object_element(classes, c);
  }
  json_object_set_array_member(o, "classes", classes);
  for (guint i = 0; i < s->findings->len; i++) {
    const TmFinding *f = s->findings->pdata[i];
    JsonObject *finding = json_object_new();
    json_object_set_string_member(finding, "text", f->text);
    json_object_set_boolean_member(finding, "left_out", f->leaves_out);
    json_array_add_object_element(findings, finding);
  }
  json_object_set_array_member(o, "findings", findings);
  json_object_set_int_member(o, "left_out", s->n_left_out);
  return o;
}

static gboolean look(const char *path, gboolean json, int threads, GError **error) {
  TmDatasetOptions options = {.val_fraction = 0.2f};
  g_autofree char *said = NULL;
  g_autoptr(TmDataset) d = tm_project_dataset_open(path, &options, &said, error);
  if (!d) return FALSE;
  if (said) g_printerr("%s\n", said);
  g_autoptr(TmScan) s = NULL;
  {
    g_autoptr(TmProgress) progress = tm_progress_new(_("Checking every picture"), _("pictures"));
    s = tm_scan_run(d, threads, on_progress, progress, error);
  }
  if (!s) return FALSE;
  if (json)
    tm_cli_json_print(report_json(d, s));
  else
    print_report(d, s);
  return TRUE;
}

static int inspect(int argc, char **argv) {
  gboolean json = FALSE;
  int threads = 0, code = TM_EXIT_OK;
  const GOptionEntry entries[] = {
      {"threads", 0, 0, G_OPTION_ARG_INT, &threads, N_("Processor threads; 0 uses all"), N_("N")},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, N_("End with one line of JSON on standard output"), NULL},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  g_autoptr(GError) error = NULL;
  if (!tm_cli_parse(&tm_command_inspect, entries, NULL, argc, argv, 1, 1, &words, &code)) return code;
  if (threads < 0) return tm_cli_usage(&tm_command_inspect, "%s", _("--threads is not negative."));
  tm_interrupt_catch();
  if (look(words[0], json, threads, &error)) return TM_EXIT_OK;
  return tm_interrupt_caught() ? TM_EXIT_SIGNAL + tm_interrupt_caught() : tm_cli_fail(error, TM_EXIT_FAILED);
}

const TmCommand tm_command_inspect = {
    .name = "inspect",
    .operands = N_("DATASET"),
    .summary = N_("say what is in a folder of pictures, and what is wrong with it"),
    .detail = N_("Tells the layout, the classes and where they come from, the splits, how much of each class "
                 "there is, and every picture or\n"
                 "mask that cannot be used, by name. Nothing is written into the folder.\n\n"
                 "Examples:\n"
                 "  tarmac inspect camvid\n"
                 "  tarmac inspect demo --json"),
    .run = inspect,
};
