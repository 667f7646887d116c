/* folders.h: what the tests of layouts and scans ask of a dataset. Header only. */
#pragma once

#include <string.h>

#include "engine/data/dataset.h"
#include "tests/data/pictures.h"

typedef struct {
  char *dir;
  TmDataset *d;
  GError *error;
} Folder;

static inline void folder_set_up(Folder *f, gconstpointer data) {
  (void)data;
  *f = (Folder){.dir = tmp_new()};
}

static inline void folder_tear_down(Folder *f, gconstpointer data) {
  (void)data;
  g_clear_pointer(&f->d, tm_dataset_unref);
  g_clear_error(&f->error);
  tmp_remove(f->dir);
}

/* Opens the folder; fails the test with the error's sentence. */
static inline void folder_open(Folder *f, const TmDatasetOptions *o) {
  g_clear_pointer(&f->d, tm_dataset_unref);
  f->d = tm_dataset_open(f->dir, o, &f->error);
  g_assert_no_error(f->error);
  g_assert_nonnull(f->d);
}

/* Opening fails with @code and a sentence that holds @words. */
static inline void folder_refuse(Folder *f, int code, const char *words) {
  g_assert_null(tm_dataset_open(f->dir, NULL, &f->error));
  g_assert_error(f->error, TM_ERROR, code);
  if (!strstr(f->error->message, words)) g_error("“%s” does not say “%s”", f->error->message, words);
}

static inline const TmEntry *folder_entry(const Folder *f, const char *name) {
  for (guint i = 0; i < tm_dataset_n(f->d); i++)
    if (strcmp(tm_dataset_entry(f->d, i)->name, name) == 0) return tm_dataset_entry(f->d, i);
  return NULL;
}

/* The entry @name has the mask file @mask (its base name; NULL: none) and, unless -1, lies in @split. */
static inline void folder_expect(const Folder *f, const char *name, const char *mask, int split) {
  const TmEntry *e = folder_entry(f, name);
  if (!e) g_error("there is no entry “%s”", name);
  g_autofree char *base = e->mask ? g_path_get_basename(e->mask) : NULL;
  g_assert_cmpstr(base, ==, mask);
  if (split >= 0) g_assert_cmpint(e->split, ==, split);
}

static inline gboolean folder_notes(const Folder *f, const char *words) {
  const char *const *notes = tm_dataset_notes(f->d);
  for (guint i = 0; notes[i]; i++)
    if (strstr(notes[i], words)) return TRUE;
  return FALSE;
}

/* A picture of 16 x 12 and its mask, left half @a, right half @b. */
static inline void put_pair(const char *dir, const char *image, const char *mask, guint8 a, guint8 b) {
  guint8 px[16 * 12];
  for (guint i = 0; i < sizeof px; i++) px[i] = i % 16 < 8 ? a : b;
  put_picture(dir, image, 16, 12);
  put_grey(dir, mask, 16, 12, px, 0);
}

#define FOLDER_TEST(path, fn) g_test_add(path, Folder, NULL, folder_set_up, fn, folder_tear_down)
