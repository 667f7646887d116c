/* What a person writes on a run stays with it, and a run that is put aside comes back as it was. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/run/run_card.h"
#include "engine/run/run_dir.h"
#include "engine/run/run_list.h"

static char *root;

static char *make_run(const char *name) {
  g_autoptr(GError) e = NULL;
  char *run = tm_run_create(root, name, &e);
  g_assert_no_error(e);
  g_autofree char *info = g_build_filename(run, "run.json", NULL);
  static const char text[] = "{\"state\":\"finished\",\"result\":{\"best_miou\":0.5,\"best_epoch\":2,\"epochs\":3}}";
  g_assert_true(g_file_set_contents(info, text, -1, NULL));
  return run;
}

static TmRunInfo *only(GPtrArray *runs) {
  g_assert_cmpuint(runs->len, ==, 1);
  return runs->pdata[0];
}

static void test_card(void) {
  g_autofree char *run = make_run("one");
  g_autoptr(GError) e = NULL;
  g_autoptr(GPtrArray) before = tm_run_list(root);
  g_assert_cmpstr(only(before)->title, ==, "one");
  g_assert_cmpstr(only(before)->note, ==, "");
  g_assert_false(only(before)->star);
  g_assert_true(tm_run_card_write(run, "Größer", "line 1\nline \"2\"", TRUE, &e));
  g_assert_no_error(e);
  g_autoptr(GPtrArray) after = tm_run_list(root);
  g_assert_cmpstr(only(after)->title, ==, "Größer");
  g_assert_cmpstr(only(after)->note, ==, "line 1\nline \"2\"");
  g_assert_true(only(after)->star);
  g_assert_true(tm_run_card_write(run, "", NULL, FALSE, &e)); /* the folder's name again */
  g_autoptr(GPtrArray) again = tm_run_list(root);
  g_assert_cmpstr(only(again)->title, ==, "one");
  g_autofree char *card = g_build_filename(run, "card.json", NULL);
  static const char *const damaged[] = {"", "[]", "{\"title\":3,\"star\":\"x\"}", "{\"title\":"};
  for (guint i = 0; i < G_N_ELEMENTS(damaged); i++) {
    g_assert_true(g_file_set_contents(card, damaged[i], -1, NULL));
    g_autoptr(GPtrArray) list = tm_run_list(root);
    g_assert_cmpstr(only(list)->title, ==, "one");
  }
  g_assert_true(tm_run_remove(run, NULL));
  tm_run_purge(root);
}

static void test_aside(void) {
  g_autofree char *run = make_run("two");
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_run_remove(run, &e));
  g_assert_no_error(e);
  g_autoptr(GPtrArray) none = tm_run_list(root);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_true(tm_run_restore(run, &e));
  g_autoptr(GPtrArray) back = tm_run_list(root);
  g_assert_cmpfloat(only(back)->best_miou, ==, 0.5);
  g_assert_true(tm_run_remove(run, &e));
  g_free(make_run("two")); /* another one took its name */
  g_assert_false(tm_run_restore(run, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_FILE);
  g_clear_error(&e);
  tm_run_purge(root);
  g_autoptr(GPtrArray) kept = tm_run_list(root); /* only what was put aside is gone for good */
  g_assert_cmpuint(kept->len, ==, 1);
  g_autofree char *missing = g_build_filename(root, "missing", "run", NULL), *parent = g_path_get_dirname(missing);
  g_assert_false(tm_run_remove(missing, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_FILE);
  g_assert_false(g_file_test(parent, G_FILE_TEST_EXISTS)); /* nor was a place for it made */
}

/* A link in a run that is deleted is not followed. */
static void test_link(void) {
  g_autofree char *run = make_run("three"), *outside = g_build_filename(root, "precious", NULL),
                  *link = g_build_filename(run, "probes", "link", NULL), *file = g_build_filename(outside, "file", NULL);
  g_assert_cmpint(g_mkdir(outside, 0777), ==, 0);
  g_assert_true(g_file_set_contents(file, "x", 1, NULL));
  g_autoptr(GFile) at = g_file_new_for_path(link);
  g_assert_true(g_file_make_symbolic_link(at, outside, NULL, NULL));
  g_assert_true(tm_run_remove(run, NULL));
  tm_run_purge(root);
  g_assert_true(g_file_test(file, G_FILE_TEST_EXISTS));
  g_autofree char *aside = g_build_filename(root, ".removed", "three", NULL);
  g_assert_false(g_file_test(aside, G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  root = g_dir_make_tmp("tarmac-cards-XXXXXX", NULL);
  g_test_add_func("/run-card/card", test_card);
  g_test_add_func("/run-card/aside", test_aside);
  g_test_add_func("/run-card/link", test_link);
  const int code = g_test_run();
  g_autofree char *command = g_strdup_printf("rm -rf '%s'", root);
  g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL);
  return code;
}
