/* run_test.h: what the tests of run folders share. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/run/run_dir.h"

/** A new empty folder; free the path. Removed by rt_remove(). */
static inline char *rt_folder(void) {
  g_autoptr(GError) error = NULL;
  char *path = g_dir_make_tmp("tarmac-test-XXXXXX", &error);
  g_assert_no_error(error);
  return path;
}

static inline void rt_remove(const char *path) {
  g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    g_autofree char *full = g_build_filename(path, name, NULL);
    if (g_file_test(full, G_FILE_TEST_IS_DIR) && !g_file_test(full, G_FILE_TEST_IS_SYMLINK))
      rt_remove(full);
    else
      g_unlink(full);
  }
  g_rmdir(path);
}

/** Entries of a folder. */
static inline guint rt_count(const char *path) {
  guint n = 0;
  g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
  while (d && g_dir_read_name(d)) n++;
  return n;
}

static inline char *rt_read(const char *path, gsize *size) {
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, size, &error);
  g_assert_no_error(error);
  return g_steal_pointer(&text);
}

static inline void rt_write(const char *path, const void *data, gsize size) {
  /* Neither g_file_set_contents() nor cutting the old file: both wait for the disk. */
  g_unlink(path);
  FILE *f = g_fopen(path, "wb");
  g_assert_nonnull(f);
  g_assert_cmpuint(fwrite(data, 1, size, f), ==, size);
  g_assert_cmpint(fclose(f), ==, 0);
}

/** f32, element i is @from + i. */
static inline TmTensor *rt_tensor(TmShape shape, float from) {
  g_autoptr(GError) error = NULL;
  TmTensor *t = tm_tensor_new(TM_F32, shape, &error);
  g_assert_no_error(error);
  for (gsize i = 0; i < tm_shape_count(shape); i++) ((float *)t->data)[i] = from + (float)i;
  return t;
}

/** A checkpoint like a small net's; @mark tells one from another. */
static inline TmCheckpoint *rt_checkpoint(int mark) {
  TmCheckpoint *c = tm_checkpoint_new();
  tm_checkpoint_add(c, "enc.0.0.weight", rt_tensor(TM_SHAPE(4, 3, 3, 3), (float)mark));
  tm_checkpoint_add(c, "enc.0.1.weight", rt_tensor(TM_SHAPE(1, 4, 1, 1), 1));
  tm_checkpoint_add(c, "enc.0.1.running_mean", rt_tensor(TM_SHAPE(1, 4, 1, 1), -1));
  json_object_set_int_member(tm_checkpoint_meta(c), "mark", mark);
  return c;
}

/** The mark of the whole checkpoint at @path; fails the test when it is not whole. */
static inline int rt_mark(const char *path) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
  g_assert_no_error(error);
  const int mark = (int)json_object_get_int_member(tm_checkpoint_meta(c), "mark");
  g_assert_cmpfloat(*(const float *)tm_checkpoint_tensor(c, "enc.0.0.weight")->data, ==, (float)mark);
  return mark;
}

/** A Python with tensorboard, safetensors and numpy: TM_PYTHON, else ./bootstrap's; NULL (and the test
 * skipped) without one. */
static inline char *rt_python(void) {
  const char *chosen = g_getenv("TM_PYTHON"), *source = g_getenv("TM_SOURCE");
  char *path = chosen ? g_strdup(chosen)
                      : g_build_filename(source ? source : ".", ".deps", "venv", "bin", "python", NULL);
  if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE)) return path;
  g_free(path);
  g_test_skip("there is no Python with tensorboard and safetensors: set TM_PYTHON or run ./bootstrap");
  return NULL;
}

/** Runs @argv; fails the test unless it exits 0. What it printed; free it. */
static inline char *rt_run(const char *const *argv) {
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, &error);
  g_assert_no_error(error);
  if (!g_spawn_check_wait_status(status, &error)) g_printerr("%s%s", out, err);
  g_assert_no_error(error);
  return g_steal_pointer(&out);
}
