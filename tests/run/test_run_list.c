/* test_run_list.c: which runs there are, as their files tell, whatever those hold. */
#include "engine/run/run_list.h"
#include "tests/run/run_test.h"

static void put(const char *root, const char *name, const char *info, gboolean network) {
  g_autoptr(GError) error = NULL;
  g_autofree char *run = tm_run_create(root, name, &error);
  g_assert_no_error(error);
  g_autofree char *json = g_build_filename(run, "run.json", NULL),
                  *best = g_build_filename(run, "checkpoints", "best.safetensors", NULL);
  if (info) rt_write(json, info, strlen(info));
  if (network) rt_write(best, "x", 1);
}

static const TmRunInfo *find(GPtrArray *runs, const char *name) {
  for (guint i = 0; i < runs->len; i++)
    if (g_str_equal(((TmRunInfo *)runs->pdata[i])->name, name)) return runs->pdata[i];
  return NULL;
}

static void test_list(void) {
  g_autofree char *root = rt_folder();
  put(root, "good", "{\"state\":\"finished\",\"result\":{\"best_miou\":0.5,\"best_epoch\":3,\"epochs\":9}}", TRUE);
  put(root, "alive", "{\"state\":\"running\"}", FALSE);
  put(root, "odd", "{\"state\":7,\"result\":{\"best_miou\":null,\"best_epoch\":-3,\"epochs\":\"many\"}}", TRUE);
  put(root, "broken", "{\"state\":", TRUE);
  put(root, "bare", NULL, TRUE);
  g_autofree char *file = g_build_filename(root, "note.txt", NULL);
  rt_write(file, "x", 1);
  g_autoptr(GPtrArray) runs = tm_run_list(root);
  g_assert_cmpuint(runs->len, ==, 3);
  const TmRunInfo *good = find(runs, "good"), *alive = find(runs, "alive"), *odd = find(runs, "odd");
  g_assert_cmpfloat(good->best_miou, ==, 0.5);
  g_assert_true(good->best_epoch == 3 && good->epochs == 9 && good->has_network);
  g_assert_cmpstr(alive->state, ==, "running");
  g_assert_true(isnan(alive->best_miou) && !alive->has_network);
  g_assert_cmpstr(odd->state, ==, "");
  g_assert_true(odd->best_epoch == 0 && odd->epochs == 0 && odd->has_network);
  rt_remove(root);
  g_autoptr(GPtrArray) none = tm_run_list(root);
  g_assert_cmpuint(none->len, ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/run-list/list", test_list);
  return g_test_run();
}
