/* Scores from one confusion matrix. */
#include <math.h>

#include "engine/core/random.h"
#include "engine/graph/node.h"
#include "engine/train/metrics.h"

/* B04: a class in neither truth nor call is left out: 0.5 and 0.7 give 0.6, not 0.4, not 0.73, not NaN. */
static void test_absent_class(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(3);
  static const gint32 counts[9] = {7, 2, 0, 1, 0, 0, 0, 0, 0}; /* class 0: 7 of 10; made below: class 1 */
  tm_confusion_add(c, counts);
  c->pixels[1 * 3 + 1] = 3; /* class 1: 3 / (3 + 1 + 2) = 0.5 */
  g_assert_cmpfloat_with_epsilon(tm_confusion_iou(c, 0), 0.7, 1e-12);
  g_assert_cmpfloat_with_epsilon(tm_confusion_iou(c, 1), 0.5, 1e-12);
  g_assert_true(isnan(tm_confusion_iou(c, 2)));
  g_assert_cmpfloat_with_epsilon(tm_confusion_miou(c), 0.6, 1e-12);
}

/* A class that is called but never true counts as 0: it is wrong, not absent. */
static void test_called_only(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(2);
  static const guint8 truth[4] = {0, 0, 0, 0}, call[4] = {0, 0, 0, 1};
  tm_confusion_add_labels(c, truth, call, 4);
  g_assert_cmpfloat(tm_confusion_iou(c, 1), ==, 0);
  g_assert_cmpfloat_with_epsilon(tm_confusion_miou(c), 0.375, 1e-12);
  g_assert_cmpfloat_with_epsilon(tm_confusion_accuracy(c), 0.75, 1e-12);
}

/* B02: a picture of nothing but background, all called background, is perfect and adds no NaN. */
static void test_all_background(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(2);
  static const guint8 all[100];
  tm_confusion_add_labels(c, all, all, 100);
  g_assert_cmpfloat(tm_confusion_miou(c), ==, 1);
  g_assert_true(isnan(tm_confusion_iou(c, 1)));
}

static void test_nothing(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(4);
  g_assert_true(isnan(tm_confusion_miou(c)));
  g_assert_true(isnan(tm_confusion_accuracy(c)));
  g_assert_true(isnan(tm_confusion_iou(c, 99)));
}

static void test_void(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(2);
  static const guint8 truth[5] = {0, 1, TM_VOID, 2, 1}, call[5] = {0, 1, 0, 1, TM_VOID};
  tm_confusion_add_labels(c, truth, call, 5);
  g_assert_cmpfloat(tm_confusion_accuracy(c), ==, 1);
  guint64 sum = 0;
  for (guint i = 0; i < 4; i++) sum += c->pixels[i];
  g_assert_cmpuint(sum, ==, 2);
}

/* B03: the sum over parts is the whole, however it is cut; and it agrees with counting per class by hand. */
static void test_parts(void) {
  enum { N = 5, PIXELS = 4096 };
  g_autofree guint8 *truth = g_malloc(PIXELS), *call = g_malloc(PIXELS);
  TmRandom r;
  tm_random_seed(&r, 3);
  for (guint i = 0; i < PIXELS; i++) {
    truth[i] = (guint8)tm_random_int(&r, N + 1);
    call[i] = (guint8)tm_random_int(&r, N);
    if (truth[i] == N) truth[i] = TM_VOID;
  }
  static const gsize cuts[] = {1, 7, 1000, PIXELS};
  for (guint k = 0; k < G_N_ELEMENTS(cuts); k++) {
    g_autoptr(TmConfusion) c = tm_confusion_new(N);
    for (gsize at = 0; at < PIXELS; at += cuts[k])
      tm_confusion_add_labels(c, truth + at, call + at, MIN(cuts[k], PIXELS - at));
    double sum = 0;
    for (guint i = 0; i < N; i++) {
      guint both = 0, either = 0;
      for (guint p = 0; p < PIXELS; p++) {
        if (truth[p] == TM_VOID) continue;
        both += truth[p] == i && call[p] == i;
        either += truth[p] == i || call[p] == i;
      }
      g_assert_cmpfloat_with_epsilon(tm_confusion_iou(c, i), (double)both / either, 1e-12);
      sum += (double)both / either;
    }
    g_assert_cmpfloat_with_epsilon(tm_confusion_miou(c), sum / N, 1e-12);
  }
}

/* Many large pictures: counts of 32 bits are summed in 64. */
static void test_large(void) {
  g_autoptr(TmConfusion) c = tm_confusion_new(1);
  static const gint32 most[1] = {G_MAXINT32};
  for (guint i = 0; i < 10; i++) tm_confusion_add(c, most);
  g_assert_cmpuint(c->pixels[0], ==, 10u * (guint64)G_MAXINT32);
  tm_confusion_clear(c);
  g_assert_cmpuint(c->pixels[0], ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/absent-class", test_absent_class);
  g_test_add_func("/metrics/called-only", test_called_only);
  g_test_add_func("/metrics/all-background", test_all_background);
  g_test_add_func("/metrics/nothing", test_nothing);
  g_test_add_func("/metrics/void", test_void);
  g_test_add_func("/metrics/parts", test_parts);
  g_test_add_func("/metrics/large", test_large);
  return g_test_run();
}
