#include "engine/data/picture_key.h"

#include <stdio.h>

#include <jpeglib.h>
#include <png.h>
#include <sys/stat.h>
#include <time.h>

/* Goes up whenever the same files would be decoded to other bytes. */
enum { DECODING = 1 };

/* Seconds after which a file's time tells a change apart. Two writes within one tick of the clock, which some
 * file systems let take two seconds, have the same. */
enum { SETTLED = 2 };

char *tm_picture_key_classes(const TmClassTable *t) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%d %u", t->code, t->n);
  for (guint i = 0; i < t->n; i++) g_string_append_printf(text, " %d", t->classes[i].value);
  for (guint i = 0; i < t->n_also; i++)
    g_string_append_printf(text, " also %d %d", t->also[i].value, t->also[i].index);
  g_string_append(text, " void");
  for (guint i = 0; i < t->n_void; i++) g_string_append_printf(text, " %d", t->void_values[i]);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
}

static gboolean add_file(GString *key, const char *path) {
  if (!path) {
    g_string_append(key, "-\n");
    return TRUE;
  }
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return FALSE;
  const gint64 age = (gint64)time(NULL) - st.st_mtim.tv_sec;
  if (age >= 0 && age < SETTLED) return FALSE;
  g_string_append_printf(key, "%s\n%" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld\n", path,
                         (gint64)st.st_size, (gint64)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
  return TRUE;
}

char *tm_picture_key(const TmEntry *e, const char *classes) {
  if (!e || !e->image) return NULL;
  GString *key = g_string_new(NULL);
  g_string_append_printf(key, "tarmac %s decoding %d png %s jpeg %d\nclasses %s\n", TM_VERSION, DECODING,
                         png_get_libpng_ver(NULL), JPEG_LIB_VERSION, classes);
  const gboolean whole = add_file(key, e->image) && add_file(key, e->mask) && (!e->layer || add_file(key, e->layer));
  return g_string_free(key, !whole);
}
