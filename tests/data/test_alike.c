/* Pictures that look alike: a picture and its neighbour of the same video are found whatever their split,
 * other scenes are not. */
#include <math.h>

#include "engine/data/scan_issues.h"
#include "tests/data/folders.h"

enum { W = 160, H = 120 };

/* A scene of blocks, seen @shift pixels to the side and @light brighter. */
static void put_scene(Folder *f, const char *folder, const char *name, guint32 seed, int shift, int light) {
  g_autofree guint8 *rgb = g_malloc((gsize)W * H * 3);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      const guint32 block = (guint32)((x + shift) / 20 * 7 + y / 15 * 131) + seed * 977;
      const int v = (int)(block * 2654435761u >> 24) / 2 + light;
      for (int c = 0; c < 3; c++) rgb[(y * W + x) * 3 + c] = (guint8)CLAMP(v, 0, 255);
    }
  g_autofree char *image = g_strdup_printf("%s/images/%s.png", folder, name),
                  *mask = g_strdup_printf("%s/masks/%s.png", folder, name);
  put_rgb(f->dir, image, W, H, rgb, 0);
  put_grey(f->dir, mask, W, H, NULL, 0);
}

static guint find(const TmDataset *d, const char *name) {
  for (guint i = 0; i < tm_dataset_n(d); i++)
    if (strcmp(tm_dataset_entry(d, i)->name, name) == 0) return i;
  g_error("there is no “%s”", name);
}

static void open_scenes(Folder *f) {
  for (guint i = 0; i < 8; i++) {
    g_autofree char *name = g_strdup_printf("t%u_1", i);
    put_scene(f, "train", name, i, 0, 20);
  }
  put_scene(f, "train", "t0_2", 0, 2, 25);
  put_scene(f, "val", "near_3", 3, 2, 40);
  put_scene(f, "val", "own_9", 9, 0, 20);
  put_scene(f, "val", "own_10", 10, 0, 20);
  folder_open(f, NULL);
}

static void test_find(Folder *f, gconstpointer data) {
  (void)data;
  open_scenes(f);
  g_autoptr(TmScan) s = tm_scan_run(f->d, 2, NULL, NULL, &f->error);
  g_assert_no_error(f->error);
  g_autoptr(TmAlikeness) a = tm_alike_find(s, f->d, NULL);
  const guint near = find(f->d, "near_3"), its = find(f->d, "t3_1"), own = find(f->d, "own_9"),
              t0 = find(f->d, "t0_1");
  g_assert_cmpuint(a->across[near].other, ==, its);
  g_assert_cmpuint(a->across[its].other, ==, near);
  g_assert_cmpfloat(a->across[near].alike, >, 0.92f);
  g_assert_cmpfloat(a->across[near].alike, <=, 1.0001f);
  g_assert_cmpuint(a->any[t0].other, ==, find(f->d, "t0_2")); /* within a split, too */
  g_assert_cmpuint(a->across[t0].other, ==, G_MAXUINT);
  g_assert_cmpuint(a->any[own].other, ==, G_MAXUINT);
  g_assert_cmpuint(a->n_across, ==, 1);
}

/* Left out is out of the comparison; the split by drive ends the leak. */
static void test_leak(Folder *f, gconstpointer data) {
  (void)data;
  open_scenes(f);
  g_autoptr(TmScan) s = tm_scan_run(f->d, 2, NULL, NULL, &f->error);
  g_autoptr(TmAlikeness) a = tm_alike_find(s, f->d, NULL);
  g_autoptr(GPtrArray) issues = tm_scan_issues(s, f->d, a);
  const TmIssue *leak = NULL;
  for (guint i = 0; i < issues->len; i++)
    if (((TmIssue *)issues->pdata[i])->fix == TM_FIX_BY_SEQUENCE) leak = issues->pdata[i];
  g_assert_nonnull(leak);
  g_assert_cmpuint(leak->entries->len, ==, 1);
  g_assert_nonnull(strstr(leak->told->pdata[0], "t3_1"));
  g_autoptr(TmAmend) amend = tm_amend_new(NULL);
  g_autofree char *key = tm_dataset_key(f->d, find(f->d, "near_3"));
  tm_amend_leave_out(amend, key, TRUE);
  g_autoptr(TmDataset) d = tm_amend_apply(amend, f->d);
  g_autoptr(TmScan) after = tm_scan_again(s, f->d, d, 1, NULL, NULL, &f->error);
  g_autoptr(TmAlikeness) none = tm_alike_find(after, d, NULL);
  g_assert_cmpuint(none->n_across, ==, 0);
}

/* Flat pictures correlate with nothing: two black frames are no neighbours, and nothing is divided by zero.
 */
static void test_flat(Folder *f, gconstpointer data) {
  (void)data;
  for (int i = 0; i < 2; i++) {
    g_autofree char *image = g_strdup_printf("images/%d.png", i), *mask = g_strdup_printf("masks/%d.png", i);
    put_rgb(f->dir, image, 3, 2, NULL, 0); /* smaller than the grid it is seen in */
    put_grey(f->dir, mask, 3, 2, NULL, 0);
  }
  folder_open(f, NULL);
  g_autoptr(TmScan) s = tm_scan_run(f->d, 1, NULL, NULL, &f->error);
  g_autoptr(TmAlikeness) a = tm_alike_find(s, f->d, NULL);
  g_assert_cmpuint(a->any[0].other, ==, G_MAXUINT);
  const gint cancel = 1;
  g_assert_null(tm_alike_find(s, f->d, &cancel));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/alike/find", test_find);
  FOLDER_TEST("/alike/leak", test_leak);
  FOLDER_TEST("/alike/flat", test_flat);
  return g_test_run();
}
