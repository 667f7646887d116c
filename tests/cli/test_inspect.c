/* test_inspect.c: good and bad folders as tarmac inspect and the other commands meet them. */
#include "program.h"

#include <string.h>

#include <glib/gstdio.h>

#include "engine/data/png_write.h"

/* images/ and masks/ with four good pairs of two classes. */
static char *small_set(void) {
  char *folder = scratch_folder();
  g_autofree char *images = g_build_filename(folder, "images", NULL),
                  *masks = g_build_filename(folder, "masks", NULL);
  g_mkdir(images, 0755);
  g_mkdir(masks, 0755);
  guint8 rgb[16 * 12 * 3], labels[16 * 12];
  const guint32 palette[] = {0xff0000, 0x00ff00};
  for (int k = 0; k < 4; k++) {
    for (guint i = 0; i < sizeof rgb; i++) rgb[i] = (guint8)(i * 7 + (guint)k * 31);
    for (guint i = 0; i < sizeof labels; i++) labels[i] = i % 16 < 8;
    g_autofree char *image = g_strdup_printf("%s/p%d.png", images, k),
                    *mask = g_strdup_printf("%s/p%d.png", masks, k);
    g_autoptr(GError) error = NULL;
    tm_png_write_rgb(image, rgb, 16, 12, &error);
    g_assert_no_error(error);
    tm_png_write_index(mask, labels, 16, 12, palette, 2, &error);
    g_assert_no_error(error);
  }
  return folder;
}

static void test_demo(void) {
  g_auto(Ran) r = program_run("inspect", "demo", NULL);
  assert_code(r, 0);
  static const char *const parts[] = {"Road", "Bicyclist", "400", "60", "240"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) assert_says(r.out, parts[i]);
}

static void test_json(void) {
  g_autofree char *folder = small_set();
  g_auto(Ran) r = program_run("inspect", folder, "--json", NULL);
  assert_code(r, 0);
  g_autoptr(JsonObject) o = ran_json(&r);
  JsonObject *pictures = json_object_get_object_member(o, "pictures");
  g_assert_cmpint(json_object_get_int_member(pictures, "train") + json_object_get_int_member(pictures, "val"),
                  ==, 4);
  JsonArray *classes = json_object_get_array_member(o, "classes");
  double shares = 0;
  for (guint i = 0; i < json_array_get_length(classes); i++)
    shares += json_object_get_double_member(json_array_get_object_element(classes, i), "train");
  g_assert_cmpfloat_with_epsilon(shares, 1, 1e-6);
  g_assert_cmpint(json_object_get_int_member(o, "left_out"), ==, 0);
}

static void test_broken_picture_is_named(void) {
  g_autofree char *folder = small_set(), *images = g_build_filename(folder, "images", NULL);
  scratch_file(images, "p1.png", "no picture", 10);
  g_auto(Ran) r = program_run("inspect", folder, NULL);
  assert_code(r, 0);
  assert_says(r.out, "p1.png");
  g_auto(Ran) json = program_run("inspect", folder, "--json", NULL);
  g_autoptr(JsonObject) o = ran_json(&json);
  g_assert_cmpint(json_object_get_int_member(o, "left_out"), ==, 1);
}

static void check_refused(const char *command, const char *path) {
  g_auto(Ran) r = program_run(command, path, NULL);
  assert_code(r, 1);
  g_autofree char *base = g_path_get_basename(path);
  assert_says(r.err, base);
  g_assert_true(g_str_has_prefix(r.err, "tarmac"));
  g_assert_cmpstr(r.out, ==, "");
}

static void test_bad_folders(void) {
  g_autofree char *empty = scratch_folder(), *missing = g_build_filename(empty, "not-there", NULL);
  g_autofree char *file = g_build_filename(empty, "file.txt", NULL);
  check_refused("inspect", missing);
  check_refused("train", missing);
  check_refused("inspect", empty);
  scratch_file(empty, "file.txt", "words", 5);
  check_refused("inspect", file);
  check_refused("evaluate", missing);
  check_refused("evaluate", empty);
}

/* Names with spaces and letters of all kinds go through whole. */
static void test_unusual_name(void) {
  g_autofree char *folder = small_set();
  g_autofree char *name = g_build_filename(folder, "Straße 道路 %s", NULL),
                  *images = g_build_filename(folder, "images", NULL);
  g_autofree char *masks = g_build_filename(folder, "masks", NULL),
                  *images_to = g_build_filename(name, "images", NULL);
  g_autofree char *masks_to = g_build_filename(name, "masks", NULL);
  g_mkdir(name, 0755);
  g_assert_cmpint(g_rename(images, images_to), ==, 0);
  g_assert_cmpint(g_rename(masks, masks_to), ==, 0);
  g_auto(Ran) r = program_run("inspect", name, NULL);
  assert_code(r, 0);
  assert_says(r.out, "Straße 道路 %s");
}

int main(int argc, char **argv) {
  program_init(&argc, &argv);
  g_test_add_func("/cli/inspect/demo", test_demo);
  g_test_add_func("/cli/inspect/json", test_json);
  g_test_add_func("/cli/inspect/broken-picture-is-named", test_broken_picture_is_named);
  g_test_add_func("/cli/inspect/bad-folders", test_bad_folders);
  g_test_add_func("/cli/inspect/unusual-name", test_unusual_name);
  return g_test_run();
}
