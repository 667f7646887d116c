/* Names: what people, cameras and systems put in folders. */
#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "tests/data/folders.h"

static void add_pair(Folder *f, const char *image, const char *mask) {
  g_autofree char *i = g_strconcat("images/", image, NULL), *m = g_strconcat("masks/", mask, NULL);
  put_pair(f->dir, i, m, 0, 1);
}

/* Stems are compared whole: train1 has nothing to do with train10; only the last dot is the extension's. */
static void test_exact_stems(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "train1.png", "train1_mask.png");
  add_pair(f, "train10.png", "train10_mask.png");
  add_pair(f, "train11.png", "train11_mask.png");
  put_jpeg(f->dir, "images/a.b.c.jpg", 16, 12);
  put_grey(f->dir, "masks/a.b.c_mask.png", 16, 12, NULL, 0);
  put_picture(f->dir, "images/a.b.png", 16, 12);
  folder_open(f, NULL);
  folder_expect(f, "train1", "train1_mask.png", -1);
  folder_expect(f, "train10", "train10_mask.png", -1);
  folder_expect(f, "train11", "train11_mask.png", -1);
  folder_expect(f, "a.b.c", "a.b.c_mask.png", -1);
  folder_expect(f, "a.b", NULL, -1);
}

static void test_exact_stems_in_one_folder(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "train1.png", "train1_mask.png", 0, 1);
  put_pair(f->dir, "train10.png", "train10_mask.png", 0, 1);
  put_pair(f->dir, "a.b.c.png", "a.b.c_mask.png", 0, 1);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 3);
  folder_expect(f, "train1", "train1_mask.png", -1);
  folder_expect(f, "a.b.c", "a.b.c_mask.png", -1);
}

static void test_folders_in_folders(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "a.png", "a.png");
  const char *const below[] = {"images/x/.", "masks/x/.", "images/b.png/.", "masks/b.png/."};
  for (guint i = 0; i < G_N_ELEMENTS(below); i++) g_free(tmp_path(f->dir, below[i]));
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 1);
  g_assert_true(folder_notes(f, "named like pictures"));
}

static void test_junk(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "1001.png", "1001.png");
  const char *const junk[] = {"Thumbs.db",   ".DS_Store",      "._1001.png", "desktop.ini",
                              ".hidden.png", "__MACOSX/1.png", ".git/x.png"};
  for (guint i = 0; i < G_N_ELEMENTS(junk); i++) {
    g_autofree char *a = g_strconcat("images/", junk[i], NULL), *b = g_strconcat("masks/", junk[i], NULL);
    put_text(f->dir, a, "junk");
    put_text(f->dir, b, "junk");
  }
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 1);
  g_assert_null(tm_dataset_notes(f->d)[1]); /* silence: only the note on the missing validation split */
}

static void test_extension_case(Folder *f, gconstpointer data) {
  (void)data;
  put_jpeg(f->dir, "images/IMG_1.JPG", 16, 12);
  put_jpeg(f->dir, "images/b.JpEg", 16, 12);
  put_grey(f->dir, "masks/IMG_1.PNG", 16, 12, NULL, 0);
  put_grey(f->dir, "masks/b.Png", 16, 12, NULL, 1);
  folder_open(f, NULL);
  folder_expect(f, "IMG_1", "IMG_1.PNG", -1);
  folder_expect(f, "b", "b.Png", -1);
}

static void test_collision(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "A.png", "A.png");
  put_picture(f->dir, "images/A.PNG", 16, 12);
  folder_refuse(f, TM_ERROR_DATA, "A.PNG");
  g_assert_nonnull(strstr(f->error->message, "A.png"));
}

static void test_collision_of_masks(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "A.png", "A.png");
  put_grey(f->dir, "masks/A.PNG", 16, 12, NULL, 0);
  folder_refuse(f, TM_ERROR_DATA, "A.PNG");
}

static void test_collision_in_one_folder(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "A.png", "A_mask.png", 0, 1);
  put_picture(f->dir, "A.PNG", 16, 12);
  folder_refuse(f, TM_ERROR_DATA, "A.PNG");
}

/* Accents composed in one name and not in the other, as file systems and archives make them; CJK; blanks. */
static void test_unicode(Folder *f, gconstpointer data) {
  (void)data;
  g_autofree char *below = g_build_filename(f->dir, "Straße mit ümläut 道路 1", NULL);
  put_pair(below, "images/caf\xc3\xa9.png", "masks/cafe\xcc\x81.png", 0, 1); /* NFC and NFD */
  put_pair(below, "images/\xe9\x81\x93 \xe8\xb7\xaf.png", "masks/\xe9\x81\x93 \xe8\xb7\xaf.png", 0, 1);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 2);
  folder_expect(f, "caf\xc3\xa9", "cafe\xcc\x81.png", -1);
  g_assert_true(folder_notes(f, "accents"));
  for (guint i = 0; i < 2; i++) {
    g_auto(TmSample) s = {0};
    g_assert_true(tm_dataset_read(f->d, i, &s, &f->error));
    g_assert_no_error(f->error);
  }
}

/* Both ways of writing in one folder are two files with two masks. */
static void test_unicode_both(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "caf\xc3\xa9.png", "caf\xc3\xa9.png");
  add_pair(f, "cafe\xcc\x81.png", "cafe\xcc\x81.png");
  folder_open(f, NULL);
  folder_expect(f, "caf\xc3\xa9", "caf\xc3\xa9.png", -1);
  folder_expect(f, "cafe\xcc\x81", "cafe\xcc\x81.png", -1);
}

static void test_not_utf8(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f,
           "stra\xdf"
           "e.png",
           "stra\xdf"
           "e_mask.png");
  folder_open(f, NULL);
  const TmEntry *e = tm_dataset_entry(f->d, 0);
  g_assert_true(g_utf8_validate(e->name, -1, NULL));
  g_assert_nonnull(e->mask);
  g_auto(TmSample) s = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &s, &f->error));
}

static void test_long_name(Folder *f, gconstpointer data) {
  (void)data;
  g_autofree char *letters = g_strnfill(246, 'n'), *name = g_strconcat(letters, ".png", NULL); /* 250 bytes */
  add_pair(f, name, name);
  folder_open(f, NULL);
  g_auto(TmSample) s = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &s, &f->error));
}

static void test_links(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "a.png", "a.png");
  g_autofree char *loop = tmp_path(f->dir, "images/link"), *self = tmp_path(f->dir, "images/self"),
                  *broken = tmp_path(f->dir, "images/b.png");
  g_assert_cmpint(symlink("..", loop), ==, 0);
  g_assert_cmpint(symlink("self", self), ==, 0);
  g_assert_cmpint(symlink("nowhere", broken), ==, 0);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 1);
  g_assert_true(folder_notes(f, "images/b.png"));
}

/* A folder reached by a link and by its own name counts once, under its own name, whichever comes first in
 * the alphabet. */
static void test_linked_folder(Folder *f, gconstpointer data) {
  (void)data;
  add_pair(f, "a.png", "a.png");
  g_autofree char *alias = tmp_path(f->dir, "alias");
  g_assert_cmpint(symlink("images", alias), ==, 0);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 1);
  /* Masks elsewhere, linked in: the usual way to share them. */
  char *elsewhere = tmp_new();
  put_grey(elsewhere, "a.png", 16, 12, NULL, 1);
  g_autofree char *masks = tmp_path(f->dir, "masks"), *inside = tmp_path(f->dir, "masks/a.png");
  g_assert_cmpint(g_remove(inside), ==, 0);
  g_assert_cmpint(g_rmdir(masks), ==, 0);
  g_assert_cmpint(symlink(elsewhere, masks), ==, 0);
  folder_open(f, NULL);
  folder_expect(f, "a", "a.png", -1);
  tmp_remove(elsewhere);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/data/names/exact-stems", test_exact_stems);
  FOLDER_TEST("/data/names/exact-stems-in-one-folder", test_exact_stems_in_one_folder);
  FOLDER_TEST("/data/names/folders-in-folders", test_folders_in_folders);
  FOLDER_TEST("/data/names/junk", test_junk);
  FOLDER_TEST("/data/names/extension-case", test_extension_case);
  FOLDER_TEST("/data/names/collision", test_collision);
  FOLDER_TEST("/data/names/collision-of-masks", test_collision_of_masks);
  FOLDER_TEST("/data/names/collision-in-one-folder", test_collision_in_one_folder);
  FOLDER_TEST("/data/names/unicode", test_unicode);
  FOLDER_TEST("/data/names/unicode-both", test_unicode_both);
  FOLDER_TEST("/data/names/not-utf8", test_not_utf8);
  FOLDER_TEST("/data/names/long", test_long_name);
  FOLDER_TEST("/data/names/links", test_links);
  FOLDER_TEST("/data/names/linked-folder", test_linked_folder);
  return g_test_run();
}
