/* Reading ahead: the right pictures in the right order, and an end at any moment. */
#include "engine/train/prefetch.h"
#include "fixture.h"

static void test_order(void) {
  g_autoptr(TmDataset) d = fixture_roads(9, 3, 32, 24);
  static const guint entries[] = {3, 0, 0, 8, 11, 2, 1};
  g_autoptr(TmSampleCache) cache = tm_sample_cache_new(d, 3 * 32 * 24 * 4, NULL); /* room for three */
  g_autoptr(TmPrefetch) p = tm_prefetch_new(cache, entries, G_N_ELEMENTS(entries));
  for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
    g_autoptr(TmFetched) f = tm_prefetch_next(p);
    g_assert_nonnull(f);
    g_assert_no_error(f->error);
    g_assert_cmpuint(f->entry, ==, entries[i]);
    g_auto(TmSample) direct = {0};
    g_assert_true(tm_dataset_read(d, entries[i], &direct, NULL));
    g_assert_cmpmem(f->sample->rgb, 32 * 24 * 3, direct.rgb, 32 * 24 * 3);
    g_assert_cmpmem(f->sample->labels, 32 * 24, direct.labels, 32 * 24);
  }
  g_assert_null(tm_prefetch_next(p));
  g_assert_null(tm_prefetch_next(p));
}

static void test_end_early(void) {
  g_autoptr(TmDataset) d = fixture_roads(20, 1, 32, 24);
  guint entries[20];
  for (guint i = 0; i < 20; i++) entries[i] = i;
  g_autoptr(TmSampleCache) cache = tm_sample_cache_new(d, 1, NULL);
  for (guint taken = 0; taken < 8; taken++) {
    TmPrefetch *p = tm_prefetch_new(cache, entries, 20);
    for (guint i = 0; i < taken; i++) tm_fetched_free(tm_prefetch_next(p));
    tm_prefetch_free(p);
  }
}

static void test_nothing(void) {
  g_autoptr(TmDataset) d = fixture_roads(2, 1, 32, 24);
  g_autoptr(TmSampleCache) cache = tm_sample_cache_new(d, 3 * 32 * 24 * 4, NULL); /* room for three */
  g_autoptr(TmPrefetch) p = tm_prefetch_new(cache, NULL, 0);
  g_assert_null(tm_prefetch_next(p));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/prefetch/order", test_order);
  g_test_add_func("/prefetch/end-early", test_end_early);
  g_test_add_func("/prefetch/nothing", test_nothing);
  return g_test_run();
}
