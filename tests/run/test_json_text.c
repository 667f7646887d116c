/* test_json_text.c: JSON is valid on the way out, and no text from outside can do harm on the way in. */
#include "engine/run/json_text.h"

#include <math.h>
#include <string.h>

static void test_non_finite_out(void) {
  g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
  JsonObject *o = json_object_new();
  JsonArray *a = json_array_new();
  json_array_add_double_element(a, (double)NAN);
  json_array_add_double_element(a, 0.5);
  json_object_set_double_member(o, "best", -(double)INFINITY);
  json_object_set_array_member(o, "list", a);
  json_object_set_string_member(o, "text", "NaN");
  json_node_take_object(root, o);
  g_autofree char *text = tm_json_text(root, FALSE);
  g_assert_cmpstr(text, ==, "{\"best\":null,\"list\":[null,0.5],\"text\":\"NaN\"}");
}

static void test_non_finite_in(void) {
  static const char text[] = "{\"a\": NaN, \"b\": -Infinity, \"c\": [Infinity, nan, -nan, inf, -inf, 1], "
                             "\"d\": \"NaN Infinity \\\" nan\", \"e\": null}";
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) n = tm_json_parse(text, strlen(text), 8, &error);
  g_assert_no_error(error);
  JsonObject *o = json_node_get_object(n);
  g_assert_true(json_object_get_null_member(o, "a"));
  g_assert_true(json_object_get_null_member(o, "b"));
  JsonArray *c = json_object_get_array_member(o, "c");
  for (guint i = 0; i < 5; i++) g_assert_true(json_array_get_null_element(c, i));
  g_assert_cmpint(json_array_get_int_element(c, 5), ==, 1);
  g_assert_cmpstr(json_object_get_string_member(o, "d"), ==, "NaN Infinity \" nan");
}

static void test_refused(void) {
  static const char *const texts[] = {"",         "   ",    "{",           "}",    "{]",      "[1,]x",
                                      "{\"a\":}", "\"open", "[[[[[1]]]]]", "\xc3", "nonsense"};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonNode) n = tm_json_parse(texts[i], strlen(texts[i]), 4, &error);
    if (n) g_printerr("read: %s\n", texts[i]);
    g_assert_null(n);
    g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(tm_json_parse("{}\0{}", 5, 4, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
}

static void test_bombs(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) deep = g_string_new(NULL), wide = g_string_new("[0");
  for (int i = 0; i < 2000000; i++) g_string_append_c(deep, i < 1000000 ? '[' : ']');
  for (int i = 0; i < 2000000; i++) g_string_append(wide, ",0");
  g_string_append_c(wide, ']');
  g_assert_null(tm_json_parse(deep->str, deep->len, 64, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  g_clear_error(&error);
  g_assert_null(tm_json_parse(wide->str, wide->len, 64, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json/non-finite-is-null-when-written", test_non_finite_out);
  g_test_add_func("/json/non-finite-is-null-when-read", test_non_finite_in);
  g_test_add_func("/json/what-is-not-json-is-refused", test_refused);
  g_test_add_func("/json/bombs", test_bombs);
  return g_test_run();
}
