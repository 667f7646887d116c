/* test_tiles.c: tiles cover a picture once, inside of it, with context on inner edges. */
#include "engine/predict/tiles.h"

static void check(int extent, int size, int overlap) {
  g_autoptr(GArray) tiles = tm_tiles_plan(extent, size, overlap);
  int covered = 0;
  g_assert_cmpuint(tiles->len, >, 0);
  for (guint i = 0; i < tiles->len; i++) {
    const TmSpan *t = &g_array_index(tiles, TmSpan, i);
    g_assert_cmpint(t->size, ==, MIN(size, extent));
    g_assert_cmpint(t->from, >=, 0);
    g_assert_cmpint(t->from + t->size, <=, extent);
    g_assert_cmpint(t->keep_from, ==, covered);
    g_assert_cmpint(t->keep_to, >, t->keep_from);
    g_assert_cmpint(t->keep_from, >=, t->from);
    g_assert_cmpint(t->keep_to, <=, t->from + t->size);
    if (t->from > 0) g_assert_cmpint(t->keep_from - t->from, >=, overlap);
    if (t->from + t->size < extent) g_assert_cmpint(t->from + t->size - t->keep_to, >=, overlap);
    covered = t->keep_to;
  }
  g_assert_cmpint(covered, ==, extent);
}

static void test_cover(void) {
  for (int extent = 1; extent < 300; extent++)
    for (int size = 1; size < 70; size += 3)
      for (int overlap = 0; 2 * overlap < size; overlap += 5) check(extent, size, overlap);
}

static void test_sizes_of_the_product(void) {
  const int extents[] = {1, 1023, 1024, 1025, 1920, 1921, 4096, 20000, 1000000};
  for (guint i = 0; i < G_N_ELEMENTS(extents); i++)
    for (int tile = 1024; tile >= 128; tile /= 2) check(extents[i], tile, MIN(64, tile / 4));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tiles/cover", test_cover);
  g_test_add_func("/tiles/sizes-of-the-product", test_sizes_of_the_product);
  return g_test_run();
}
