/* The writers: what they write is read back bit for bit, and a failed write leaves what was there. */
#include <errno.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/random.h"
#include "engine/data/image.h"
#include "engine/data/mask.h"
#include "engine/data/png_write.h"
#include "tests/data/pictures.h"

static guint files_in(const char *dir) {
  GDir *d = g_dir_open(dir, 0, NULL);
  guint n = 0;
  while (g_dir_read_name(d)) n++;
  g_dir_close(d);
  return n;
}

static void test_index(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "a.png");
  guint8 labels[31 * 3];
  for (guint i = 0; i < sizeof labels; i++) labels[i] = (guint8)(i % 11);
  const guint32 palette[11] = {0xff0000, 0x00ff00, 0x0000ff};
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_png_write_index(path, labels, 31, 3, palette, 11, &e));
  g_assert_no_error(e);
  g_auto(TmMask) m = {0};
  g_assert_true(tm_mask_read(path, &m, &e));
  g_assert_cmpint(m.kind, ==, TM_MASK_PALETTE);
  g_assert_cmpmem(m.px, sizeof labels, labels, sizeof labels);
  g_assert_cmpuint(m.n_palette, ==, 11);
  g_assert_cmphex(m.palette[1], ==, 0x00ff00);
  g_assert_cmpuint(files_in(dir), ==, 1);
  tmp_remove(dir);
}

/* 0/1 predictions are visible, and values beyond the palette are written as they are. */
static void test_values_beyond_palette(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "a.png");
  const guint8 labels[4] = {0, 1, 200, 255};
  g_assert_true(tm_png_write_index(path, labels, 2, 2, (const guint32[]){0, 0xffffff}, 2, NULL));
  g_auto(TmMask) m = {0};
  g_assert_true(tm_mask_read(path, &m, NULL));
  g_assert_cmpmem(m.px, 4, labels, 4);
  g_auto(TmPicture) p = {0};
  g_assert_true(tm_image_read_picture(path, NULL, &p, NULL));
  g_assert_cmpint(p.rgb[3], ==, 255); /* class 1 is white, not 1 of 255 */
  tmp_remove(dir);
}

static void test_grey16(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "a.png");
  const guint16 values[6] = {0, 1, 255, 256, 40000, 65535};
  g_assert_true(tm_png_write_grey16(path, values, 3, 2, NULL));
  g_auto(TmMask) m = {0};
  g_assert_true(tm_mask_read(path, &m, NULL));
  for (guint i = 0; i < 6; i++) g_assert_cmpint(tm_mask_value(&m, i, FALSE), ==, values[i]);
  tmp_remove(dir);
}

static void test_rgb(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "a.png");
  guint8 rgb[7 * 5 * 3];
  for (guint i = 0; i < sizeof rgb; i++) rgb[i] = (guint8)(i * 37);
  g_assert_true(tm_png_write_rgb(path, rgb, 7, 5, NULL));
  g_auto(TmPicture) p = {0};
  g_assert_true(tm_image_read_picture(path, NULL, &p, NULL));
  g_assert_cmpmem(p.rgb, sizeof rgb, rgb, sizeof rgb);
  tmp_remove(dir);
}

static void test_replaces(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "a.png");
  put_text(dir, "a.png", "old");
  g_assert_true(tm_png_write_rgb(path, (const guint8[]){1, 2, 3}, 1, 1, NULL));
  g_auto(TmPicture) p = {0};
  g_assert_true(tm_image_read_picture(path, NULL, &p, NULL));
  g_assert_cmpuint(files_in(dir), ==, 1);
  tmp_remove(dir);
}

static void test_failures_are_named(void) {
  char *dir = tmp_new();
  g_autofree char *nowhere = g_build_filename(dir, "no", "such", "a.png", NULL);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_png_write_rgb(nowhere, (const guint8[]){1, 2, 3}, 1, 1, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(e->message, "a.png"));
  g_clear_error(&e);
  g_autofree char *letters = g_strnfill(252, 'x'), *name = g_strconcat(letters, ".png", NULL),
                  *path = g_build_filename(dir, name, NULL);
  g_assert_false(tm_png_write_rgb(path, (const guint8[]){1, 2, 3}, 1, 1, &e)); /* 256 bytes */
  g_assert_error(e, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(e->message, "longer"));
  g_clear_error(&e);
  g_assert_cmpuint(files_in(dir), ==, 0); /* no temporary file is left */
  path[strlen(path) - 5] = 0;
  g_assert_false(tm_png_write_rgb(path, NULL, 0, 1, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SHAPE);
  g_clear_error(&e);
  g_autofree char *fits = g_strnfill(255, 'y'), *longest = g_build_filename(dir, fits, NULL);
  g_assert_true(tm_png_write_rgb(longest, (const guint8[]){1, 2, 3}, 1, 1, &e)); /* 255 bytes are a name */
  tmp_remove(dir);
}

/* In a child with a file system of 64 kB of its own: 0 as it should be, 77 where that is not allowed. */
static int fill_disk(const char *dir) {
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", dir, "tmpfs", 0, "size=64k") != 0)
    return 77;
  g_autofree char *path = g_build_filename(dir, "a.png", NULL);
  enum { SIDE = 300 };
  g_autofree guint8 *rgb = g_malloc(SIDE * SIDE * 3);
  TmRandom r;
  tm_random_seed(&r, 1);
  for (guint i = 0; i < SIDE * SIDE * 3; i++) rgb[i] = (guint8)tm_random_next(&r);
  if (!tm_png_write_rgb(path, rgb, 2, 2, NULL)) return 1;
  GError *e = NULL;
  if (tm_png_write_rgb(path, rgb, SIDE, SIDE, &e)) return 2;
  if (!g_error_matches(e, TM_ERROR, TM_ERROR_NO_SPACE) || !strstr(e->message, "a.png")) return 3;
  g_auto(TmPicture) p = {0};
  if (!tm_image_read_picture(path, NULL, &p, NULL) || p.w != 2) return 4; /* the old file is whole */
  return files_in(dir) == 1 ? 0 : 5;
}

static void test_disk_full(void) {
  char *dir = tmp_new();
  const pid_t pid = fork();
  g_assert_cmpint(pid, >=, 0);
  if (pid == 0) _exit(fill_disk(dir));
  int status = 0;
  g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
  g_assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77)
    g_test_skip("a small file system can only be mounted as root");
  else
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
  tmp_remove(dir);
}

static gpointer write_many(gpointer dir) {
  g_autofree char *path = tmp_path(dir, "shared.png");
  guint8 labels[40 * 40];
  memset(labels, GPOINTER_TO_INT(g_thread_self()) & 7, sizeof labels);
  for (int k = 0; k < 50; k++) {
    g_assert_true(tm_png_write_index(path, labels, 40, 40, (const guint32[]){1}, 1, NULL));
    g_auto(TmMask) m = {0};
    g_assert_true(tm_mask_read(path, &m, NULL)); /* never half of one */
  }
  return NULL;
}

static void test_atomic(void) {
  char *dir = tmp_new();
  GThread *t[4];
  for (int k = 0; k < 4; k++) t[k] = g_thread_new("write", write_many, dir);
  for (int k = 0; k < 4; k++) g_thread_join(t[k]);
  g_assert_cmpuint(files_in(dir), ==, 1);
  tmp_remove(dir);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/data/png-write/index", test_index);
  g_test_add_func("/data/png-write/values-beyond-palette", test_values_beyond_palette);
  g_test_add_func("/data/png-write/grey16", test_grey16);
  g_test_add_func("/data/png-write/rgb", test_rgb);
  g_test_add_func("/data/png-write/replaces", test_replaces);
  g_test_add_func("/data/png-write/failures-are-named", test_failures_are_named);
  g_test_add_func("/data/png-write/disk-full", test_disk_full);
  g_test_add_func("/data/png-write/atomic", test_atomic);
  return g_test_run();
}
