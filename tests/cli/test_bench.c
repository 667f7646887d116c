/* test_bench.c: the timings' form, and that their figures agree with one another. */
#include "program.h"

#include <math.h>
#include <string.h>

static void check(const char *const *words, int batch, int height, int width, gboolean counted) {
  g_auto(Ran) r = program_run_env(words, NULL, NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  double seconds = json_object_get_double_member(o, "seconds");
  g_assert_cmpfloat(seconds, >, 0);
  g_assert_cmpfloat_with_epsilon(json_object_get_double_member(o, "images_per_s"), batch / seconds,
                                 1e-6 * batch / seconds);
  g_assert_cmpfloat(json_object_get_double_member(o, "peak_rss_mb"), >, 1);
  g_assert_cmpint(json_array_get_int_element(json_object_get_array_member(o, "size"), 0), ==, height);
  g_assert_cmpint(json_array_get_int_element(json_object_get_array_member(o, "size"), 1), ==, width);
  if (counted)
    g_assert_cmpfloat(json_object_get_double_member(o, "gflops"), >, 0);
  else
    g_assert_true(json_object_get_null_member(o, "gflops"));
}

static void test_step(void) {
  static const char *const words[] = {"bench",       "step", "--base",    "2",     "--depth", "2",
                                      "--batch",     "2",    "--size",    "17x31", "--steps", "2",
                                      "--precision", "f32",  "--threads", "1",     "--json",  NULL};
  check(words, 2, 17, 31, TRUE);
}

static void test_infer(void) {
  static const char *const words[] = {"bench",  "infer", "--base",  "2", "--depth", "2",
                                      "--size", "16x24", "--steps", "2", "--json",  NULL};
  check(words, 1, 16, 24, TRUE);
}

static void test_infer_int8(void) {
  static const char *const words[] = {"bench",   "infer", "--base", "2",     "--depth",     "2",
                                      "--batch", "2",     "--size", "17x24", "--precision", "int8",
                                      "--steps", "2",     "--json", NULL};
  check(words, 2, 17, 24, TRUE);
  g_auto(Ran) r = program_run("bench", "step", "--precision", "int8", NULL);
  assert_code(r, 2);
}

/* The steps' times are shares of the peak that stand beside them. */
static void test_kernels(void) {
  g_auto(Ran) r =
      program_run("bench", "kernels", "--base", "4", "--depth", "2", "--batch", "1", "--size", "32x32",
                  "--precision", "f32", "--backend", "cpu", "--threads", "1", "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  const double peak = json_object_get_double_member(o, "peak_gflops");
  g_assert_cmpfloat(peak, >, 0.1);
  g_assert_cmpfloat(json_object_get_double_member(o, "peak_gb_s"), >, 0.1);
  JsonArray *steps = json_object_get_array_member(o, "steps");
  g_assert_cmpuint(json_array_get_length(steps), >, 10);
  double before = INFINITY;
  for (guint i = 0; i < json_array_get_length(steps); i++) {
    JsonObject *s = json_array_get_object_element(steps, i);
    const double seconds = json_object_get_double_member(s, "seconds");
    g_assert_cmpfloat(seconds, >, 0);
    g_assert_cmpfloat(seconds, <=, before); /* the longest first */
    before = seconds;
  }
  g_auto(Ran) text = program_run("bench", "kernels", "--inference", "--base", "4", "--depth", "2", "--size",
                                 "32x32", "--backend", "ref", NULL);
  assert_code(text, 0);
  assert_says(text.out, "All steps alone");
  g_auto(Ran) wrong = program_run("bench", "step", "--inference", NULL);
  assert_code(wrong, 2);
}

static void test_reference(void) {
  static const char *const words[] = {"bench",       "step", "--base",    "2",     "--depth", "2",
                                      "--batch",     "1",    "--size",    "16x16", "--steps", "1",
                                      "--precision", "f32",  "--backend", "ref",   "--json",  NULL};
  check(words, 1, 16, 16, TRUE);
}

static void test_loader(void) {
  static const char *const words[] = {"bench",   "loader", "--batch",   "3", "--size", "32x48",
                                      "--steps", "2",      "--threads", "1", "--json", NULL};
  check(words, 3, 32, 48, FALSE);
}

/* A step is three times a forward pass, about: the count says so too. */
static void test_flops_of_a_step(void) {
  g_auto(Ran) step = program_run("bench", "step", "--base", "4", "--batch", "1", "--size", "32x32", "--steps",
                                 "1", "--precision", "f32", "--threads", "1", "--json", NULL);
  g_auto(Ran) infer = program_run("bench", "infer", "--base", "4", "--batch", "1", "--size", "32x32",
                                  "--steps", "1", "--precision", "f32", "--threads", "1", "--json", NULL);
  assert_code(step, 0);
  assert_code(infer, 0);
  g_autoptr(JsonObject) a = ran_json(&step), b = ran_json(&infer);
  double of_step = json_object_get_double_member(a, "gflops") * json_object_get_double_member(a, "seconds");
  double of_infer = json_object_get_double_member(b, "gflops") * json_object_get_double_member(b, "seconds");
  g_assert_cmpfloat(of_step / of_infer, >, 2.5);
  g_assert_cmpfloat(of_step / of_infer, <, 3.5);
}

/* What is said beforehand is what is there then, as far as pages of 2 MiB allow with so small a net. */
static void test_memory(void) {
  g_auto(Ran) r = program_run("bench", "memory", "--base", "16", "--batch", "4", "--size", "128x256", "--backend", "cpu",
                              "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  JsonObject *p = json_object_get_object_member(o, "predicted"), *a = json_object_get_object_member(o, "actual");
  static const char *const parts[] = {"weights", "values", "peak"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    const double said = (double)json_object_get_int_member(p, parts[i]),
                 took = (double)json_object_get_int_member(a, parts[i]);
    g_assert_cmpfloat(said, >, 1e6);
    g_assert_cmpfloat(fabs(said / took - 1), <, 0.1 + 12e6 / took);
  }
  JsonArray *layers = json_object_get_array_member(o, "layers");
  gint64 stored = 0;
  for (guint i = 0; i < json_array_get_length(layers); i++)
    stored += json_object_get_int_member(json_array_get_object_element(layers, i), "stored");
  g_assert_cmpint(stored, >, json_object_get_int_member(p, "values") / 3);
  g_assert_cmpint(stored, <, json_object_get_int_member(p, "values"));
}

/* What fits only with recomputing takes less on the device, and a limit that cannot be kept says which could. */
static void test_memory_limit(void) {
#define STEP "bench", "step", "--base", "16", "--batch", "2", "--size", "128x128", "--steps", "1", "--precision", "f32"
  g_auto(Ran) refused = program_run(STEP, "--memory-limit", "1", NULL), wide = program_run(STEP, "--json", NULL);
  assert_code(refused, 1);
  const char *least = strstr(refused.err, "at least ");
  g_assert_nonnull(least);
  g_autofree char *limit =
      g_strdup_printf("%d", (int)g_ascii_strtoll(least + strlen("at least "), NULL, 10) + 4);
  g_auto(Ran) narrow = program_run(STEP, "--json", "--memory-limit", limit, NULL);
#undef STEP
  assert_code(wide, 0);
  assert_code(narrow, 0);
  g_autoptr(JsonObject) a = ran_json(&wide), b = ran_json(&narrow);
  g_assert_cmpfloat(json_object_get_double_member(b, "device_mb"), <,
                    0.9 * json_object_get_double_member(a, "device_mb"));
  g_auto(Ran) infer = program_run("bench", "infer", "--memory-limit", "100", NULL);
  assert_code(infer, 2);
}

static void test_text(void) {
  g_auto(Ran) r =
      program_run("bench", "infer", "--base", "2", "--depth", "2", "--size", "16x16", "--steps", "1", NULL);
  assert_code(r, 0);
  assert_says(r.out, "GFLOP/s");
  assert_says(r.out, "pictures/s");
}

static void test_unknown_backend(void) {
  g_auto(Ran) r = program_run("bench", "infer", "--backend", "abacus", "--size", "16x16", NULL);
  assert_code(r, 1);
  assert_says(r.err, "abacus");
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  g_test_add_func("/cli/bench/step", test_step);
  g_test_add_func("/cli/bench/infer", test_infer);
  g_test_add_func("/cli/bench/infer-int8", test_infer_int8);
  g_test_add_func("/cli/bench/kernels", test_kernels);
  g_test_add_func("/cli/bench/reference", test_reference);
  g_test_add_func("/cli/bench/loader", test_loader);
  g_test_add_func("/cli/bench/flops-of-a-step", test_flops_of_a_step);
  g_test_add_func("/cli/bench/memory", test_memory);
  g_test_add_func("/cli/bench/memory-limit", test_memory_limit);
  g_test_add_func("/cli/bench/text", test_text);
  g_test_add_func("/cli/bench/unknown-backend", test_unknown_backend);
  return g_test_run();
}
