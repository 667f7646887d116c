/* The masks of probe pictures over a run's epochs: exact while they are small, bounded whatever the run and the pictures are. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/run/probe_files.h"
#include "engine/run/run_dir.h"

static const guint32 palette[] = {0x102030, 0x405060, 0x708090};

static char *make_run(void) {
  g_autoptr(GError) e = NULL;
  g_autofree char *root = g_dir_make_tmp("tarmac-probes-XXXXXX", &e);
  g_assert_no_error(e);
  char *run = tm_run_create(root, "r", &e);
  g_assert_no_error(e);
  return run;
}

static void keep_mask(const char *run, const char *name, guint epoch, const guint8 *labels, int w, int h) {
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_probe_file_write(run, name, epoch, labels, w, h, palette, 3, &e));
  g_assert_no_error(e);
}

static void remove_run(char *run) {
  g_autofree char *root = g_path_get_dirname(run), *command = g_strdup_printf("rm -rf '%s'", root);
  g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
  g_free(run);
}

static void test_exact(void) {
  char *run = make_run();
  const guint8 labels[] = {0, 1, 2, 255, 1, 0};
  keep_mask(run, "seq/0001.png", 3, labels, 3, 2);
  keep_mask(run, "seq/0001.png", 0, labels, 3, 2);
  keep_mask(run, "seq/0001", 7, labels, 3, 2); /* another picture whose name begins like it */
  g_autoptr(GArray) epochs = tm_probe_file_epochs(run, "seq/0001.png");
  g_assert_cmpuint(epochs->len, ==, 2);
  g_assert_cmpuint(g_array_index(epochs, guint, 0), ==, 0);
  g_assert_cmpuint(g_array_index(epochs, guint, 1), ==, 3);
  g_autoptr(GError) e = NULL;
  g_autofree guint8 *back = tm_probe_file_read(run, "seq/0001.png", 3, 3, 2, &e);
  g_assert_no_error(e);
  g_assert_cmpmem(back, 6, labels, 6);
  g_assert_null(tm_probe_file_read(run, "seq/0001.png", 3, 2, 3, &e)); /* the picture has changed since */
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_clear_error(&e);
  g_assert_null(tm_probe_file_read(run, "seq/0001.png", 4, 3, 2, &e));
  g_assert_nonnull(e);
  remove_run(run);
}

/* Every second, third … pixel of a large one. */
static void test_large(void) {
  enum { W = 2001, H = 1003 };
  char *run = make_run();
  g_autofree guint8 *labels = g_malloc(W * H);
  for (int i = 0; i < W * H; i++) labels[i] = (guint8)((i / W / 40 + i % W / 50) % 3);
  keep_mask(run, "large", 0, labels, W, H);
  g_autoptr(GError) e = NULL;
  g_autofree guint8 *back = tm_probe_file_read(run, "large", 0, W, H, &e);
  g_assert_no_error(e);
  guint same = 0;
  for (int i = 0; i < W * H; i++) same += back[i] == labels[i];
  g_assert_cmpuint(same, >, W * H * 9 / 10);
  g_autofree char *path = g_build_filename(run, "probes", "large-epoch-0000.png", NULL);
  GStatBuf st;
  g_assert_cmpint(g_stat(path, &st), ==, 0);
  g_assert_cmpint(st.st_size, <, TM_PROBE_PIXELS);
  remove_run(run);
}

static void test_bounded(void) {
  char *run = make_run();
  const guint8 labels[] = {0, 1};
  for (guint epoch = 0; epoch < 1100; epoch++) keep_mask(run, "p", epoch, labels, 2, 1);
  g_autoptr(GArray) epochs = tm_probe_file_epochs(run, "p");
  g_assert_cmpuint(epochs->len, <=, TM_PROBE_EPOCHS + 1);
  g_assert_cmpuint(epochs->len, >, TM_PROBE_EPOCHS / 2);
  g_assert_cmpuint(g_array_index(epochs, guint, 0), ==, 0);
  for (guint i = 1; i < epochs->len; i++) /* evenly */
    g_assert_cmpuint(g_array_index(epochs, guint, i) - g_array_index(epochs, guint, i - 1), ==, 8);
  g_assert_cmpuint(g_array_index(epochs, guint, epochs->len - 1), >=, 1096);
  g_autofree char *stray = g_build_filename(run, "probes", "p-epoch-x.png", NULL);
  g_assert_true(g_file_set_contents(stray, "x", 1, NULL));
  g_autoptr(GArray) again = tm_probe_file_epochs(run, "p");
  g_assert_cmpuint(again->len, ==, epochs->len);
  g_autoptr(GArray) none = tm_probe_file_epochs("/nonexistent", "p");
  g_assert_cmpuint(none->len, ==, 0);
  remove_run(run);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/probe-files/exact", test_exact);
  g_test_add_func("/probe-files/large", test_large);
  g_test_add_func("/probe-files/bounded", test_bounded);
  return g_test_run();
}
