/* test_out_names.c: every output has a name of its own, and one a file system takes. */
#include "engine/predict/out_names.h"

#include <string.h>

static void assert_stems(const char *const *names, const char *const *wanted) {
  const guint n = g_strv_length((char **)names);
  g_auto(GStrv) stems = tm_out_stems(names, n);
  for (guint i = 0; i < n; i++) g_assert_cmpstr(stems[i], ==, wanted[i]);
}

static void test_plain(void) {
  assert_stems((const char *[]){"a.jpg", "b.c.d.png", "noext", ".png", "道 路.JPG", NULL},
               (const char *[]){"a", "b.c.d", "noext", ".png", "道 路", NULL});
}

static void test_same_stem(void) {
  assert_stems((const char *[]){"a.jpeg", "a.jpg", "a.png", NULL},
               (const char *[]){"a", "a.jpg", "a.png", NULL});
}

/* The overlay of one must not be the mask of another. */
static void test_overlay_clash(void) {
  assert_stems((const char *[]){"a.png", "a_overlay.png", NULL},
               (const char *[]){"a", "a_overlay.png", NULL});
  assert_stems((const char *[]){"a_overlay.png", "a.png", NULL},
               (const char *[]){"a_overlay", "a.png", NULL});
}

static void assert_distinct(const char *const *names, guint n) {
  g_auto(GStrv) stems = tm_out_stems(names, n);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpuint(strlen(stems[i]) + strlen("_overlay.png"), <=, 255);
    g_assert_true(g_hash_table_add(seen, g_strconcat(stems[i], ".png", NULL)));
    g_assert_true(g_hash_table_add(seen, g_strconcat(stems[i], "_overlay.png", NULL)));
    if (g_utf8_validate(names[i], -1, NULL)) g_assert_true(g_utf8_validate(stems[i], -1, NULL));
  }
}

static void test_long(void) {
  g_autofree char *fill = g_strnfill(246, 'x'), *a = g_strconcat(fill, "a.png", NULL),
                  *b = g_strconcat(fill, "b.png", NULL);
  GString *wide = g_string_new(NULL);
  for (int i = 0; i < 83; i++) g_string_append(wide, "道");
  g_autofree char *c = g_strconcat(wide->str, ".png", NULL), *d = g_strconcat(wide->str, ".jpg", NULL);
  g_string_free(wide, TRUE);
  assert_distinct((const char *[]){a, b, c, d, "\x80\x80\x80.png"}, 5);
}

static void test_contrived(void) {
  assert_distinct((const char *[]){"a.jpg", "a.jpg.png", "a.png", "a.png-2.png", "a.jpg_overlay.png",
                                   "a.png_overlay.png", "a_overlay.jpg", "a_overlay.png",
                                   "a_overlay_overlay.png"},
                  9);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/out-names/plain", test_plain);
  g_test_add_func("/out-names/same-stem", test_same_stem);
  g_test_add_func("/out-names/overlay-clash", test_overlay_clash);
  g_test_add_func("/out-names/long", test_long);
  g_test_add_func("/out-names/contrived", test_contrived);
  return g_test_run();
}
