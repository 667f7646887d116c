/* Backends that come as modules. Each kind of module is looked for in a folder of its own, given by the
 * build. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/backend/backend.h"

static void expect_refusal(const char *folder, const char *part) {
  g_autoptr(GError) error = NULL;
  g_setenv("TARMAC_MODULES", folder, TRUE);
  g_assert_false(tm_backend_available("cuda", &error));
  g_assert_nonnull(error);
  if (!strstr(error->message, part)) g_test_fail_printf("“%s” does not say “%s”", error->message, part);
}

static const char *modules; /* the folder the build put them in */

static char *folder_of(const char *kind) {
  return g_build_filename(modules, kind, NULL);
}

static void test_not_installed(void) {
  expect_refusal("/nonexistent:/nowhere", "/nonexistent, /nowhere");
}

static void test_not_beside_the_program(void) {
  g_autoptr(GError) error = NULL;
  g_unsetenv("TARMAC_MODULES");
  g_assert_false(tm_backend_available("cuda", &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  g_assert_nonnull(strstr(error->message, "tarmac-cuda.so"));
}

static void test_foreign(void) {
  g_autofree char *folder = folder_of("foreign");
  expect_refusal(folder, "not a module of Tarmac");
}

static void test_other_version(void) {
  g_autofree char *folder = folder_of("old");
  expect_refusal(folder, "another version");
}

static void test_damaged(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("tarmac-module-XXXXXX", &error), *file = NULL;
  g_assert_no_error(error);
  file = g_build_filename(folder, "tarmac-cuda.so", NULL);
  g_assert_true(g_file_set_contents(file, "this is no library", -1, NULL));
  expect_refusal(folder, "cannot be loaded");
  g_assert_cmpint(g_remove(file), ==, 0);
  g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* Last: a module that was loaded stays. Its own reason is passed on, and "auto" goes on to the next best. */
static void test_good(void) {
  g_autofree char *folder = folder_of("good");
  expect_refusal(folder, "the device is not");
  expect_refusal("/nonexistent", "the device is not");
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) b = tm_backend_open("auto", NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(b->api->name, !=, "cuda");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 2) {
    g_printerr("usage: %s FOLDER\n", argv[0]);
    return 1;
  }
  modules = argv[1];
  g_test_add_func("/modules/not-installed", test_not_installed);
  g_test_add_func("/modules/not-beside-the-program", test_not_beside_the_program);
  g_test_add_func("/modules/foreign", test_foreign);
  g_test_add_func("/modules/other-version", test_other_version);
  g_test_add_func("/modules/damaged", test_damaged);
  g_test_add_func("/modules/good", test_good);
  return g_test_run();
}
