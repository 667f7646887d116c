/* What is typed to find pictures means what it says; what there is not finds nothing. */
#include "ui/picture_query.h"

typedef struct {
  TmDataset *d;
  TmScan *scan;
} Data;

static void set_up(Data *x, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmDataset) base = tm_dataset_open(
      "demo", &(TmDatasetOptions){.demo_train = 6, .demo_val = 3, .demo_width = 120, .demo_height = 90},
      &error);
  g_assert_no_error(error);
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  tm_amend_leave_out(a, "road-0002", TRUE);
  x->d = tm_amend_apply(a, base);
  x->scan = tm_scan_run(x->d, 1, NULL, NULL, &error);
  g_assert_no_error(error);
}

static void tear_down(Data *x, gconstpointer data) {
  (void)data;
  tm_scan_free(x->scan);
  tm_dataset_unref(x->d);
}

static guint count(const Data *x, const char *text, gboolean scanned) {
  g_autoptr(TmPictureQuery) q = tm_picture_query_new(text, tm_dataset_classes(x->d));
  guint n = 0;
  for (guint i = 0; i < tm_dataset_n(x->d); i++)
    n += tm_picture_query_matches(q, x->d, scanned ? x->scan : NULL, NULL, i);
  return n;
}

static guint with_class(const Data *x, guint c) {
  guint n = 0;
  for (guint i = 0; i < tm_dataset_n(x->d); i++) n += x->scan->entries[i].pixels[c] > 0;
  return n;
}

static void test_words(Data *x, gconstpointer data) {
  (void)data;
  const struct {
    const char *text;
    guint n;
  } cases[] = {{"", 9},
               {"   ", 9},
               {"road", 9},
               {"VAL-", 3},
               {"road-0003", 1},
               {"split:val", 3},
               {"SPLIT:Train", 6},
               {"split:val 0001", 1},
               {"split:test", 0},
               {"split:nowhere", 0},
               {"is:left-out", 1},
               {"is:painted", 0},
               {"is:what", 0},
               {"is:left-out split:val", 0},
               {"split:train split:val", 9},
               {"\"road-val\" 2", 1},
               {"\"", 9},
               {"class:nothing", 0},
               {"is:alike", 0}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const guint n = count(x, cases[i].text, TRUE);
    if (n != cases[i].n) g_error("“%s” finds %u and not %u", cases[i].text, n, cases[i].n);
  }
}

static void test_classes(Data *x, gconstpointer data) {
  (void)data;
  g_assert_cmpuint(with_class(x, 9), >, 0);
  g_assert_cmpuint(count(x, "class:pedestrian", TRUE), ==, with_class(x, 9));
  g_assert_cmpuint(count(x, "class:PED", TRUE), ==, with_class(x, 9));
  g_assert_cmpuint(count(x, "class:pedestrian", FALSE), ==, 0); /* not before it is known */
  const guint both = count(x, "class:pedestrian class:pole", TRUE);
  g_assert_cmpuint(both, <=, MIN(with_class(x, 9), with_class(x, 2)));
  guint wanted = 0;
  for (guint i = 0; i < tm_dataset_n(x->d); i++)
    wanted += x->scan->entries[i].pixels[9] && x->scan->entries[i].pixels[2];
  g_assert_cmpuint(both, ==, wanted);
}

static void test_asks(Data *x, gconstpointer data) {
  (void)data;
  g_autoptr(TmPictureQuery) none = tm_picture_query_new(NULL, NULL), one = tm_picture_query_new("a", NULL);
  g_assert_false(tm_picture_query_asks(none));
  g_assert_true(tm_picture_query_asks(one));
  g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(guint));
  const guint four = 4;
  g_array_append_val(entries, four);
  tm_picture_query_set_entries(none, entries);
  for (guint i = 0; i < 9; i++)
    g_assert_cmpint(tm_picture_query_matches(none, x->d, NULL, NULL, i), ==, i == 4);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/picture-query/words", Data, NULL, set_up, test_words, tear_down);
  g_test_add("/picture-query/classes", Data, NULL, set_up, test_classes, tear_down);
  g_test_add("/picture-query/asks", Data, NULL, set_up, test_asks, tear_down);
  return g_test_run();
}
