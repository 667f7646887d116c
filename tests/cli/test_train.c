/* test_train.c: a run from demo roads to masks, on the command line alone. One small run serves most of the
 * tests. */
#include "program.h"

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "engine/data/png_write.h"

/* The quickest run there is: a tiny net on stamps of roads. */
#define TINY                                                                                                 \
  "--demo-size", "48x32", "--demo-train", "6", "--demo-val", "3", "--base", "2", "--depth", "2", "--batch",  \
      "2", "--precision", "f32", "--threads", "1"

static char *runs, *run;
static double run_miou;

static Ran train_first(void) {
  return program_run("train", "demo", TINY, "--epochs", "2", "--out", runs, "--name", "first", "--json",
                     NULL);
}

static void test_train(void) {
  g_auto(Ran) r = train_first();
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  run = g_strdup(json_object_get_string_member(o, "run"));
  g_autofree char *expected = g_build_filename(runs, "first", NULL);
  g_assert_cmpstr(run, ==, expected);
  g_assert_cmpint(json_object_get_int_member(o, "epochs"), ==, 2);
  g_assert_cmpint(json_object_get_int_member(o, "steps"), ==, 6);
  g_assert_cmpfloat(json_object_get_double_member(o, "seconds"), >, 0);
  g_assert_cmpfloat(json_object_get_double_member(o, "peak_rss_mb"), >, 1);
  run_miou = json_object_get_double_member(o, "miou");
  g_assert_cmpfloat(run_miou, >=, 0);
  g_assert_cmpfloat(run_miou, <=, 1);
  JsonObject *iou = json_object_get_object_member(o, "iou");
  g_assert_cmpuint(json_object_get_size(iou), ==, 11);
  g_assert_true(json_object_has_member(iou, "Road"));
  static const char *const files[] = {"run.json",
                                      "data.json",
                                      "history.csv",
                                      "steps.csv",
                                      "result.png",
                                      "checkpoints/best.safetensors",
                                      "checkpoints/last.safetensors"};
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(run, files[i], NULL);
    g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
  }
}

/* Suggests a rate, and leaves nothing behind. */
static void test_lr(void) {
  g_auto(Ran) r = program_run("train", "demo", TINY, "--lr-test", "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  const guint n = json_array_get_length(json_object_get_array_member(o, "rate"));
  g_assert_cmpuint(n, >, 20);
  g_assert_cmpuint(json_array_get_length(json_object_get_array_member(o, "smooth")), ==, n);
  g_assert_true(json_object_has_member(o, "suggested"));
  g_auto(Ran) shown = program_run("train", "demo", TINY, "--lr-test", NULL);
  assert_code(shown, 0);
  assert_says(shown.out, "rate");
  g_auto(Ran) wrong = program_run("train", "demo", TINY, "--lr-test", "--out", runs, NULL);
  assert_code(wrong, 2);
}

/* Told before and after; --plan tells it by layer and leaves no run. */
static void test_plan(void) {
  g_auto(Ran) r = program_run("train", "demo", TINY, "--epochs", "1", "--out", runs, "--name", "foretold", "--json", NULL);
  assert_code(r, 0);
  assert_says(r.err, "Predicted: ");
  g_autoptr(JsonObject) after = ran_json(&r);
  JsonObject *predicted = json_object_get_object_member(after, "predicted");
  g_assert_cmpfloat(json_object_get_double_member(after, "training_rss_mb"), >, 1);
  g_auto(Ran) table = program_run("train", "demo", TINY, "--plan", "--out", runs, "--name", "planned", NULL);
  assert_code(table, 0);
  assert_says(table.out, "enc.0.0");
  assert_says(table.out, "while a checkpoint is written");
  g_autofree char *folder = g_build_filename(runs, "planned", NULL);
  g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
  g_auto(Ran) json = program_run("train", "demo", TINY, "--plan", "--json", NULL);
  assert_code(json, 0);
  g_autoptr(JsonObject) plan = ran_json(&json);
  static const char *const same[] = {"activations", "weights", "engine", "validation", "checkpoint"};
  for (guint i = 0; i < G_N_ELEMENTS(same); i++)
    g_assert_cmpint(json_object_get_int_member(plan, same[i]), ==, json_object_get_int_member(predicted, same[i]));
}

/* Elsewhere than on a terminal: plain lines, one an epoch, and nothing that moves a cursor. */
static void test_plain_lines(void) {
  g_auto(Ran) r = program_run("train", "demo", TINY, "--epochs", "2", "--out", runs, "--name", "plain", NULL);
  assert_code(r, 0);
  assert_says(r.err, "epoch 1 of 2");
  assert_says(r.err, "epoch 2 of 2");
  assert_says(r.err, "Preset quick");
  assert_says(r.out, "Road");
  assert_says(r.out, "Pixel accuracy");
  g_assert_null(strchr(r.err, '\r'));
  g_assert_null(strchr(r.err, '\033'));
}

static void test_same_name_gets_a_number(void) {
  g_auto(Ran) r = train_first();
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  g_assert_cmpstr(json_object_get_string_member(o, "run"), !=, run);
}

static void test_evaluate(void) {
  g_auto(Ran) r = program_run("evaluate", run, "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  /* The run knows its own demo roads again: the very same score. */
  g_assert_cmpfloat(json_object_get_double_member(o, "miou"), ==, run_miou);
  g_assert_cmpint(json_object_get_int_member(o, "pictures"), ==, 3);
  g_assert_cmpfloat(json_object_get_double_member(o, "miou_low"), <=, run_miou);
  g_assert_true(json_object_has_member(o, "boundary_f1") && json_object_has_member(o, "calibration_error"));
  g_autofree char *kept = g_build_filename(run, "evaluation-val.json", NULL);
  g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
  g_auto(Ran) text = program_run("evaluate", run, "--split", "train", NULL);
  assert_code(text, 0);
  assert_says(text.out, "Mean IoU");
  assert_says(text.err, "train");
  g_auto(Ran) none = program_run("evaluate", run, "--split", "test", NULL);
  assert_code(none, 1);
  assert_says(none.err, "test");
}

static void test_evaluate_checkpoint_file(void) {
  g_autofree char *path = g_build_filename(run, "checkpoints", "best.safetensors", NULL);
  g_auto(Ran) r = program_run("evaluate", path, "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  g_assert_cmpfloat(json_object_get_double_member(o, "miou"), ==, run_miou);
}

/* int8 measures the net the first time and remembers it; predict finds that. */
static void test_int8(void) {
  g_autofree char *ranges = g_build_filename(run, "checkpoints", "best.int8.json", NULL);
  g_assert_false(g_file_test(ranges, G_FILE_TEST_EXISTS));
  for (int i = 0; i < 2; i++) {
    g_auto(Ran) r = program_run("evaluate", run, "--precision", "int8", "--json", NULL);
    assert_code(r, 0);
    g_autoptr(JsonObject) o = ran_json(&r);
    g_assert_cmpstr(json_object_get_string_member(o, "precision"), ==, "int8");
    g_assert_cmpfloat(fabs(json_object_get_double_member(o, "miou") - run_miou), <, 0.05);
    g_assert_true(g_file_test(ranges, G_FILE_TEST_EXISTS));
  }
  g_auto(Ran) bad = program_run("evaluate", run, "--precision", "int4", NULL);
  assert_code(bad, 1);
  assert_says(bad.err, "int4");
}

static void write_picture(const char *folder, const char *name) {
  guint8 rgb[33 * 17 * 3];
  for (guint i = 0; i < sizeof rgb; i++) rgb[i] = (guint8)(i * 13);
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  tm_png_write_rgb(path, rgb, 33, 17, &error);
  g_assert_no_error(error);
}

static void test_predict(void) {
  g_autofree char *folder = scratch_folder(), *parent = scratch_folder(),
                  *out = g_build_filename(parent, "masks", NULL);
  write_picture(folder, "good.png");
  write_picture(folder, "other.png");
  g_auto(Ran) r = program_run("predict", run, folder, "--out", out, "--precision", "int8", "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  g_assert_cmpstr(json_object_get_string_member(o, "precision"), ==, "int8");
  g_assert_cmpint(json_object_get_int_member(o, "done"), ==, 2);
  g_assert_cmpint(json_object_get_int_member(o, "failed"), ==, 0);
  static const char *const files[] = {"good.png", "good_overlay.png", "other.png", "classes.csv"};
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(out, files[i], NULL);
    g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
  }
}

/* One bad file is named and left out; the others are done, and the exit code tells. */
static void test_predict_broken_file(void) {
  g_autofree char *folder = scratch_folder(), *parent = scratch_folder(),
                  *out = g_build_filename(parent, "masks", NULL);
  write_picture(folder, "good.png");
  scratch_file(folder, "broken.png", "\x89PNG\r\n\x1a\n cut", 12);
  scratch_file(folder, "empty.jpg", "", 0);
  g_auto(Ran) r = program_run("predict", run, folder, "--out", out, NULL);
  assert_code(r, 1);
  assert_says(r.err, "broken.png");
  assert_says(r.err, "empty.jpg");
  g_autofree char *mask = g_build_filename(out, "good.png", NULL);
  g_assert_true(g_file_test(mask, G_FILE_TEST_IS_REGULAR));
}

static void test_predict_keeps_what_is_there(void) {
  g_autofree char *folder = scratch_folder(), *out = scratch_folder(),
                  *mask = g_build_filename(out, "good.png", NULL), *text = NULL;
  write_picture(folder, "good.png");
  scratch_file(out, "good.png", "mine", 4);
  g_auto(Ran) r = program_run("predict", run, folder, "--out", out, NULL);
  g_assert_cmpint(r.code, ==, 1);
  g_assert_true(g_file_get_contents(mask, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "mine");
  g_auto(Ran) replaced = program_run("predict", run, folder, "--out", out, "--replace", NULL);
  assert_code(replaced, 0);
  g_auto(Ran) onto_itself = program_run("predict", run, folder, "--out", folder, "--replace", NULL);
  g_assert_cmpint(onto_itself.code, ==, 1);
}

/* Going on with more epochs: the history is one, without gap or double. */
static void test_resume(void) {
  g_auto(Ran) first =
      program_run("train", "demo", TINY, "--epochs", "1", "--out", runs, "--name", "longer", "--json", NULL);
  assert_code(first, 0);
  g_autofree char *longer = g_build_filename(runs, "longer", NULL),
                  *history = g_build_filename(longer, "history.csv", NULL), *text = NULL;
  g_auto(Ran) r = program_run("train", "--resume", longer, "--epochs", "3", "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  g_assert_cmpstr(json_object_get_string_member(o, "run"), ==, longer);
  g_assert_cmpint(json_object_get_int_member(o, "steps"), ==, 9);
  g_assert_true(g_file_get_contents(history, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(g_strstrip(text), "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 1 + 3);
}

static void test_resume_refuses(void) {
  g_auto(Ran) other_net = program_run("train", "--resume", run, "--base", "4", NULL);
  g_assert_cmpint(other_net.code, !=, 0);
  assert_says(other_net.err, "base");
  g_autofree char *missing = g_build_filename(runs, "never", NULL);
  g_auto(Ran) nothing = program_run("train", "--resume", missing, NULL);
  g_assert_cmpint(nothing.code, !=, 0);
  assert_says(nothing.err, "never");
}

/* The acceptance run's words, on a folder in the same layout: its recipe is chosen by itself and said. */
static void test_camvid_preset_is_chosen(void) {
  g_autofree char *folder = scratch_folder();
  static const char *const parts[] = {"train", "trainannot", "val", "valannot"};
  guint8 rgb[48 * 36 * 3], labels[48 * 36];
  guint32 palette[12] = {0};
  for (guint i = 0; i < sizeof labels; i++) labels[i] = (guint8)(i / 48 / 3);
  for (guint i = 0; i < sizeof rgb; i++) rgb[i] = (guint8)(labels[i / 3] * 20 + i % 3);
  for (guint p = 0; p < G_N_ELEMENTS(parts); p++) {
    g_autofree char *sub = g_build_filename(folder, parts[p], NULL);
    g_mkdir(sub, 0755);
    for (int k = 0; k < 9; k++) {
      g_autofree char *path = g_strdup_printf("%s/0001TP_%06d.png", sub, k);
      g_autoptr(GError) error = NULL;
      if (p % 2 == 0)
        tm_png_write_rgb(path, rgb, 48, 36, &error);
      else
        tm_png_write_index(path, labels, 48, 36, palette, 12, &error);
      g_assert_no_error(error);
    }
  }
  g_auto(Ran) r = program_run("train", folder, "--epochs", "1", "--base", "2", "--crop", "32", "--out", runs,
                              "--name", "camvid", "--json", NULL);
  assert_code(r, 0);
  assert_says(r.err, "Preset camvid");
  g_autofree char *info = g_build_filename(runs, "camvid", "run.json", NULL), *text = NULL;
  g_assert_true(g_file_get_contents(info, &text, NULL, NULL));
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  JsonObject *s =
      json_object_get_object_member(json_node_get_object(json_parser_get_root(parser)), "settings");
  g_assert_cmpstr(json_object_get_string_member(s, "class_weights"), ==, "sqrt");
  g_assert_cmpfloat(json_object_get_double_member(s, "scale_max"), ==, 1.5);
  g_assert_cmpint(json_object_get_int_member(s, "batch"), ==, 8);
  g_assert_cmpint(json_object_get_int_member(s, "base"), ==, 2); /* what was said wins */
}

static void test_run_root_cannot_be_made(void) {
  g_autofree char *folder = scratch_folder(), *file = g_build_filename(folder, "file", NULL);
  scratch_file(folder, "file", "x", 1);
  g_auto(Ran) r = program_run("train", "demo", TINY, "--epochs", "1", "--out", file, NULL);
  assert_code(r, 1);
  assert_says(r.err, "file");
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  runs = scratch_folder();
  g_test_add_func("/cli/train/train", test_train);
  g_test_add_func("/cli/train/lr-test", test_lr);
  g_test_add_func("/cli/train/plan", test_plan);
  g_test_add_func("/cli/train/evaluate", test_evaluate);
  g_test_add_func("/cli/train/evaluate-checkpoint-file", test_evaluate_checkpoint_file);
  g_test_add_func("/cli/train/int8", test_int8);
  g_test_add_func("/cli/train/predict", test_predict);
  g_test_add_func("/cli/train/predict-broken-file", test_predict_broken_file);
  g_test_add_func("/cli/train/predict-keeps-what-is-there", test_predict_keeps_what_is_there);
  g_test_add_func("/cli/train/plain-lines", test_plain_lines);
  g_test_add_func("/cli/train/same-name-gets-a-number", test_same_name_gets_a_number);
  g_test_add_func("/cli/train/resume", test_resume);
  g_test_add_func("/cli/train/resume-refuses", test_resume_refuses);
  g_test_add_func("/cli/train/camvid-preset-is-chosen", test_camvid_preset_is_chosen);
  g_test_add_func("/cli/train/run-root-cannot-be-made", test_run_root_cannot_be_made);
  int code = g_test_run();
  g_free(runs);
  g_free(run);
  return code;
}
