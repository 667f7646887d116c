/* test_usage.c: help, versions, and what happens to words that make no sense. */
#include "program.h"

#include <string.h>

#include "engine/train/settings.h"

static void test_help(gconstpointer command) {
  g_auto(Ran) r = program_run(command, "--help", NULL);
  assert_code(r, 0);
  g_autofree char *usage = g_strdup_printf("tarmac %s", (const char *)command);
  assert_says(r.out, usage);
  assert_says(r.out, "Examples:");
  assert_says(r.out, "--help");
  g_assert_cmpstr(r.err, ==, "");
  g_auto(Ran) by_word = program_run("help", command, NULL);
  assert_code(by_word, 0);
  g_assert_cmpstr(by_word.out, ==, r.out);
}

static void test_help_of_all(void) {
  g_auto(Ran) r = program_run("--help", NULL);
  assert_code(r, 0);
  static const char *const commands[] = {"train", "evaluate", "predict", "inspect", "doctor", "bench"};
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) assert_says(r.out, commands[i]);
}

/* Every row of the table of settings is an option, with its range. */
static void test_settings_are_options(void) {
  g_auto(Ran) r = program_run("train", "--help", NULL);
  assert_code(r, 0);
  guint n;
  const TmOption *table = tm_options(&n);
  g_assert_cmpuint(n, >, 20);
  for (guint i = 0; i < n; i++) {
    g_autofree char *dashes = g_strdelimit(g_strdup(table[i].key), "_", '-');
    g_autofree char *option = g_strdup_printf("--%s=", dashes);
    assert_says(r.out, option);
    assert_says(r.out, table[i].label);
  }
}

static void test_explain(void) {
  g_auto(Ran) r = program_run("train", "--explain", "weight-decay", NULL);
  assert_code(r, 0);
  assert_says(r.out, tm_option_find("weight_decay")->help);
  g_auto(Ran) unknown = program_run("train", "--explain", "wheels", NULL);
  assert_code(unknown, 2);
  assert_says(unknown.err, "wheels");
}

static void test_version(void) {
  g_auto(Ran) r = program_run("--version", NULL);
  assert_code(r, 0);
  assert_says(r.out, TM_VERSION);
}

static void test_unknown_command(void) {
  g_auto(Ran) r = program_run("fly", NULL);
  assert_code(r, 2);
  assert_says(r.err, "fly");
  assert_says(r.err, "--help");
  g_auto(Ran) typo = program_run("trian", "demo", NULL);
  assert_code(typo, 2);
  assert_says(typo.err, "“train”");
}

static void test_unknown_option(void) {
  g_auto(Ran) r = program_run("--wings", NULL);
  assert_code(r, 2);
  assert_says(r.err, "--wings");
}

/* Alone and without a display it says what can be done, instead of failing inside a toolkit. */
static void test_no_display(void) {
  g_auto(Ran) r = program_run_env((const char *const[]){NULL}, NULL, NULL);
  g_assert_cmpint(r.code, !=, 0);
  assert_says(r.err, "tarmac: ");
  g_assert_null(strstr(r.err, "Gtk-WARNING"));
}

/* Words that are wrong, what the sentence must name. All of them are refused before anything is opened. */
static const struct {
  const char *name, *words[6], *named;
} wrong[] = {
    {"unknown-option", {"train", "demo", "--wings"}, "--wings"},
    {"no-dataset", {"train"}, "demo"},
    {"two-datasets", {"train", "demo", "more"}, "more"},
    {"no-number", {"train", "demo", "--base", "wide"}, "wide"},
    {"out-of-range", {"train", "demo", "--base", "100000"}, "--base"},
    {"negative", {"train", "demo", "--epochs", "-3"}, "--epochs"},
    {"no-choice", {"train", "demo", "--optimizer", "luck"}, "luck"},
    {"missing-value", {"train", "demo", "--base"}, "--base"},
    {"unknown-preset", {"train", "demo", "--demo-size", "32x32", "--preset=holiday"}, "holiday"},
    {"demo-size", {"train", "demo", "--demo-size", "wide"}, "wide"},
    {"demo-size-small", {"train", "demo", "--demo-size", "8x8"}, "8x8"},
    {"demo-negative", {"train", "demo", "--demo-train", "-1"}, "negative"},
    {"val-fraction", {"train", "demo", "--val-fraction", "1.5"}, "--val-fraction"},
    {"resume-and-preset", {"train", "--resume", "x", "--preset", "quick"}, "--preset"},
    {"no-run", {"evaluate"}, "RUN"},
    {"unknown-split", {"evaluate", "run", "--split", "sunday"}, "sunday"},
    {"no-folder", {"predict", "run"}, "missing"},
    {"no-out", {"predict", "run", "folder"}, "--out"},
    {"no-bench", {"bench"}, "step"},
    {"unknown-bench", {"bench", "jump"}, "jump"},
    {"bench-size", {"bench", "step", "--size", "0x5"}, "0x5"},
    {"bench-size-words", {"bench", "step", "--size", "5x5x5"}, "5x5x5"},
    {"bench-precision", {"bench", "step", "--precision", "int8"}, "int8"},
    {"bench-base", {"bench", "infer", "--base", "0"}, "--base"},
    {"bench-steps", {"bench", "infer", "--steps", "-1"}, "--steps"},
    {"inspect-nothing", {"inspect"}, "DATASET"},
    {"doctor-words", {"doctor", "please"}, "please"},
};

static void test_wrong(gconstpointer data) {
  const guint i = GPOINTER_TO_UINT(data);
  g_auto(Ran) r = program_run_env(wrong[i].words, NULL, NULL);
  assert_code(r, 2);
  assert_says(r.err, wrong[i].named);
  assert_says(r.err, "tarmac");
  g_assert_cmpstr(r.out, ==, "");
}

/* The way out of a wrong word is the right ones. */
static void test_choices_are_told(void) {
  g_auto(Ran) r = program_run("train", "demo", "--optimizer", "luck", NULL);
  assert_says(r.err, "adamw");
  g_auto(Ran) preset = program_run("train", "demo", "--demo-size", "32x32", "--preset", "holiday", NULL);
  assert_says(preset.err, "camvid");
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  static const char *const commands[] = {"train", "evaluate", "predict", "inspect", "doctor", "bench"};
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_autofree char *name = g_strdup_printf("/cli/usage/help/%s", commands[i]);
    g_test_add_data_func(name, commands[i], test_help);
  }
  g_test_add_func("/cli/usage/help", test_help_of_all);
  g_test_add_func("/cli/usage/settings-are-options", test_settings_are_options);
  g_test_add_func("/cli/usage/explain", test_explain);
  g_test_add_func("/cli/usage/version", test_version);
  g_test_add_func("/cli/usage/unknown-command", test_unknown_command);
  g_test_add_func("/cli/usage/unknown-option", test_unknown_option);
  g_test_add_func("/cli/usage/no-display", test_no_display);
  g_test_add_func("/cli/usage/choices-are-told", test_choices_are_told);
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autofree char *name = g_strdup_printf("/cli/usage/wrong/%s", wrong[i].name);
    g_test_add_data_func(name, GUINT_TO_POINTER(i), test_wrong);
  }
  return g_test_run();
}
