/* Class tables: values to classes, files of colours, JSON there and back, and colours that can be told apart.
 */
#include <math.h>
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/class_guess.h"
#include "engine/data/class_table.h"
#include "tests/data/pictures.h"

static void test_camvid(void) {
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  g_assert_cmpuint(t->n, ==, 11);
  g_assert_cmpstr(t->classes[3].name, ==, "Road");
  g_assert_cmpmem(t->classes[3].colour, 3, ((const guint8[]){0x59, 0x34, 0x8e}), 3);
  g_assert_cmpmem(t->classes[10].colour, 3, ((const guint8[]){0x55, 0xf0, 0xe2}), 3);
  g_assert_cmpint(tm_class_table_index(t, 10), ==, 10);
  g_assert_cmpint(tm_class_table_index(t, 11), ==, 255);
  g_assert_cmpint(tm_class_table_index(t, 255), ==, 255);
  g_assert_cmpint(tm_class_table_index(t, 12), ==, -1);
  g_assert_cmpint(tm_class_table_index(t, -1), ==, -1);
}

static TmClassTable *read_text(const char *text, GError **error) {
  char *dir = tmp_new();
  put_text(dir, "label_colors.txt", text);
  g_autofree char *path = tmp_path(dir, "label_colors.txt");
  TmClassTable *t = tm_class_table_read_colours(path, error);
  tmp_remove(dir);
  return t;
}

/* Tabs, double tabs, blanks, CRLF, a byte order mark, no end of the last line. */
static void test_label_colors(void) {
  g_autoptr(GError) e = NULL;
  g_autoptr(TmClassTable) t =
      read_text("\xef\xbb\xbf"
                "64 128 64\tAnimal\r\n192 0 128\t\tArchway\r\n0 0 0   Void  \r\n\r\n 0 128 192 Bicycle lane",
                &e);
  g_assert_no_error(e);
  g_assert_cmpuint(t->n, ==, 3);
  g_assert_cmpint(t->code, ==, TM_MASK_COLOUR);
  g_assert_cmpstr(t->classes[0].name, ==, "Animal");
  g_assert_cmphex((guint)t->classes[0].value, ==, 0x408040);
  g_assert_cmpstr(t->classes[1].name, ==, "Archway");
  g_assert_cmpstr(t->classes[2].name, ==, "Bicycle lane");
  g_assert_cmpuint(t->n_void, ==, 1);
  g_assert_cmpint(tm_class_table_index(t, 0), ==, 255);
  g_assert_nonnull(strstr(t->source, "label_colors.txt"));
}

static void test_old_mac_ends_and_csv(void) {
  g_autoptr(TmClassTable) mac = read_text("1 2 3 A\r4 5 6 B\r", NULL);
  g_assert_cmpuint(mac->n, ==, 2);
  g_autoptr(TmClassTable) csv = read_text("name,r,g,b\nAnimal,64,128,64\nUnlabelled,0,0,0\n", NULL);
  g_assert_cmpuint(csv->n, ==, 1);
  g_assert_cmpuint(csv->n_void, ==, 1);
  g_autoptr(TmClassTable) map =
      read_text("# label:color_rgb:parts:actions\nroad:128,64,128::\nsky:70,130,180::\n", NULL);
  g_assert_cmpuint(map->n, ==, 2);
  g_assert_cmpstr(map->classes[1].name, ==, "sky");
}

static void test_same_colour(void) {
  g_autoptr(GError) e = NULL;
  g_assert_null(read_text("128 0 0 Building\n0 0 0 Sky\n\n128 0 0 Wall\n", &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(e->message, "line 1 (Building)"));
  g_assert_nonnull(strstr(e->message, "line 4 (Wall)"));
  g_assert_nonnull(strstr(e->message, "128 0 0"));
}

static void test_bad_lines(void) {
  const char *const bad[] = {"1 2 Road\n", "256 0 0 Road\n", "-1 0 0 Road\n", "1 2 3\n",
                             "Road\n",     "a b c Road\n",   "1 2 3 \t \n"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) e = NULL;
    g_assert_null(read_text(bad[i], &e));
    g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
    g_assert_nonnull(strstr(e->message, "line 1"));
  }
  g_autoptr(GError) e = NULL;
  g_assert_null(read_text("0 0 0 Void\n", &e)); /* only void */
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
}

static void test_too_many_classes(void) {
  g_autoptr(GString) s = g_string_new(NULL);
  for (int i = 0; i < 300; i++) g_string_append_printf(s, "%d %d 1 C%d\n", i & 255, i >> 8, i);
  g_autoptr(GError) e = NULL;
  g_assert_null(read_text(s->str, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(e->message, "254"));
}

static void test_names_of_indices(void) {
  char *dir = tmp_new();
  put_text(dir, "l.txt", "1 1 1 Sky\n0 0 0 Void\n2 2 2 Road\n");
  g_autofree char *path = tmp_path(dir, "l.txt");
  g_autoptr(TmClassTable) t = tm_class_table_read_names(path, NULL);
  g_assert_cmpint(t->code, ==, TM_MASK_INDEX);
  g_assert_cmpint(tm_class_table_index(t, 0), ==, 0);
  g_assert_cmpint(tm_class_table_index(t, 1), ==, 255);
  g_assert_cmpint(tm_class_table_index(t, 2), ==, 1);
  tmp_remove(dir);
}

static void expect_same(const TmClassTable *a, const TmClassTable *b) {
  g_assert_cmpuint(a->n, ==, b->n);
  g_assert_cmpint(a->code, ==, b->code);
  for (guint i = 0; i < a->n; i++) {
    g_assert_cmpstr(a->classes[i].name, ==, b->classes[i].name);
    g_assert_cmpint(a->classes[i].value, ==, b->classes[i].value);
    g_assert_cmpmem(a->classes[i].colour, 3, b->classes[i].colour, 3);
  }
  g_assert_cmpuint(a->n_void, ==, b->n_void);
  for (guint i = 0; i < a->n_void; i++) g_assert_cmpint(a->void_values[i], ==, b->void_values[i]);
  g_assert_cmpstr(a->source, ==, b->source);
}

static void test_json(void) {
  g_autoptr(TmClassTable) t = tm_class_table_camvid(), colours = tm_class_table_new(TM_MASK_COLOUR);
  tm_class_table_add(colours, "Weg „ä“ \"\\", 0x010203, 0xfffffe);
  tm_class_table_add_void(colours, 0);
  const TmClassTable *const tables[] = {t, colours};
  for (guint i = 0; i < 2; i++) {
    g_autoptr(JsonNode) node = tm_class_table_to_json(tables[i]);
    g_autofree char *text = json_to_string(node, FALSE);
    g_autoptr(JsonNode) again = json_from_string(text, NULL);
    g_autoptr(GError) e = NULL;
    g_autoptr(TmClassTable) back = tm_class_table_from_json(again, &e);
    g_assert_no_error(e);
    if (!back->source[0]) g_clear_pointer(&back->source, g_free);
    expect_same(tables[i], back);
    g_autoptr(TmClassTable) copy = tm_class_table_copy(tables[i]);
    expect_same(tables[i], copy);
  }
}

static void test_bad_json(void) {
  const char *const bad[] = {
      "[]",
      "{}",
      "3",
      "{\"code\":\"index\"}",
      "{\"code\":\"index\",\"classes\":[]}",
      "{\"code\":\"other\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":0}]}",
      "{\"code\":\"index\",\"classes\":[3]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":3,\"colour\":\"#000000\",\"value\":0}]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"red\",\"value\":0}]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":-1}]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":1e30}]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":1},{\"name\":\"b\","
      "\"colour\":\"#000000\",\"value\":1}]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":1}],\"void\":[1]}",
      "{\"code\":\"index\",\"classes\":[{\"name\":\"a\",\"colour\":\"#000000\",\"value\":1}],\"void\":[\"x\"]"
      "}",
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(JsonNode) node = json_from_string(bad[i], NULL);
    g_autoptr(GError) e = NULL;
    g_assert_null(tm_class_table_from_json(node, &e));
    g_assert_error(e, TM_ERROR, TM_ERROR_CORRUPT);
  }
  g_assert_null(tm_class_table_from_json(NULL, NULL));
}

static double channel(guint32 v) {
  const double s = v / 255.0;
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double f(double t) {
  return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void lab(guint32 c, double out[3]) {
  const double r = channel(c >> 16), g = channel(c >> 8 & 255), b = channel(c & 255);
  const double x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505),
               y = f(0.2126 * r + 0.7152 * g + 0.0722 * b),
               z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  out[0] = 116 * y - 16;
  out[1] = 500 * (x - y);
  out[2] = 200 * (y - z);
}

static double nearest(guint n) {
  double least = 1e9;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++) {
      double a[3], b[3];
      lab(tm_class_default_colour(i), a);
      lab(tm_class_default_colour(j), b);
      least = MIN(least, sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                              (a[2] - b[2]) * (a[2] - b[2])));
    }
  return least;
}

static void test_default_colours(void) {
  g_assert_cmphex(tm_class_default_colour(0), ==, 0x94bbf7);
  g_assert_cmpfloat(nearest(11), >, 31.0); /* the palette's own smallest distance is 31.3 */
  g_assert_cmpfloat(nearest(20), >, 24.0);
  g_assert_cmpfloat(nearest(32), >, 18.0);
  g_assert_cmpfloat(nearest(TM_MAX_CLASSES), >, 5.0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/data/class-table/camvid", test_camvid);
  g_test_add_func("/data/class-table/label-colors", test_label_colors);
  g_test_add_func("/data/class-table/other-writings", test_old_mac_ends_and_csv);
  g_test_add_func("/data/class-table/same-colour", test_same_colour);
  g_test_add_func("/data/class-table/bad-lines", test_bad_lines);
  g_test_add_func("/data/class-table/too-many", test_too_many_classes);
  g_test_add_func("/data/class-table/names-of-indices", test_names_of_indices);
  g_test_add_func("/data/class-table/json", test_json);
  g_test_add_func("/data/class-table/bad-json", test_bad_json);
  g_test_add_func("/data/class-table/default-colours", test_default_colours);
  return g_test_run();
}
