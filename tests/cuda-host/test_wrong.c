/* Kernels with a mistake each (wrong.cu): the look that is meant to find it must end the program.
 * Arguments: pairs of a look ("plain", "asan", "tsan") and the program built for it. */
#include <glib.h>
#include <string.h>

static const struct {
  const char *kernel, *look;
  gboolean right;
} rows[] = {
    {"fine", "plain", TRUE},          {"fine", "asan", TRUE},           {"fine", "tsan", TRUE},
    {"two_barriers", "plain", FALSE}, {"early_return", "plain", FALSE}, {"lost_lane", "plain", FALSE},
    {"half_warp", "plain", FALSE},    {"unset", "plain", FALSE},        {"no_barrier", "plain", FALSE},
    {"no_barrier", "tsan", FALSE},    {"no_syncwarp", "tsan", FALSE},   {"blocks_collide", "tsan", FALSE},
    {"plain_add", "tsan", FALSE},     {"static_over", "asan", FALSE},   {"dynamic_over", "asan", FALSE},
    {"global_over", "asan", FALSE},   {"misaligned", "asan", FALSE},
};

static GHashTable *programs;

static void test_row(gconstpointer data) {
  const guint i = GPOINTER_TO_UINT(data);
  const char *program = g_hash_table_lookup(programs, rows[i].look);
  if (!program) {
    g_test_skip("this build looks another way");
    return;
  }
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  char *argv[] = {(char *)program, (char *)rows[i].kernel, NULL};
  g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, &error);
  g_assert_no_error(error);
  const gboolean ended_well = g_spawn_check_wait_status(status, NULL);
  if (ended_well != rows[i].right)
    g_test_fail_printf("%s: %s%s", ended_well ? "went unnoticed" : "failed", out, err);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  programs = g_hash_table_new(g_str_hash, g_str_equal);
  for (int i = 1; i + 1 < argc; i += 2) g_hash_table_insert(programs, argv[i], argv[i + 1]);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = g_strdup_printf("/cuda-host/wrong/%s/%s", rows[i].look, rows[i].kernel);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
  }
  const int result = g_test_run();
  g_hash_table_unref(programs);
  return result;
}
