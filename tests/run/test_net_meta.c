/* test_net_meta.c: what a checkpoint says of its net comes back, and what is missing is named. */
#include "engine/run/net_meta.h"

#include <math.h>
#include <string.h>

static JsonNode *some_settings(void) {
  g_autoptr(GError) error = NULL;
  JsonNode *n = json_from_string("{\"base\":8,\"upsampling\":\"bilinear\"}", &error);
  g_assert_no_error(error);
  return n;
}

static JsonObject *written(double best) {
  g_auto(TmNetMeta) m = {.settings = some_settings(),
                         .classes = tm_class_table_camvid(),
                         .mean = {101.5, 102, 103},
                         .std = {60, 61, 1.0 / 3.0},
                         .epoch = 12,
                         .total_step = G_GUINT64_CONSTANT(1) << 40,
                         .best_miou = best};
  JsonObject *o = json_object_new();
  tm_net_meta_write(o, &m);
  return o;
}

static void test_round_trip(void) {
  g_autoptr(JsonObject) o = written(0.5);
  g_autoptr(GError) error = NULL;
  g_auto(TmNetMeta) m = {0};
  g_assert_true(tm_net_meta_read(o, &m, &error));
  g_assert_no_error(error);
  g_assert_cmpint(json_object_get_int_member(json_node_get_object(m.settings), "base"), ==, 8);
  g_assert_cmpuint(m.classes->n, ==, 11);
  g_assert_cmpfloat(m.mean[0], ==, 101.5);
  g_assert_cmpfloat(m.std[2], ==, 1.0 / 3.0);
  g_assert_cmpuint(m.epoch, ==, 12);
  g_assert_cmpuint(m.total_step, ==, G_GUINT64_CONSTANT(1) << 40);
  g_assert_cmpfloat(m.best_miou, ==, 0.5);
  g_assert_cmpstr(m.version, ==, TM_VERSION);
}

static void test_no_best(void) {
  const double none[] = {(double)NAN, -(double)INFINITY};
  for (guint i = 0; i < G_N_ELEMENTS(none); i++) {
    g_autoptr(JsonObject) o = written(none[i]);
    g_autoptr(GError) error = NULL;
    g_auto(TmNetMeta) m = {0};
    g_assert_true(json_object_get_null_member(o, "best_miou"));
    g_assert_true(tm_net_meta_read(o, &m, &error));
    g_assert_true(isnan(m.best_miou));
  }
}

static void assert_refused(JsonObject *o, const char *key) {
  g_autoptr(GError) error = NULL;
  g_auto(TmNetMeta) m = {0};
  g_assert_false(tm_net_meta_read(o, &m, &error));
  g_assert_nonnull(error);
  g_assert_null(m.settings);
  if (!g_str_equal(key, "classes")) g_assert_nonnull(strstr(error->message, key));
}

static void test_missing(void) {
  static const char *const keys[] = {"settings", "classes", "mean", "std", "epoch", "total_step"};
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_autoptr(JsonObject) without = written(0.5), wrong = written(0.5), null = written(0.5);
    json_object_remove_member(without, keys[i]);
    assert_refused(without, keys[i]);
    json_object_set_string_member(wrong, keys[i], "x");
    assert_refused(wrong, keys[i]);
    json_object_set_null_member(null, keys[i]);
    assert_refused(null, keys[i]);
  }
  g_autoptr(JsonObject) zero = written(0.5), negative = written(0.5), other = json_object_new();
  JsonArray *std = json_array_new();
  for (int i = 0; i < 3; i++) json_array_add_double_element(std, 0);
  json_object_set_array_member(zero, "std", std);
  assert_refused(zero, "std"); /* would divide by it */
  json_object_set_int_member(negative, "epoch", -1);
  assert_refused(negative, "epoch");
  assert_refused(other, "settings");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/net-meta/round-trip", test_round_trip);
  g_test_add_func("/net-meta/no-best-yet", test_no_best);
  g_test_add_func("/net-meta/what-is-missing-is-named", test_missing);
  return g_test_run();
}
