/* test_machine.c: tarmac doctor here, and its sentences on drivers that are not here. */
#include "program.h"

#include <string.h>

#include <glib/gstdio.h>

#include "engine/doctor/cuda_driver.h"

static void test_text(void) {
  g_auto(Ran) r = program_run("doctor", NULL);
  assert_code(r, 0);
  static const char *const parts[] = {"ref", "cpu", "cuda", "usable", "GLib", "libpng", "Picture path", "Checks"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) assert_says(r.out, parts[i]);
}

static void test_json(void) {
  g_auto(Ran) r = program_run("doctor", "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  JsonObject *backends = json_object_get_object_member(o, "backends");
  static const char *const names[] = {"cuda", "cpu", "ref"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    JsonObject *b = json_object_get_object_member(backends, names[i]);
    gboolean usable = json_object_get_boolean_member(b, "usable");
    const char *told = json_object_get_string_member(b, usable ? "device" : "reason");
    g_assert_cmpuint(strlen(told), >, 3);
    g_assert_true(json_object_get_null_member(b, usable ? "reason" : "device"));
  }
  g_assert_true(json_object_get_boolean_member(json_object_get_object_member(backends, "ref"), "usable"));
  g_assert_cmpint(json_object_get_int_member(o, "cores"), >=, 1);
  JsonArray *checks = json_object_get_array_member(o, "checks");
  g_assert_cmpuint(json_array_get_length(checks), >=, 5);
  for (guint i = 0; i < json_array_get_length(checks); i++) {
    JsonObject *c = json_array_get_object_element(checks, i);
    g_assert_nonnull(json_object_get_string_member(c, "id"));
    g_assert_nonnull(json_object_get_string_member(c, "verdict"));
    g_assert_cmpuint(strlen(json_object_get_string_member(c, "title")), >, 3);
  }
}

/* Without a GPU to be seen all still works and says so. */
static void test_no_gpu(void) {
  static const char *const words[] = {"doctor", "--json", NULL};
  g_auto(Ran) r = program_run_env(words, "TARMAC_NVML", "/nonexistent/libnvidia-ml.so.1");
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  g_assert_true(json_object_get_null_member(o, "gpu"));
  g_assert_nonnull(json_object_get_string_member(o, "gpu_readings"));
}

static void check_runs(const char *version, const char *expected) {
  g_autofree char *runs = tm_cuda_driver_runs(version);
  g_assert_cmpstr(runs, ==, expected);
}

static void test_versions(void) {
  check_runs("440.33.01", NULL);
  check_runs("450.51.06", NULL);
  check_runs("450.80.02", "CUDA 11.8; 12.x needs driver 525.60 or newer; 13.x needs driver 580 or newer");
  check_runs("525.60.13", "CUDA 11.8, 12.x; 13.x needs driver 580 or newer");
  check_runs("535.104.05", "CUDA 11.8, 12.x; 13.x needs driver 580 or newer");
  check_runs("580", "CUDA 11.8, 12.x, 13.x");
  check_runs("580.65.06", "CUDA 11.8, 12.x, 13.x");
}

static const struct {
  const char *name, *version_file;
  gboolean device, uvm, library, usable;
  const char *says;
} drivers[] = {
    {"none", NULL, FALSE, FALSE, FALSE, FALSE, "no NVIDIA driver"},
    {"not-loaded", NULL, FALSE, FALSE, TRUE, FALSE, "modprobe nvidia"},
    {"no-device",
     "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n", FALSE,
     FALSE, TRUE, FALSE, "--gpus all"},
    {"no-uvm", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n",
     TRUE, FALSE, TRUE, FALSE, "modprobe nvidia-uvm"},
    {"no-library",
     "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n", TRUE, TRUE,
     FALSE, FALSE, "libcuda.so.1"},
    {"too-old", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  418.87.00  Thu Aug  8 15:35:46 CDT 2019\n",
     TRUE, TRUE, TRUE, FALSE, "450.80"},
    {"good", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n",
     TRUE, TRUE, TRUE, TRUE, "Driver 535.104.05 runs CUDA 11.8, 12.x"},
    {"open-module",
     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)\n",
     TRUE, TRUE, TRUE, TRUE, "Driver 580.65.06"},
};

static void put(const char *root, const char *folder, const char *name, const char *text) {
  g_autofree char *path = g_build_filename(root, folder, NULL);
  g_mkdir_with_parents(path, 0755);
  scratch_file(path, name, text, strlen(text));
}

static void test_driver(gconstpointer data) {
  const guint i = GPOINTER_TO_UINT(data);
  g_autofree char *root = scratch_folder(), *sentence = NULL;
  if (drivers[i].version_file) put(root, "proc/driver/nvidia", "version", drivers[i].version_file);
  if (drivers[i].device) put(root, "dev", "nvidia0", "");
  if (drivers[i].uvm) put(root, "dev", "nvidia-uvm", "");
  if (drivers[i].library) put(root, "usr/lib", "libcuda.so.1", "");
  TmCudaDriver driver;
  tm_cuda_driver_read(&driver, root);
  g_assert_cmpint(tm_cuda_driver_usable(&driver, &sentence), ==, drivers[i].usable);
  assert_says(sentence, drivers[i].says);
  tm_cuda_driver_clear(&driver);
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  g_test_add_func("/cli/doctor/text", test_text);
  g_test_add_func("/cli/doctor/json", test_json);
  g_test_add_func("/cli/doctor/no-gpu", test_no_gpu);
  g_test_add_func("/cli/doctor/cuda-versions", test_versions);
  for (guint i = 0; i < G_N_ELEMENTS(drivers); i++) {
    g_autofree char *name = g_strdup_printf("/cli/doctor/driver/%s", drivers[i].name);
    g_test_add_data_func(name, GUINT_TO_POINTER(i), test_driver);
  }
  return g_test_run();
}
