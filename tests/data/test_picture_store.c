/* Decoded pictures on disk: what is kept comes back bit for bit, what is wrong is never used, the folder
 * stays within its bound, and nothing that goes wrong with it stops a run. */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/core/crc32c.h"
#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "engine/data/picture_key.h"
#include "engine/data/picture_store.h"
#include "engine/data/sample_cache.h"
#include "tests/data/pictures.h"

enum { W = 20, H = 12, PIXELS = W * H, PLENTY = 1 << 24 };

typedef struct {
  char *dir;
} Case;

static void set_up(Case *c, gconstpointer data) {
  (void)data;
  c->dir = tmp_new();
}

static void tear_down(Case *c, gconstpointer data) {
  (void)data;
  tmp_remove(c->dir);
}

static TmSample picture(guint8 seed, gboolean labels) {
  TmSample s = {.w = W, .h = H, .rgb = g_malloc(PIXELS * 3), .labels = labels ? g_malloc(PIXELS) : NULL};
  for (int i = 0; i < PIXELS * 3; i++) s.rgb[i] = (guint8)(i * 7 + seed);
  for (int i = 0; labels && i < PIXELS; i++) s.labels[i] = (guint8)((i + seed) % 5);
  return s;
}

static void same(const TmSample *a, const TmSample *b) {
  g_assert_cmpint(a->w, ==, b->w);
  g_assert_cmpint(a->h, ==, b->h);
  g_assert_cmpmem(a->rgb, PIXELS * 3, b->rgb, PIXELS * 3);
  g_assert_cmpint(a->labels != NULL, ==, b->labels != NULL);
  if (a->labels) g_assert_cmpmem(a->labels, PIXELS, b->labels, PIXELS);
}

static gboolean has(TmPictureStore *s, const char *key) {
  TmStoredPicture p;
  const gboolean there = tm_picture_store_get(s, key, &p);
  tm_stored_picture_clear(&p);
  return there;
}

static void put(TmPictureStore *s, const char *key, guint8 seed) {
  g_auto(TmSample) in = picture(seed, TRUE);
  tm_picture_store_put(s, key, &in);
}

/* The only file of pixels in the folder; NULL when there is none. Free it. */
static char *only_file(const char *dir) {
  g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
  char *path = NULL;
  for (const char *name; (name = g_dir_read_name(d));) {
    if (!g_str_has_suffix(name, ".pixels")) continue;
    g_assert_null(path);
    path = g_build_filename(dir, name, NULL);
  }
  return path;
}

static void set_time(const char *path, gint64 seconds) {
  const struct timespec t[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
  g_assert_cmpint(utimensat(AT_FDCWD, path, t, 0), ==, 0);
}

static void test_round_trip(Case *c, gconstpointer data) {
  (void)data;
  g_auto(TmSample) whole = picture(1, TRUE), bare = picture(2, FALSE);
  g_autofree char *deep = g_build_filename(c->dir, "a", "b", NULL);
  {
    g_autoptr(TmPictureStore) s = tm_picture_store_new(deep, PLENTY);
    g_assert_false(has(s, "one"));
    tm_picture_store_put(s, "one", &whole);
    tm_picture_store_put(s, "two", &bare);
    g_assert_cmpuint(tm_picture_store_used(s), >, PIXELS * 7);
    g_assert_null(tm_picture_store_note(s));
  }
  g_autoptr(TmPictureStore) s = tm_picture_store_new(deep, PLENTY);
  TmStoredPicture p;
  g_assert_true(tm_picture_store_get(s, "one", &p));
  same(&p.sample, &whole);
  tm_stored_picture_clear(&p);
  g_assert_true(tm_picture_store_get(s, "two", &p));
  same(&p.sample, &bare);
  tm_stored_picture_clear(&p);
  g_assert_false(has(s, "on"));
  g_assert_false(has(s, "one "));
}

/* ---- what cannot be believed ---- */

static void refused_and_rewritten(TmPictureStore *s, const char *path, const char *key) {
  g_assert_false(has(s, key));
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  put(s, key, 1);
  g_assert_true(has(s, key));
}

static void write_file(const char *path, const char *bytes, gsize n) {
  g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
}

static void test_hostile(Case *c, gconstpointer data) {
  (void)data;
  g_autoptr(TmPictureStore) s = tm_picture_store_new(c->dir, PLENTY);
  put(s, "key", 1);
  g_autofree char *path = only_file(c->dir), *good = NULL;
  gsize n = 0;
  g_assert_true(g_file_get_contents(path, &good, &n, NULL));
  g_autofree char *bad = g_malloc(n + 1);
  for (gsize at = 0; at < n; at += at < 64 ? 1 : 97) { /* one wrong bit */
    memcpy(bad, good, n);
    bad[at] ^= 16;
    write_file(path, bad, n);
    refused_and_rewritten(s, path, "key");
  }
  const gsize lengths[] = {0, 1, 7, 39, 40, 43, n / 2, n - 1};
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    write_file(path, good, lengths[i]);
    refused_and_rewritten(s, path, "key");
  }
  memcpy(bad, good, n);
  bad[n] = 0;
  write_file(path, bad, n + 1);
  refused_and_rewritten(s, path, "key");
}

/* A sound checksum is not enough: sizes that promise more than there is, and another picture's file. */
static void test_forged(Case *c, gconstpointer data) {
  (void)data;
  g_autoptr(TmPictureStore) s = tm_picture_store_new(c->dir, PLENTY);
  put(s, "key", 1);
  g_autofree char *path = only_file(c->dir), *good = NULL;
  gsize n = 0;
  g_assert_true(g_file_get_contents(path, &good, &n, NULL));
  static const guint32 sizes[][2] = {{0, 12}, {W, 0}, {W, H + 1}, {0xffffffff, 0xffffffff}, {65536, 65536}};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree char *bad = g_memdup2(good, n);
    memcpy(bad + 24, sizes[i], 8);
    const guint32 crc = tm_crc32c(bad + 20, n - 20);
    memcpy(bad + 16, &crc, 4);
    write_file(path, bad, n);
    refused_and_rewritten(s, path, "key");
  }
  g_autofree char *bad = g_memdup2(good, n);
  memcpy(bad + 40, "yek", 3);
  const guint32 crc = tm_crc32c(bad + 20, n - 20);
  memcpy(bad + 16, &crc, 4);
  write_file(path, bad, n);
  refused_and_rewritten(s, path, "key");
}

/* Neither a link nor a pipe nor a folder in a file's place is followed, waited on or harmful. */
static void test_no_file(Case *c, gconstpointer data) {
  (void)data;
  g_autoptr(TmPictureStore) s = tm_picture_store_new(c->dir, PLENTY);
  put(s, "key", 1);
  g_autofree char *path = only_file(c->dir), *elsewhere = g_build_filename(c->dir, "elsewhere", NULL);
  g_assert_cmpint(g_rename(path, elsewhere), ==, 0);
  g_assert_cmpint(symlink(elsewhere, path), ==, 0);
  g_assert_false(has(s, "key"));
  put(s, "key", 1);
  g_assert_true(has(s, "key"));
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_cmpint(mkfifo(path, 0600), ==, 0);
  refused_and_rewritten(s, path, "key");
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
  g_assert_false(has(s, "key"));
  put(s, "key", 1); /* cannot take the folder's place */
  g_assert_false(has(s, "key"));
  g_autofree char *note = tm_picture_store_note(s);
  g_assert_nonnull(note);
}

/* ---- how much ---- */

static guint64 one_size(const char *dir) {
  g_autofree char *sub = g_build_filename(dir, "size", NULL);
  g_autoptr(TmPictureStore) s = tm_picture_store_new(sub, PLENTY);
  put(s, "0", 0);
  return tm_picture_store_used(s);
}

static void test_bound(Case *c, gconstpointer data) {
  (void)data;
  const guint64 one = one_size(c->dir);
  g_autofree char *dir = g_build_filename(c->dir, "cache", NULL);
  static const char *const keys[] = {"0", "1", "2", "3"};
  for (guint i = 0; i < 3; i++) { /* one after the other, long ago */
    g_autoptr(TmPictureStore) s = tm_picture_store_new(c->dir, PLENTY);
    put(s, keys[i], (guint8)i);
    g_autofree char *path = only_file(c->dir);
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *to = g_build_filename(dir, name, NULL);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
    g_assert_cmpint(g_rename(path, to), ==, 0);
    set_time(to, 1000000 + (gint64)i);
  }
  g_autoptr(TmPictureStore) s = tm_picture_store_new(dir, 3 * one + one / 2);
  g_assert_cmpuint(tm_picture_store_used(s), ==, 3 * one);
  g_assert_true(has(s, "0")); /* used now, so that "1" is what was unused longest */
  put(s, "3", 3);
  g_assert_true(has(s, "0"));
  g_assert_false(has(s, "1"));
  g_assert_true(has(s, "2"));
  g_assert_true(has(s, "3"));
  g_assert_cmpuint(tm_picture_store_used(s), ==, 3 * one);
  put(s, "4", 4); /* all were used in this run: nothing goes, nothing comes */
  g_assert_false(has(s, "4"));
  for (guint i = 0; i < 4; i++) g_assert_cmpint(has(s, keys[i]), ==, i != 1);
  g_assert_null(tm_picture_store_note(s));
}

/* ---- where nothing can be written ---- */

static void test_no_folder(Case *c, gconstpointer data) {
  (void)data;
  put_text(c->dir, "file", "in the way");
  g_autofree char *dir = g_build_filename(c->dir, "file", "cache", NULL);
  g_autoptr(TmPictureStore) s = tm_picture_store_new(dir, PLENTY);
  put(s, "key", 1);
  g_assert_false(has(s, "key"));
  g_autofree char *note = tm_picture_store_note(s), *again = NULL;
  g_assert_nonnull(strstr(note, dir));
  put(s, "key", 1);
  again = tm_picture_store_note(s);
  g_assert_null(again);
}

static void test_disk_full(Case *c, gconstpointer data) {
  (void)data;
  g_autoptr(TmPictureStore) s = tm_picture_store_new(c->dir, PLENTY);
  put(s, "before", 1);
  struct rlimit old, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
  small = old;
  small.rlim_cur = 100;
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  put(s, "key", 1);
  put(s, "key", 1);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &old), ==, 0);
  g_assert_false(has(s, "key"));
  g_assert_true(has(s, "before"));
  g_autofree char *note = tm_picture_store_note(s), *again = tm_picture_store_note(s),
                  *path = only_file(c->dir);
  g_assert_nonnull(note);
  g_assert_null(again);
  g_assert_nonnull(path); /* nothing half written stays */
}

/* ---- many at once ---- */

typedef struct {
  const char *dir;
  guint good;
} Worker;

static gpointer work(gpointer user) {
  Worker *w = user;
  g_autoptr(TmPictureStore) s = tm_picture_store_new(w->dir, PLENTY);
  for (guint round = 0; round < 60; round++) {
    const guint8 k = (guint8)(round % 6);
    g_autofree char *key = g_strdup_printf("%u", k);
    g_auto(TmSample) in = picture(k, TRUE);
    TmStoredPicture p;
    if (tm_picture_store_get(s, key, &p)) {
      same(&p.sample, &in);
      w->good++;
    }
    if (round % 3 == 0) tm_picture_store_put(s, key, &in);
    tm_stored_picture_clear(&p);
  }
  return NULL;
}

static void test_many(Case *c, gconstpointer data) {
  (void)data;
  Worker w[4];
  GThread *t[4];
  for (guint i = 0; i < 4; i++) {
    w[i] = (Worker){.dir = c->dir};
    t[i] = g_thread_new("store", work, &w[i]);
  }
  for (guint i = 0; i < 4; i++) {
    g_thread_join(t[i]);
    g_assert_cmpuint(w[i].good, >, 0);
  }
}

/* ---- keys ---- */

static void expect_key(const TmEntry *e, const char *classes, const char *other) {
  g_autofree char *key = tm_picture_key(e, classes);
  g_assert_nonnull(key);
  g_assert_cmpstr(key, !=, other);
}

static void test_key(Case *c, gconstpointer data) {
  (void)data;
  put_picture(c->dir, "a.png", 8, 8);
  put_grey(c->dir, "m.png", 8, 8, NULL, 1);
  g_autofree char *image = tmp_path(c->dir, "a.png"), *mask = tmp_path(c->dir, "m.png");
  TmEntry e = {.image = image, .mask = mask};
  g_autofree char *fresh = tm_picture_key(&e, "x");
  g_assert_null(fresh);
  set_time(image, 1000000);
  set_time(mask, 1000000);
  g_autofree char *key = tm_picture_key(&e, "x"), *again = tm_picture_key(&e, "x");
  g_assert_nonnull(key);
  g_assert_cmpstr(key, ==, again);
  expect_key(&e, "y", key);
  set_time(mask, 1000001);
  expect_key(&e, "x", key);
  e.mask = NULL;
  expect_key(&e, "x", key);
  e.image = mask;
  expect_key(&e, "x", key);
  put_picture(c->dir, "a.png", 9, 8);
  set_time(image, 1000000);
  set_time(mask, 1000000);
  e = (TmEntry){.image = image, .mask = mask};
  expect_key(&e, "x", key);
  g_assert_cmpint(g_unlink(image), ==, 0);
  g_autofree char *gone = tm_picture_key(&e, "x");
  g_assert_null(gone);
  e.image = NULL;
  g_assert_null(tm_picture_key(&e, "x"));
}

static void test_classes(void) {
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  g_autofree char *first = tm_picture_key_classes(t);
  t->classes[3].value++;
  g_autofree char *second = tm_picture_key_classes(t);
  g_assert_cmpstr(first, !=, second);
  t->classes[3].value--;
  tm_class_table_add_void(t, 77);
  g_autofree char *third = tm_picture_key_classes(t);
  g_assert_cmpstr(first, !=, third);
}

/* ---- a loader's batches ---- */

static TmDataset *folder(const char *dir, guint n) {
  for (guint i = 0; i < n; i++) {
    g_autofree char *image = g_strdup_printf("images/p%u.png", i),
                    *mask = g_strdup_printf("masks/p%u.png", i), *image_path = tmp_path(dir, image),
                    *mask_path = tmp_path(dir, mask);
    guint8 values[40 * 32];
    for (guint k = 0; k < sizeof values; k++) values[k] = (guint8)((k / 40 + i) % 3);
    put_picture(dir, image, 40, 32);
    put_grey(dir, mask, 40, 32, values, 0);
    set_time(image_path, 1000000 + (gint64)i);
    set_time(mask_path, 1000000 + (gint64)i);
  }
  const TmDatasetOptions o = {.val_fraction = 0};
  g_autoptr(GError) e = NULL;
  TmDataset *d = tm_dataset_open(dir, &o, &e);
  g_assert_no_error(e);
  return d;
}

/* The bytes of two epochs. */
static GByteArray *batches(TmDataset *d, TmPictureStore *store) {
  const TmLoaderOptions o = {.split = TM_SPLIT_TRAIN,
                             .batch = 2,
                             .shuffle = TRUE,
                             .seed = 3,
                             .threads = 2,
                             .store = store,
                             .augment = {.scale_min = 0.8f,
                                         .scale_max = 1.4f,
                                         .flip = 0.5f,
                                         .rotate = 4,
                                         .brightness = 0.2f,
                                         .crop_w = 24,
                                         .crop_h = 16}};
  g_autoptr(GError) e = NULL;
  g_autoptr(TmLoader) l = tm_loader_new(d, &o, 0, 0, &e);
  g_assert_no_error(e);
  GByteArray *all = g_byte_array_new();
  for (guint i = 0; i < 2 * tm_loader_steps(l); i++) {
    const TmBatch *b = tm_loader_next(l, &e);
    g_assert_no_error(e);
    g_assert_cmpuint(b->replaced, ==, 0);
    g_byte_array_append(all, b->pixels, (guint)(b->n * b->w * b->h * 3));
    g_byte_array_append(all, b->labels, (guint)(b->n * b->w * b->h));
  }
  return all;
}

/* Overwrites every file with as many zeros, and sets its time back: what can still be had is what was kept.
 */
static void blank(TmDataset *d) {
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    const TmEntry *e = tm_dataset_entry(d, i);
    const char *paths[] = {e->image, e->mask};
    for (guint k = 0; k < 2; k++) {
      struct stat st;
      g_assert_cmpint(stat(paths[k], &st), ==, 0);
      g_autofree char *zeros = g_malloc0((gsize)st.st_size);
      write_file(paths[k], zeros, (gsize)st.st_size);
      set_time(paths[k], st.st_mtim.tv_sec);
    }
  }
}

static void test_loader(Case *c, gconstpointer data) {
  (void)data;
  g_autofree char *pictures = g_build_filename(c->dir, "pictures", NULL),
                  *cache = g_build_filename(c->dir, "cache", NULL);
  g_autoptr(TmDataset) d = folder(pictures, 6);
  g_autoptr(GByteArray) without = batches(d, NULL);
  for (guint run = 0; run < 3; run++) {
    g_autoptr(TmPictureStore) s = tm_picture_store_new(cache, PLENTY);
    g_autoptr(GByteArray) with = batches(d, s);
    g_assert_cmpmem(with->data, with->len, without->data, without->len);
    if (run == 1) blank(d);
  }
}

/* Without room in memory a picture is handed out as a copy, decoded or from the disk. */
static void test_cache(Case *c, gconstpointer data) {
  (void)data;
  g_autofree char *pictures = g_build_filename(c->dir, "pictures", NULL),
                  *cache = g_build_filename(c->dir, "cache", NULL);
  g_autoptr(TmDataset) d = folder(pictures, 2);
  g_autoptr(TmPictureStore) s = tm_picture_store_new(cache, PLENTY);
  for (guint run = 0; run < 2; run++) {
    g_autoptr(TmSampleCache) k = tm_sample_cache_new(d, 1, s);
    g_auto(TmSample) own = {0};
    g_autoptr(GError) e = NULL;
    double seconds = 0;
    const TmSample *p = tm_sample_cache_get(k, 0, &own, &seconds, &e);
    g_assert_no_error(e);
    g_assert_true(p == &own);
    g_assert_cmpint(p->w, ==, 40);
    if (run == 0) blank(d);
  }
}

#define ADD(name, test) g_test_add("/picture-store/" name, Case, NULL, set_up, test, tear_down)

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("round-trip", test_round_trip);
  ADD("hostile", test_hostile);
  ADD("forged", test_forged);
  ADD("no-file", test_no_file);
  ADD("bound", test_bound);
  ADD("no-folder", test_no_folder);
  ADD("disk-full", test_disk_full);
  ADD("many", test_many);
  ADD("key", test_key);
  g_test_add_func("/picture-store/classes", test_classes);
  ADD("loader", test_loader);
  ADD("cache", test_cache);
  return g_test_run();
}
