/* Which way a convolution goes: what was told, else what was measured once and remembered. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/backend/cpu/conv_choose.h"

static char *cache_file(void) {
  return g_build_filename(g_get_user_cache_dir(), "tarmac", "convolutions.ini", NULL);
}

static void forget(void) {
  g_autofree char *path = cache_file();
  g_remove(path);
}

static CpuBackend *open_told(const char *convolutions) {
  GError *error = NULL;
  TmBackend *b =
      tm_backend_open("cpu", &(TmBackendOptions){.threads = 2, .convolutions = convolutions}, &error);
  g_assert_no_error(error);
  return (CpuBackend *)b;
}

static CpuConvShape shape3(int op, int in, int out, int side) {
  return (CpuConvShape){.op = op,
                        .wide = TM_SHAPE(1, in, side, side),
                        .deep = TM_SHAPE(1, out, side, side),
                        .weights = TM_SHAPE(out, in, 3, 3),
                        .stride = 1,
                        .pad = 1,
                        .dilation = 1,
                        .groups = 1};
}

static void test_told(void) {
  const CpuConvShape wide = shape3(TM_OP_CONV, 32, 64, 32), odd = shape3(TM_OP_CONV, 3, 20, 32);
  CpuBackend *direct = open_told("direct"), *winograd = open_told("winograd");
  g_assert_cmpstr(tm_cpu_conv_choose(direct, &wide, TM_BF16)->name, ==, "direct");
  g_assert_cmpstr(tm_cpu_conv_choose(winograd, &wide, TM_BF16)->name, ==,
                  winograd->kernels->winograd ? "winograd" : "direct");
  g_assert_cmpstr(tm_cpu_conv_choose(winograd, &wide, TM_F32)->name, ==, "winograd");
  /* what a way cannot do goes the first that can */
  g_assert_cmpstr(tm_cpu_conv_choose(winograd, &odd, TM_BF16)->name, ==, "direct");
  tm_backend_close(&direct->base);
  tm_backend_close(&winograd->base);
}

static void test_any_shape_has_a_way(void) {
  CpuBackend *b = open_told("winograd");
  CpuConvShape s = shape3(TM_OP_CONV, 6, 4, 9);
  s.stride = 2;
  s.groups = 2;
  s.dilation = 2;
  s.weights.c = 3;
  const CpuConvWay *way = tm_cpu_conv_choose(b, &s, TM_F32);
  g_assert_true(strcmp(way->name, "onednn") == 0 || strcmp(way->name, "plain") == 0);
  CpuConvShape up = {.op = TM_OP_CONV_TRANSPOSE,
                     .wide = TM_SHAPE(1, 4, 8, 8),
                     .deep = TM_SHAPE(1, 6, 4, 4),
                     .weights = TM_SHAPE(6, 4, 2, 2),
                     .stride = 2,
                     .dilation = 1,
                     .groups = 1};
  g_assert_cmpstr(tm_cpu_conv_choose(b, &up, TM_BF16)->name, ==, "up2");
  tm_backend_close(&b->base);
}

static char *remembered_line(const char *key) {
  g_autofree char *path = cache_file();
  g_autoptr(GKeyFile) f = g_key_file_new();
  g_assert_true(g_key_file_load_from_file(f, path, G_KEY_FILE_NONE, NULL));
  gsize n;
  g_auto(GStrv) groups = g_key_file_get_groups(f, &n);
  g_assert_cmpuint(n, ==, 1);
  return g_key_file_get_string(f, groups[0], key, NULL);
}

static void set_remembered(const char *key, const char *text) {
  g_autofree char *path = cache_file();
  g_autoptr(GKeyFile) f = g_key_file_new();
  g_assert_true(g_key_file_load_from_file(f, path, G_KEY_FILE_NONE, NULL));
  g_auto(GStrv) groups = g_key_file_get_groups(f, NULL);
  g_key_file_set_string(f, groups[0], key, text);
  g_assert_true(g_key_file_save_to_file(f, path, NULL));
}

static const char *choose_afresh(int op, TmDType type) {
  CpuBackend *b = open_told("auto");
  const CpuConvShape s = shape3(op, 32, 32, 48);
  const char *name = tm_cpu_conv_choose(b, &s, type)->name;
  g_assert_cmpstr(tm_cpu_conv_choose(b, &s, type)->name, ==, name);
  tm_backend_close(&b->base);
  return name;
}

static void test_measured_and_remembered(void) {
  forget();
  static const int ops[] = {TM_OP_CONV, TM_OP_CONV_TRANSPOSE, TM_OP_CONV_DW};
  static const char *const keys[] = {"forward-32-32-bf16", "backward-32-32-bf16", "gradient-32-32-bf16"};
  for (guint i = 0; i < G_N_ELEMENTS(ops); i++) {
    const char *name = choose_afresh(ops[i], TM_BF16);
    g_autofree char *line = remembered_line(keys[i]);
    g_assert_nonnull(line);
    g_assert_true(g_str_has_prefix(line, name));
    g_assert_nonnull(strstr(line, "direct"));
  }
  set_remembered(keys[0], "direct of winograd 9 direct 1 ms"); /* asked again, it says what stands there */
  g_assert_cmpstr(choose_afresh(TM_OP_CONV, TM_BF16), ==, "direct");
  set_remembered(keys[0], "abacus of abacus 1 ms"); /* what this program does not have is measured again */
  const char *name = choose_afresh(TM_OP_CONV, TM_BF16);
  g_autofree char *line = remembered_line(keys[0]);
  g_assert_true(g_str_has_prefix(line, name));
}

static void test_broken_cache(void) {
  g_autofree char *path = cache_file(), *folder = g_path_get_dirname(path);
  g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
  g_assert_true(g_file_set_contents(path, "\x01\xff no [ini\n=", -1, NULL));
  g_assert_nonnull(choose_afresh(TM_OP_CONV, TM_BF16));
  g_autofree char *line = remembered_line("forward-32-32-bf16");
  g_assert_nonnull(line);
}

static void test_no_cache(void) {
  g_autofree char *path = cache_file(), *folder = g_path_get_dirname(path);
  forget();
  g_rmdir(folder);
  g_assert_true(g_file_set_contents(folder, "a file where the folder should be", -1, NULL));
  g_assert_nonnull(choose_afresh(TM_OP_CONV_DW, TM_F32));
  g_remove(folder);
}

/* A few pixels are not worth a measurement. */
static void test_small_is_not_measured(void) {
  forget();
  CpuBackend *b = open_told("auto");
  const CpuConvShape s = shape3(TM_OP_CONV, 32, 32, 4);
  g_assert_cmpstr(tm_cpu_conv_choose(b, &s, TM_BF16)->name, ==, "direct");
  g_autofree char *path = cache_file();
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  tm_backend_close(&b->base);
}

int main(int argc, char **argv) {
  g_autofree char *cache = g_dir_make_tmp("tarmac-choose-XXXXXX", NULL);
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_unsetenv("TARMAC_CONVOLUTIONS");
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/backend/cpu/choose/told", test_told);
  g_test_add_func("/backend/cpu/choose/any-shape", test_any_shape_has_a_way);
  g_test_add_func("/backend/cpu/choose/measured", test_measured_and_remembered);
  g_test_add_func("/backend/cpu/choose/broken-cache", test_broken_cache);
  g_test_add_func("/backend/cpu/choose/no-cache", test_no_cache);
  g_test_add_func("/backend/cpu/choose/small", test_small_is_not_measured);
  const int result = g_test_run();
  forget();
  g_autofree char *path = cache_file(), *folder = g_path_get_dirname(path);
  g_rmdir(folder);
  g_rmdir(cache);
  return result;
}
