/* What is measured once is found at the next start, beside what others wrote, and never in the way of a program. */
#include <glib/gstdio.h>

#include "engine/core/machine_cache.h"

static void test_kept(void) {
  TmMachineCache *a = tm_machine_cache_new("test.ini", "A [machine]\nof two lines");
  g_assert_null(tm_machine_cache_get(a, "k"));
  tm_machine_cache_set(a, "k", "1");
  TmMachineCache *b = tm_machine_cache_new("test.ini", "another");
  g_assert_null(tm_machine_cache_get(b, "k"));
  tm_machine_cache_set(b, "k", "2");
  tm_machine_cache_set(a, "l", "3"); /* a was opened before b wrote: both stay */
  tm_machine_cache_free(a);
  tm_machine_cache_free(b);
  g_autoptr(TmMachineCache) again = tm_machine_cache_new("test.ini", "A [machine]\nof two lines"),
                            other = tm_machine_cache_new("test.ini", "another");
  g_autofree char *k = tm_machine_cache_get(again, "k"), *l = tm_machine_cache_get(again, "l"),
                  *of_other = tm_machine_cache_get(other, "k");
  g_assert_cmpstr(k, ==, "1");
  g_assert_cmpstr(l, ==, "3");
  g_assert_cmpstr(of_other, ==, "2");
}

static void test_unwritable(void) {
  g_autofree char *folder = g_build_filename(g_get_user_cache_dir(), "tarmac", NULL),
                  *path = g_build_filename(folder, "test.ini", NULL);
  g_remove(path);
  g_rmdir(folder);
  g_assert_true(g_file_set_contents(folder, "a file where the folder should be", -1, NULL));
  g_autoptr(TmMachineCache) c = tm_machine_cache_new("test.ini", "machine");
  tm_machine_cache_set(c, "k", "1");
  g_autofree char *k = tm_machine_cache_get(c, "k");
  g_assert_cmpstr(k, ==, "1");
  g_remove(folder);
}

int main(int argc, char **argv) {
  g_autofree char *cache = g_dir_make_tmp("tarmac-cache-XXXXXX", NULL);
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/core/machine-cache/kept", test_kept);
  g_test_add_func("/core/machine-cache/unwritable", test_unwritable);
  const int result = g_test_run();
  g_rmdir(cache);
  return result;
}
