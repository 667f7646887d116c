/* test_folder.c: a folder of pictures becomes masks in the dataset's own values; nothing of the user's is
 * written over. */
#include <sys/stat.h>
#include <unistd.h>

#include "engine/data/image.h"
#include "engine/data/mask.h"
#include "engine/data/png_write.h"
#include "tests/predict/predict_test.h"

/* A place with a net in it, a folder "in" and a name for "out". */
typedef struct {
  char *root, *in, *out;
  TmPredictor *p;
} Place;

static Place make_place(const TmClassTable *given) {
  g_autoptr(TmClassTable) own = given ? tm_class_table_copy(given) : pt_classes();
  Place x = {.root = rt_folder()};
  g_autofree char *net = pt_write(x.root, own);
  x.in = g_build_filename(x.root, "in", NULL);
  x.out = g_build_filename(x.root, "deep", "out", NULL);
  x.p = pt_open(net);
  g_assert_cmpint(g_mkdir(x.in, 0700), ==, 0);
  return x;
}

static void clear_place(Place *x) {
  tm_predictor_free(x->p);
  rt_remove(x->root);
  g_free(x->root);
  g_free(x->in);
  g_free(x->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Place, clear_place)

static void add_picture(const Place *x, const char *name, int w, int h, guint64 seed) {
  g_autofree char *path = g_build_filename(x->in, name, NULL);
  g_autofree guint8 *rgb = pt_picture(w, h, 90, seed);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_png_write_rgb(path, rgb, w, h, &error));
  g_assert_no_error(error);
}

static void add_file(const char *folder, const char *name, const char *text) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  rt_write(path, text, strlen(text));
}

static void run(const Place *x, gboolean replace, TmFolderResult *r) {
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_predictor_folder(x->p, x->in, x->out, replace, r, NULL, NULL, &error));
  g_assert_no_error(error);
}

static void run_fails(const Place *x, const char *out, gboolean replace, int code) {
  TmFolderResult r;
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_predictor_folder(x->p, x->in, out, replace, &r, NULL, NULL, &error));
  g_assert_error(error, TM_ERROR, code);
  tm_folder_result_clear(&r);
}

static char *out_file(const Place *x, const char *name) {
  return g_build_filename(x->out, name, NULL);
}

static void check_mask(const Place *x, const char *name, int w, int h, guint64 seed, TmMaskKind kind,
                       gboolean colour, const gint32 *values) {
  g_autofree char *path = out_file(x, name);
  g_autofree guint8 *rgb = pt_picture(w, h, 90, seed);
  g_auto(TmMask) m = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_mask_read(path, &m, &error));
  g_assert_no_error(error);
  g_assert_cmpint(m.w, ==, w);
  g_assert_cmpint(m.h, ==, h);
  g_assert_cmpint(m.kind, ==, kind);
  for (gsize i = 0; i < (gsize)w * (gsize)h; i++)
    g_assert_cmpint(tm_mask_value(&m, i, colour), ==, values[pt_truth(rgb + i * 3)]);
}

/* Masks hold the original values, as an index picture with a palette: visible, exact, and none but the
 * table's. */
static void test_index_masks(void) {
  g_auto(Place) x = make_place(NULL);
  const int sizes[][2] = {{40, 30}, {17, 31}, {1, 1}};
  const char *const names[] = {"a.png", "b c.png", "道.PNG"}, *const masks[] = {"a.png", "b c.png", "道.png"};
  for (guint i = 0; i < 3; i++) add_picture(&x, names[i], sizes[i][0], sizes[i][1], i);
  add_file(x.in, "notes.txt", "no picture");
  add_file(x.in, ".hidden.png", "junk");
  g_autofree char *sub = g_build_filename(x.in, "sub.png", NULL);
  g_assert_cmpint(g_mkdir(sub, 0700), ==, 0);
  TmFolderResult r;
  run(&x, FALSE, &r);
  g_assert_cmpuint(r.done, ==, 3);
  g_assert_cmpuint(r.failed, ==, 0);
  g_assert_cmpfloat(r.seconds, >, 0);
  tm_folder_result_clear(&r);
  for (guint i = 0; i < 3; i++)
    check_mask(&x, masks[i], sizes[i][0], sizes[i][1], i, TM_MASK_PALETTE, FALSE, (const gint32[]){3, 200});
  g_assert_cmpuint(rt_count(x.out), ==, 7);
}

static void test_palette_and_overlay(void) {
  g_auto(Place) x = make_place(NULL);
  add_picture(&x, "a.png", 9, 7, 4);
  TmFolderResult r;
  run(&x, FALSE, &r);
  tm_folder_result_clear(&r);
  g_autofree char *mask = out_file(&x, "a.png"), *overlay = out_file(&x, "a_overlay.png");
  g_autofree guint8 *rgb = pt_picture(9, 7, 90, 4);
  g_auto(TmMask) m = {0};
  g_auto(TmPicture) o = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_mask_read(mask, &m, &error));
  g_assert_cmphex(m.palette[3], ==, 0x102030);
  g_assert_cmphex(m.palette[200], ==, 0xf0e0d0);
  g_assert_true(tm_image_read_picture(overlay, NULL, &o, &error));
  g_assert_true(o.w == 9 && o.h == 7);
  for (gsize i = 0; i < 9 * 7; i++) {
    const guint colour = pt_truth(rgb + i * 3) ? 0xf0e0d0 : 0x102030;
    for (gsize k = 0; k < 3; k++)
      g_assert_cmpint(o.rgb[i * 3 + k], ==, (rgb[i * 3 + k] + ((colour >> (16 - 8 * k)) & 255) + 1) / 2);
  }
}

static void test_wide_and_colour_masks(void) {
  g_autoptr(TmClassTable) wide = tm_class_table_new(TM_MASK_INDEX),
                          colour = tm_class_table_new(TM_MASK_COLOUR);
  tm_class_table_add(wide, "a", 0x000000, 1000);
  tm_class_table_add(wide, "b", 0xffffff, 65535);
  tm_class_table_add(wide, "c", 0xff0000, 2);
  tm_class_table_add(colour, "a", 0x000000, 0x804080);
  tm_class_table_add(colour, "b", 0xffffff, 0x0000c0);
  tm_class_table_add(colour, "c", 0xff0000, 0x00ff00);
  for (int i = 0; i < 2; i++) {
    g_auto(Place) x = make_place(i ? colour : wide);
    add_picture(&x, "a.png", 21, 14, 9);
    TmFolderResult r;
    run(&x, FALSE, &r);
    tm_folder_result_clear(&r);
    if (i)
      check_mask(&x, "a.png", 21, 14, 9, TM_MASK_RGB, TRUE, (const gint32[]){0x804080, 0x0000c0});
    else
      check_mask(&x, "a.png", 21, 14, 9, TM_MASK_GREY, FALSE, (const gint32[]){1000, 65535});
  }
}

static void test_shares(void) {
  g_auto(Place) x = make_place(NULL);
  g_autofree char *path = g_build_filename(x.in, "half, dark.png", NULL),
                  *table = out_file(&x, "classes.csv");
  const guint8 rgb[8 * 3] = {255, 255, 255, 255, 255, 255};
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_png_write_rgb(path, rgb, 4, 2, &error));
  TmFolderResult r;
  run(&x, FALSE, &r);
  tm_folder_result_clear(&r);
  g_autofree char *text = rt_read(table, NULL);
  g_assert_cmpstr(text, ==,
                  "picture,mask,Dark,\"Light, \"\"bright\"\"\",Never\n"
                  "\"half, dark.png\",\"half, dark.png\",0.75,0.25,0\n");
}

/* ---- what may not be written ---- */

static void test_out_is_in(void) {
  g_auto(Place) x = make_place(NULL);
  add_picture(&x, "a.png", 8, 8, 1);
  g_autofree char *inside = g_build_filename(x.in, "out", NULL),
                  *link_path = g_build_filename(x.root, "link", NULL);
  g_autofree char *dotted = g_build_filename(x.root, "in", ".", "..", "in", NULL),
                  *through = g_build_filename(link_path, "new", "er", NULL);
  g_assert_cmpint(symlink(x.in, link_path), ==, 0);
  run_fails(&x, x.in, TRUE, TM_ERROR_FILE);
  run_fails(&x, inside, TRUE, TM_ERROR_FILE);
  run_fails(&x, link_path, TRUE, TM_ERROR_FILE);
  run_fails(&x, dotted, TRUE, TM_ERROR_FILE);
  run_fails(&x, through, TRUE, TM_ERROR_FILE);
  g_assert_cmpuint(rt_count(x.in), ==, 1);
  /* A name that only begins alike is another folder. */
  g_free(x.out);
  x.out = g_strconcat(x.in, "-masks", NULL);
  TmFolderResult r;
  run(&x, FALSE, &r);
  g_assert_cmpuint(r.done, ==, 1);
  tm_folder_result_clear(&r);
}

/* The masks of a dataset are not replaced by predictions, not even when replacing is allowed; nor is anything
 * put beside them. */
static void test_out_in_dataset(void) {
  g_auto(Place) x = make_place(NULL);
  g_autofree char *images = g_build_filename(x.root, "set", "images", NULL),
                  *masks = g_build_filename(x.root, "set", "masks", NULL);
  g_autofree char *beside = g_build_filename(x.root, "set", "predictions", NULL),
                  *deeper = g_build_filename(beside, "new", NULL);
  g_assert_cmpint(g_mkdir_with_parents(images, 0700), ==, 0);
  g_assert_cmpint(g_mkdir_with_parents(masks, 0700), ==, 0);
  g_free(x.in);
  x.in = g_strdup(images);
  for (int i = 0; i < 3; i++) {
    g_autofree char *name = g_strdup_printf("%d.png", i), *mask = g_build_filename(masks, name, NULL);
    const guint8 labels[64] = {0, 1};
    const guint32 palette[2] = {0, 0xffffff};
    g_autoptr(GError) error = NULL;
    add_picture(&x, name, 8, 8, (guint64)i);
    g_assert_true(tm_png_write_index(mask, labels, 8, 8, palette, 2, &error));
  }
  run_fails(&x, masks, TRUE, TM_ERROR_FILE);
  run_fails(&x, beside, TRUE, TM_ERROR_FILE);
  run_fails(&x, deeper, TRUE, TM_ERROR_FILE);
  g_assert_cmpuint(rt_count(masks), ==, 3);
  g_assert_false(g_file_test(beside, G_FILE_TEST_EXISTS));
}

static void test_replace(void) {
  g_auto(Place) x = make_place(NULL);
  add_picture(&x, "a.png", 8, 8, 1);
  g_assert_cmpint(g_mkdir_with_parents(x.out, 0700), ==, 0);
  add_file(x.out, "a_overlay.png", "precious");
  run_fails(&x, x.out, FALSE, TM_ERROR_FILE);
  g_autofree char *kept = out_file(&x, "a_overlay.png"), *text = rt_read(kept, NULL);
  g_assert_cmpstr(text, ==, "precious");
  g_assert_cmpuint(rt_count(x.out), ==, 1);
  TmFolderResult r;
  run(&x, TRUE, &r);
  tm_folder_result_clear(&r);
  run_fails(&x, x.out, FALSE, TM_ERROR_FILE);
  run(&x, TRUE, &r);
  g_assert_cmpuint(r.done, ==, 1);
  tm_folder_result_clear(&r);
}

/* ---- files that fail ---- */

static void test_goes_on(void) {
  g_auto(Place) x = make_place(NULL);
  add_picture(&x, "a.png", 8, 8, 1);
  add_picture(&x, "z.png", 8, 8, 2);
  add_file(x.in, "broken.png", "no picture");
  add_file(x.in, "empty.jpg", "");
  g_autofree char *dangling = g_build_filename(x.in, "gone.png", NULL);
  g_assert_cmpint(symlink("/none/such.png", dangling), ==, 0);
  TmFolderResult r;
  run(&x, FALSE, &r);
  g_assert_cmpuint(r.done, ==, 2);
  g_assert_cmpuint(r.failed, ==, 3);
  g_assert_cmpuint(r.errors->len, ==, 3);
  g_assert_nonnull(strstr(r.errors->pdata[0], "broken.png"));
  g_assert_nonnull(strstr(r.errors->pdata[1], "empty.jpg"));
  g_assert_nonnull(strstr(r.errors->pdata[2], "gone.png"));
  tm_folder_result_clear(&r);
  g_autofree char *last = out_file(&x, "z.png");
  g_assert_true(g_file_test(last, G_FILE_TEST_EXISTS));
}

static void test_same_stem(void) {
  g_auto(Place) x = make_place(NULL);
  add_picture(&x, "a.PNG", 8, 8, 1);
  add_picture(&x, "a.png", 16, 8, 2);
  TmFolderResult r;
  run(&x, FALSE, &r);
  g_assert_cmpuint(r.done, ==, 2);
  tm_folder_result_clear(&r);
  check_mask(&x, "a.png", 8, 8, 1, TM_MASK_PALETTE, FALSE, (const gint32[]){3, 200});
  check_mask(&x, "a.png.png", 16, 8, 2, TM_MASK_PALETTE, FALSE, (const gint32[]){3, 200});
}

static void test_long_name(void) {
  g_auto(Place) x = make_place(NULL);
  g_autofree char *fill = g_strnfill(251, 'x'), *name = g_strconcat(fill, ".png", NULL),
                  *path = g_build_filename(x.in, name, NULL);
  g_autofree char *short_path = g_build_filename(x.in, "s.png", NULL);
  add_picture(&x, "s.png", 8, 8, 1);
  g_assert_cmpint(g_rename(short_path, path), ==, 0);
  TmFolderResult r;
  run(&x, FALSE, &r);
  g_assert_cmpuint(r.done, ==, 1);
  tm_folder_result_clear(&r);
  g_assert_cmpuint(rt_count(x.out), ==, 3);
}

static void test_nothing_to_do(void) {
  g_auto(Place) x = make_place(NULL);
  run_fails(&x, x.out, FALSE, TM_ERROR_DATA);
  add_file(x.in, "a.tif", "x");
  run_fails(&x, x.out, FALSE, TM_ERROR_DATA);
  g_assert_false(g_file_test(x.out, G_FILE_TEST_EXISTS));
  g_free(x.in);
  x.in = g_strdup("/none/such");
  run_fails(&x, x.out, FALSE, TM_ERROR_FILE);
}

static gboolean stop_after_one(guint done, guint total, gpointer user) {
  (void)user;
  g_assert_cmpuint(total, ==, 3);
  return done < 1;
}

/* What was done until then is whole, and told. */
static void test_stopped(void) {
  g_auto(Place) x = make_place(NULL);
  for (guint i = 0; i < 3; i++) {
    g_autofree char *name = g_strdup_printf("%u.png", i);
    add_picture(&x, name, 8, 8, i);
  }
  TmFolderResult r;
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_predictor_folder(x.p, x.in, x.out, FALSE, &r, stop_after_one, NULL, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_CANCELLED);
  g_assert_cmpuint(r.done, ==, 1);
  tm_folder_result_clear(&r);
  g_assert_cmpuint(rt_count(x.out), ==, 3);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/folder/index-masks", test_index_masks);
  g_test_add_func("/folder/palette-and-overlay", test_palette_and_overlay);
  g_test_add_func("/folder/16-bit-and-colour-masks", test_wide_and_colour_masks);
  g_test_add_func("/folder/shares", test_shares);
  g_test_add_func("/folder/out-is-in", test_out_is_in);
  g_test_add_func("/folder/out-in-dataset", test_out_in_dataset);
  g_test_add_func("/folder/replace", test_replace);
  g_test_add_func("/folder/goes-on-after-a-failure", test_goes_on);
  g_test_add_func("/folder/same-stem", test_same_stem);
  g_test_add_func("/folder/long-name", test_long_name);
  g_test_add_func("/folder/nothing-to-do", test_nothing_to_do);
  g_test_add_func("/folder/stopped", test_stopped);
  return g_test_run();
}
