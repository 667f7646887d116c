/* fake_root.h: a folder that stands for the machine, with files of /proc and /sys in it. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

typedef struct {
  char *root;
} FakeRoot;

static inline void fake_root_put(const FakeRoot *r, const char *path, const char *text) {
  g_autofree char *full = g_strconcat(r->root, path, NULL), *dir = g_path_get_dirname(full);
  g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
  g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static inline void fake_root_set_up(FakeRoot *r, gconstpointer data) {
  (void)data;
  r->root = g_dir_make_tmp("tarmac-root-XXXXXX", NULL);
  g_assert_nonnull(r->root);
}

static inline void fake_root_remove(const char *dir) {
  GDir *d = g_dir_open(dir, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    g_autofree char *path = g_build_filename(dir, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      fake_root_remove(path);
    else
      g_unlink(path);
  }
  if (d) g_dir_close(d);
  g_rmdir(dir);
}

static inline void fake_root_tear_down(FakeRoot *r, gconstpointer data) {
  (void)data;
  fake_root_remove(r->root);
  g_free(r->root);
}

#define FAKE_ROOT_TEST(path, test)                                                                           \
  g_test_add(path, FakeRoot, NULL, fake_root_set_up, test, fake_root_tear_down)
