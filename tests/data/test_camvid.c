/* CamVid as people have it, where it lies beside the project: every picture, and the figures numpy and Pillow
 * give for it. */
#include <string.h>

#include "engine/data/scan.h"

static TmDataset *open_camvid(void) {
  const char *shared = g_getenv("TM_SHARED");
  g_autofree char *path = g_build_filename(shared ? shared : "../shared", "data", "camvid", NULL);
  if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
    g_test_skip("CamVid is not here (TM_SHARED/data/camvid)");
    return NULL;
  }
  g_autoptr(GError) e = NULL;
  TmDataset *d = tm_dataset_open(path, NULL, &e);
  g_assert_no_error(e);
  return d;
}

static void test_open(void) {
  g_autoptr(TmDataset) d = open_camvid();
  if (!d) return;
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_TRAIN), ==, 367);
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_VAL), ==, 101);
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_TEST), ==, 0);
  g_assert_cmpstr(tm_dataset_layout(d), ==, "SegNet's CamVid layout with list files");
  g_assert_cmpuint(tm_dataset_classes(d)->n, ==, 11);
  g_assert_nonnull(strstr(tm_dataset_notes(d)[0], "/SegNet/CamVid/"));
  g_assert_null(tm_dataset_notes(d)[1]);
  for (guint i = 0; i < tm_dataset_n(d); i++) g_assert_nonnull(tm_dataset_entry(d, i)->mask);
}

/* numpy: bincount of the train masks; mean and std over all train pixels; the recipe's weights. */
static void test_scan(void) {
  static const guint64 pixels[12] = {10682767, 14750079, 623349,  20076880, 2845085, 6166762,
                                     743859,   714595,   3719877, 405385,   184967,  2503995};
  static const double mean[3] = {104.9847088978454, 108.35715034942982, 110.2477648160763};
  static const double std[3] = {78.23185835138021, 79.41801632859045, 78.25654020048135};
  static const double weights[11] = {
      0.5160665911907358, 0.4472135954999579, 2.1363971474483683, 0.4472135954999579, 1.0,
      0.6792333934589749, 1.9557003433375735, 1.9953433428712908, 0.874547359800934,  2.23606797749979,
      2.23606797749979};
  g_autoptr(TmDataset) d = open_camvid();
  if (!d) return;
  g_autoptr(GError) e = NULL;
  const gint64 t = g_get_monotonic_time();
  g_autoptr(TmScan) s = tm_scan_run(d, 0, NULL, NULL, &e);
  g_assert_no_error(e);
  g_test_message("scanned %u pictures in %.2f s", s->n_entries, (double)(g_get_monotonic_time() - t) / 1e6);
  for (guint i = 0; i < s->findings->len; i++)
    g_test_message("finding: %s", ((TmFinding *)s->findings->pdata[i])->text);
  g_assert_cmpuint(s->findings->len, ==, 0);
  for (guint c = 0; c < 12; c++)
    g_assert_cmpuint(s->pixels[TM_SPLIT_TRAIN][c < 11 ? c : TM_MAX_CLASSES], ==, pixels[c]);
  for (int c = 0; c < 3; c++) { /* another libjpeg may round a pixel otherwise */
    g_assert_cmpfloat_with_epsilon(s->mean[c], mean[c], 0.01);
    g_assert_cmpfloat_with_epsilon(s->std[c], std[c], 0.01);
    g_test_message("mean %.12f std %.12f", s->mean[c], s->std[c]);
  }
  float w[11];
  g_assert_true(tm_scan_weights(s, tm_dataset_classes(d), "sqrt", w, &e));
  for (int c = 0; c < 11; c++) g_assert_cmpfloat_with_epsilon(w[c], weights[c], 1e-6);
  g_assert_cmpint(s->min_w, ==, 480);
  g_assert_cmpint(s->max_h, ==, 360);
}

static void test_thumbnails(void) {
  g_autoptr(TmDataset) d = open_camvid();
  if (!d) return;
  const gint64 t = g_get_monotonic_time();
  for (guint i = 0; i < 40; i++) {
    g_auto(TmSample) s = {0};
    g_assert_true(tm_dataset_read_small(d, i, 140, &s, NULL));
    g_assert_cmpint(s.w, ==, 140);
    g_assert_cmpint(s.h, ==, 105);
  }
  g_test_message("%.2f ms a thumbnail", (double)(g_get_monotonic_time() - t) / 40e3);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/data/camvid/open", test_open);
  g_test_add_func("/data/camvid/scan", test_scan);
  g_test_add_func("/data/camvid/thumbnails", test_thumbnails);
  return g_test_run();
}
