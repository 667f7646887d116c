/* What stands of a run's changes, in groups as people count them, and the words for them. */
#include <math.h>
#include <string.h>

#include "app/live_changes.h"
#include "engine/train/schedule.h"

static void add(GPtrArray *all, guint64 step, const char *key, const char *from, const char *to, gboolean undo) {
  g_ptr_array_add(all, tm_change_new(step, key, from, to, undo));
}

static GPtrArray *list(void) { return g_ptr_array_new_with_free_func((GDestroyNotify)tm_change_free); }

static void check_words(const GPtrArray *groups, guint i, const char *words) {
  g_autofree char *is = tm_live_changes_words(groups->pdata[i]);
  g_assert_cmpstr(is, ==, words);
}

static void test_groups(void) {
  g_autoptr(GPtrArray) all = list();
  add(all, 3, "lr_factor", "1", "0.5", FALSE);
  add(all, 5, "brightness", "0.2", "0.4", FALSE);
  add(all, 5, "offset", "20", "40", FALSE);
  add(all, 5, "batch", "4", "8", FALSE);
  add(all, 7, "brightness", "0.4", "0.2", FALSE);
  g_autoptr(GPtrArray) groups = tm_live_changes_standing(all);
  g_assert_cmpuint(groups->len, ==, 4);
  check_words(groups, 0, "rate ÷ 2");
  check_words(groups, 1, "more augmentation");
  g_assert_cmpuint(((GPtrArray *)groups->pdata[1])->len, ==, 2);
  check_words(groups, 2, "batch 8");
  check_words(groups, 3, "less augmentation");
}

/* What was taken back stands no more; it has a mark where it held. */
static void test_undo(void) {
  g_autoptr(GPtrArray) all = list();
  add(all, 3, "class_weights", "none", "median", FALSE);
  add(all, 4, "lr_factor", "1", "3", FALSE);
  add(all, 4, "lr_factor", "3", "1", TRUE); /* before a step was made with it */
  add(all, 9, "class_weights", "median", "none", TRUE);
  g_autoptr(GPtrArray) standing = tm_live_changes_standing(all), marks = tm_live_changes_marks(all);
  g_assert_cmpuint(standing->len, ==, 0);
  g_assert_cmpuint(marks->len, ==, 2);
  check_words(marks, 0, "weights: Median");
  check_words(marks, 1, "undo");
  add(all, 12, "lr_factor", "1", "2", FALSE);
  add(all, 12, "flip", "0.5", "0", FALSE);
  g_autoptr(GPtrArray) again = tm_live_changes_standing(all);
  g_assert_cmpuint(again->len, ==, 2);
  check_words(again, 0, "rate × 2");
  check_words(again, 1, "flips off");
}

static void test_rate(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  for (guint64 place = 0; place < 200; place += 7)
    g_assert_cmpfloat_with_epsilon(tm_schedule_lr(&s, place, 200) * tm_live_changes_factor(&s, place, 200, 1e-4), 1e-4, 1e-9);
  s.lr = 0;
  g_assert_true(isnan(tm_live_changes_factor(&s, 3, 10, 1e-4)));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/live-changes/groups", test_groups);
  g_test_add_func("/live-changes/undo", test_undo);
  g_test_add_func("/live-changes/rate", test_rate);
  return g_test_run();
}
