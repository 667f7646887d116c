/* Datasets: class tables guessed, splits made, samples read, and nothing written. */
#include <glib/gstdio.h>
#include <utime.h>

#include "tests/data/folders.h"

static void put_n(const char *dir, int n) {
  for (int i = 0; i < n; i++) {
    g_autofree char *image = g_strdup_printf("images/p%02d.png", i),
                    *mask = g_strdup_printf("masks/p%02d.png", i);
    put_pair(dir, image, mask, 0, 1);
  }
}

static void test_tail_split(Folder *f, gconstpointer data) {
  (void)data;
  static const int expect[][3] = {{1, 1, 0}, {2, 1, 1}, {3, 2, 1}, {5, 4, 1}, {10, 8, 2}};
  for (guint k = 0; k < G_N_ELEMENTS(expect); k++) {
    put_n(f->dir, expect[k][0]);
    folder_open(f, NULL);
    g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, expect[k][1]);
    g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_VAL), ==, expect[k][2]);
    g_assert_true(folder_notes(f, expect[k][0] == 1 ? "without validation" : "no validation split"));
  }
  folder_expect(f, "p07", "p07.png", TM_SPLIT_TRAIN);
  folder_expect(f, "p08", "p08.png", TM_SPLIT_VAL); /* the tail by name */
  folder_expect(f, "p09", "p09.png", TM_SPLIT_VAL);
}

static void test_split_fraction(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 10);
  folder_open(f, &(TmDatasetOptions){.val_fraction = 0});
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_VAL), ==, 0);
  folder_open(f, &(TmDatasetOptions){.val_fraction = 0.5f});
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_VAL), ==, 5);
  folder_open(f, &(TmDatasetOptions){.val_fraction = 7}); /* training keeps one, whatever is asked */
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 1);
  folder_open(f, &(TmDatasetOptions){.val_fraction = __builtin_nanf("")});
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 10);
}

static void test_split_needs_masks(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 2);
  for (int k = 0; k < 10; k++) {
    g_autofree char *name = g_strdup_printf("images/z%d.png", k);
    put_picture(f->dir, name, 16, 12);
  }
  folder_open(f, NULL);
  folder_expect(f, "p01", "p01.png", TM_SPLIT_VAL);   /* and not the pictures without masks */
  folder_expect(f, "p00", "p00.png", TM_SPLIT_TRAIN); /* training keeps one that can be learned from */
  folder_expect(f, "z2", NULL, TM_SPLIT_TRAIN);
}

static void set_masks(Folder *f, const guint8 *values, guint n) {
  guint8 px[16 * 12];
  for (guint i = 0; i < sizeof px; i++) px[i] = values[i * n / sizeof px];
  put_picture(f->dir, "images/a.png", 16, 12);
  put_grey(f->dir, "masks/a.png", 16, 12, px, 0);
  folder_open(f, NULL);
}

static void expect_index(const Folder *f, gint32 value, int class) {
  g_assert_cmpint(tm_class_table_index(tm_dataset_classes(f->d), value), ==, class);
}

static void test_gaps_in_values(Folder *f, gconstpointer data) {
  (void)data;
  set_masks(f, (const guint8[]){0, 2, 3, 4, 5}, 5);
  const TmClassTable *t = tm_dataset_classes(f->d);
  g_assert_cmpuint(t->n, ==, 5);
  g_assert_cmpint(t->classes[1].value, ==, 2); /* what predictions are written with */
  expect_index(f, 5, 4);
  expect_index(f, 1, -1);
  g_assert_true(folder_notes(f, "0, 2, 3, 4, 5"));
}

static void test_black_and_white(Folder *f, gconstpointer data) {
  (void)data;
  set_masks(f, (const guint8[]){0, 255}, 2);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 2);
  expect_index(f, 0, 0);
  expect_index(f, 255, 1); /* a class, and not void */
  g_assert_cmpuint(tm_dataset_classes(f->d)->n_void, ==, 0);
}

static void test_all_white(Folder *f, gconstpointer data) {
  (void)data;
  set_masks(f, (const guint8[]){255}, 1);
  expect_index(f, 0, 0);
  expect_index(f, 255, 1);
}

static void test_void_255(Folder *f, gconstpointer data) {
  (void)data;
  set_masks(f, (const guint8[]){0, 1, 2, 255}, 4);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 3);
  expect_index(f, 255, 255);
  g_assert_nonnull(strstr(tm_dataset_classes(f->d)->source, "255 is void"));
}

static void test_smoothed_guess(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[96 * 96];
  for (int y = 0; y < 96; y++)
    for (int x = 0; x < 96; x++) {
      const double r = 30 - __builtin_sqrt((x - 48.3) * (x - 48.3) + (y - 47.6) * (y - 47.6));
      px[y * 96 + x] = (guint8)(CLAMP(r / 4 + 0.5, 0.0, 1.0) * 255);
    }
  put_picture(f->dir, "images/a.png", 96, 96);
  put_grey(f->dir, "masks/a.png", 96, 96, px, 0);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 2); /* not 256 */
  expect_index(f, 255, 1);
  g_assert_true(folder_notes(f, "smoothed"));
}

/* One smoothed mask among good ones neither adds classes nor hides a rare one. */
static void test_one_smoothed(Folder *f, gconstpointer data) {
  (void)data;
  guint8 rare[96 * 96] = {0}, soft[96 * 96];
  rare[5] = rare[6] = 3;
  memset(rare + 96 * 40, 1, 96 * 20);
  for (guint i = 0; i < sizeof soft; i++) soft[i] = (guint8)(i % 96 * 5 / 2 + i / 96);
  for (int k = 0; k < 4; k++) {
    g_autofree char *image = g_strdup_printf("images/%d.png", k), *mask = g_strdup_printf("masks/%d.png", k);
    put_picture(f->dir, image, 96, 96);
    put_grey(f->dir, mask, 96, 96, k == 2 ? soft : rare, 0);
  }
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 3);
  expect_index(f, 3, 2);
  g_assert_true(folder_notes(f, "1 of 4 masks"));
}

/* Noise: many values, none of them common. */
static void test_noise(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[96 * 96];
  for (guint i = 0; i < sizeof px; i++) px[i] = (guint8)((i * 2654435761u) >> 24);
  put_picture(f->dir, "images/a.png", 96, 96);
  put_grey(f->dir, "masks/a.png", 96, 96, px, 0);
  folder_refuse(f, TM_ERROR_DATA, "different values");
}

static void test_mixed_kinds(Folder *f, gconstpointer data) {
  (void)data;
  guint8 grey[16 * 12], rgb[16 * 12 * 3];
  for (guint i = 0; i < sizeof grey; i++)
    grey[i] = rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = (guint8)(i % 3);
  put_picture(f->dir, "images/a.png", 16, 12);
  put_picture(f->dir, "images/b.png", 16, 12);
  put_picture(f->dir, "images/c.png", 16, 12);
  put_grey(f->dir, "masks/a.png", 16, 12, grey, 0);
  put_rgb(f->dir, "masks/b.png", 16, 12, rgb, 0);
  g_autoptr(GByteArray) plte = g_byte_array_new();
  png_chunk(plte, "PLTE", (const guint8[]){255, 0, 0, 0, 255, 0, 0, 0, 255}, 9);
  put_array(f->dir, "masks/c.png",
            png_make(&(PngSpec){.w = 16,
                                .h = 12,
                                .depth = 8,
                                .type = PALETTE,
                                .samples = grey,
                                .extra = plte->data,
                                .n_extra = plte->len}));
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 3);
  g_assert_true(folder_notes(f, "1 grey, 1 palette, 1 RGB"));
  g_assert_true(folder_notes(f, "R = G = B"));
  g_auto(TmSample) a = {0}, b = {0}, c = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &a, NULL) && tm_dataset_read(f->d, 1, &b, NULL) &&
                tm_dataset_read(f->d, 2, &c, NULL));
  g_assert_cmpmem(a.labels, sizeof grey, grey, sizeof grey);
  g_assert_cmpmem(b.labels, sizeof grey, grey, sizeof grey);
  g_assert_cmpmem(c.labels, sizeof grey, grey, sizeof grey);
}

static void test_few_colours(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 16, 12);
  put_rgb(f->dir, "masks/a.png", 16, 12, NULL, 0x804080);
  put_picture(f->dir, "images/b.png", 16, 12);
  put_rgb(f->dir, "masks/b.png", 16, 12, NULL, 0x102030);
  folder_open(f, NULL);
  const TmClassTable *t = tm_dataset_classes(f->d);
  g_assert_cmpint(t->code, ==, TM_MASK_COLOUR);
  g_assert_cmpuint(t->n, ==, 2);
  g_assert_cmpmem(t->classes[0].colour, 3, ((const guint8[]){0x10, 0x20, 0x30}), 3);
}

static void test_many_colours(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 64, 64);
  put_picture(f->dir, "masks/a.png", 64, 64); /* a gradient */
  folder_refuse(f, TM_ERROR_DATA, "label_colors.txt");
}

static void test_instance_numbers(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[64 * 64 * 2];
  for (guint i = 0; i < 64 * 64; i++) {
    px[2 * i] = (guint8)(i / 8 >> 8);
    px[2 * i + 1] = (guint8)(i / 8);
  }
  put_picture(f->dir, "images/a.png", 64, 64);
  put_array(f->dir, "masks/a.png",
            png_make(&(PngSpec){.w = 64, .h = 64, .depth = 16, .type = GREY, .samples = px}));
  folder_refuse(f, TM_ERROR_DATA, "instance");
}

static void test_only_bad_masks(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 16, 12);
  put_jpeg(f->dir, "masks/a.jpg", 16, 12);
  folder_refuse(f, TM_ERROR_DATA, "a.jpg");
}

static void test_given_table(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 2);
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 11);
}

static void test_read(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 7);
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "only", 0, 0);
  folder_open(f, &(TmDatasetOptions){.classes = t});
  g_auto(TmSample) s = {0};
  g_assert_true(tm_dataset_read(f->d, 0, &s, &f->error));
  g_assert_cmpint(s.w, ==, 16);
  g_assert_cmpint(s.labels[0], ==, 0);
  g_assert_cmpint(s.labels[15], ==, 255); /* unknown is void */
  g_assert_cmpint(s.rgb[15 * 3], ==, 255);
  tm_sample_clear(&s);
  g_assert_false(tm_dataset_read(f->d, 1, &s, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
}

static void test_read_mismatch(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/a.png", 700, 370);
  put_grey(f->dir, "masks/a.png", 702, 370, NULL, 1);
  folder_open(f, NULL);
  TmSample s = {0};
  g_assert_false(tm_dataset_read(f->d, 0, &s, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(f->error->message, "700×370"));
  g_assert_nonnull(strstr(f->error->message, "702×370"));
  g_assert_null(s.rgb);
  g_assert_null(s.labels);
}

/* One policy: upright, unless only the stored picture fits the mask. */
static void test_read_turned(Folder *f, gconstpointer data) {
  (void)data;
  for (int k = 0; k < 2; k++) {
    GByteArray *b = jpeg_make(&(JpegSpec){.w = 64, .h = 48, .components = 3, .gradient = TRUE});
    jpeg_add_orientation(b, 6);
    put_array(f->dir, k ? "images/b.jpg" : "images/a.jpg", b);
  }
  put_grey(f->dir, "masks/a.png", 64, 48, NULL, 1);
  put_grey(f->dir, "masks/b.png", 48, 64, NULL, 0);
  folder_open(f, NULL);
  for (guint k = 0; k < 2; k++) {
    g_auto(TmSample) s = {0}, small = {0};
    g_assert_true(tm_dataset_read(f->d, k, &s, &f->error));
    g_assert_cmpint(s.w, ==, k ? 48 : 64);
    g_assert_true(tm_dataset_read_small(f->d, k, 16, &small, &f->error));
    g_assert_cmpint(small.w, ==, k ? 12 : 16);
    g_assert_cmpint(small.h, ==, k ? 16 : 12);
  }
}

static void test_read_small(Folder *f, gconstpointer data) {
  (void)data;
  guint8 px[200 * 100];
  for (guint i = 0; i < sizeof px; i++) px[i] = (const guint8[]){0, 2, 6, 7, 10}[i % 200 / 40];
  put_jpeg(f->dir, "images/a.jpg", 200, 100);
  put_grey(f->dir, "masks/a.png", 200, 100, px, 0);
  folder_open(f, NULL);
  g_auto(TmSample) s = {0}, whole = {0};
  g_assert_true(tm_dataset_read_small(f->d, 0, 50, &s, &f->error));
  g_assert_cmpint(s.w, ==, 50);
  g_assert_cmpint(s.h, ==, 25);
  for (int i = 0; i < 50 * 25; i++) g_assert_cmpint(s.labels[i], ==, i % 50 / 10); /* no value between two */
  g_assert_true(tm_dataset_read_small(f->d, 0, 1000, &whole, &f->error));
  g_assert_cmpint(whole.w, ==, 200);
}

/* Sizes that networks do not like are data like any other: 1 x 1 too. */
static void test_odd_sizes(Folder *f, gconstpointer data) {
  (void)data;
  static const guint sizes[][2] = {{350, 525}, {17, 31}, {1, 1}};
  for (guint k = 0; k < 3; k++) {
    g_autofree char *i = g_strdup_printf("images/%u.png", k), *m = g_strdup_printf("masks/%u.png", k);
    put_picture(f->dir, i, sizes[k][0], sizes[k][1]);
    put_grey(f->dir, m, sizes[k][0], sizes[k][1], NULL, (guint8)(k & 1));
  }
  folder_open(f, NULL);
  for (guint k = 0; k < 3; k++) {
    g_auto(TmSample) s = {0}, small = {0};
    g_assert_true(tm_dataset_read(f->d, k, &s, &f->error));
    g_assert_cmpuint((guint)s.w, ==, sizes[k][0]);
    g_assert_cmpuint((guint)s.h, ==, sizes[k][1]);
    g_assert_true(tm_dataset_read_small(f->d, k, 8, &small, &f->error));
  }
}

static void test_subset(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 5);
  folder_open(f, NULL);
  const gboolean out[5] = {FALSE, TRUE, FALSE, FALSE, TRUE};
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  g_autoptr(TmDataset) s = tm_dataset_subset(f->d, out, t), same = tm_dataset_subset(f->d, NULL, NULL);
  g_assert_cmpuint(tm_dataset_n(s), ==, 3);
  g_assert_cmpstr(tm_dataset_entry(s, 1)->name, ==, "p02");
  g_assert_cmpuint(tm_dataset_n_split(s, TM_SPLIT_VAL), ==, 0);
  g_assert_cmpuint(tm_dataset_classes(s)->n, ==, 11);
  g_assert_cmpstr(tm_dataset_hash(s), !=, tm_dataset_hash(f->d));
  g_assert_cmpstr(tm_dataset_hash(same), ==, tm_dataset_hash(f->d));
  g_assert_cmpstr(tm_dataset_notes(same)[0], ==, tm_dataset_notes(f->d)[0]);
  g_assert_null(tm_dataset_entry(s, 3));
}

static void test_hash(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 3);
  folder_open(f, NULL);
  g_autofree char *before = g_strdup(tm_dataset_hash(f->d)), *path = tmp_path(f->dir, "masks/p01.png");
  folder_open(f, NULL);
  g_assert_cmpstr(tm_dataset_hash(f->d), ==, before);
  g_assert_cmpint(g_utime(path, &(struct utimbuf){.actime = 1, .modtime = 1}), ==, 0);
  folder_open(f, NULL);
  g_assert_cmpstr(tm_dataset_hash(f->d), !=, before);
}

/* Opening, reading and looking leave every folder's time as it was: nothing was made in it. */
static void test_never_written(Folder *f, gconstpointer data) {
  (void)data;
  put_n(f->dir, 3);
  const char *const dirs[] = {".", "images", "masks"};
  for (guint i = 0; i < 3; i++) {
    g_autofree char *path = g_build_filename(f->dir, dirs[i], NULL);
    g_assert_cmpint(g_utime(path, &(struct utimbuf){.actime = 5, .modtime = 5}), ==, 0);
  }
  folder_open(f, NULL);
  for (guint i = 0; i < 3; i++) {
    g_auto(TmSample) s = {0};
    g_assert_true(tm_dataset_read(f->d, i, &s, NULL));
  }
  for (guint i = 0; i < 3; i++) {
    g_autofree char *path = g_build_filename(f->dir, dirs[i], NULL);
    GStatBuf st;
    g_assert_cmpint(g_stat(path, &st), ==, 0);
    g_assert_cmpint(st.st_mtime, ==, 5);
  }
}

static void test_demo(void) {
  g_autoptr(GError) e = NULL;
  g_autoptr(TmDataset) d = tm_dataset_open("demo", NULL, &e);
  g_assert_no_error(e);
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_TRAIN), ==, 400);
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_VAL), ==, 60);
  g_assert_cmpstr(tm_dataset_entry(d, 0)->name, ==, "road-0001");
  g_assert_null(tm_dataset_entry(d, 0)->image);
  g_assert_cmpstr(tm_dataset_path(d), ==, "demo");
  g_auto(TmSample) s = {0}, again = {0}, small = {0};
  g_assert_true(tm_dataset_read(d, 3, &s, &e));
  g_assert_true(tm_dataset_read(d, 3, &again, &e));
  g_assert_cmpint(s.w, ==, 240);
  g_assert_cmpint(s.h, ==, 180);
  g_assert_cmpmem(s.rgb, 240 * 180 * 3, again.rgb, 240 * 180 * 3);
  g_assert_true(tm_dataset_read_small(d, 3, 60, &small, &e));
  g_assert_cmpint(small.w, ==, 60);
  g_assert_cmpint(small.h, ==, 45);
}

static void test_demo_options(void) {
  g_autoptr(GError) e = NULL;
  const TmDatasetOptions a = {.demo_train = 5, .demo_val = 2, .demo_width = 33, .demo_height = 16, .seed = 1},
                         b = {.demo_train = 9, .demo_val = 2, .demo_width = 33, .demo_height = 16, .seed = 1};
  g_autoptr(TmDataset) x = tm_dataset_open("demo", &a, &e), y = tm_dataset_open("demo", &b, &e);
  g_assert_cmpuint(tm_dataset_n(x), ==, 7);
  g_assert_cmpstr(tm_dataset_hash(x), !=, tm_dataset_hash(y));
  g_auto(TmSample) s = {0}, t = {0}, u = {0};
  g_assert_true(tm_dataset_read(x, 5, &s, &e) && tm_dataset_read(y, 9, &t, &e));
  g_assert_cmpmem(s.rgb, 33 * 16 * 3, t.rgb,
                  33 * 16 * 3); /* the same validation scenes, however many are trained on */
  const gboolean out[7] = {TRUE};
  g_autoptr(TmDataset) less = tm_dataset_subset(x, out, NULL);
  g_assert_true(tm_dataset_read(less, 4, &u, &e));
  g_assert_cmpmem(s.rgb, 33 * 16 * 3, u.rgb, 33 * 16 * 3); /* scenes stay with their entries */
  const TmDatasetOptions bad[] = {{.demo_width = 8},
                                  {.demo_height = -1},
                                  {.demo_train = -3},
                                  {.demo_width = 100000, .demo_height = 100000}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_assert_null(tm_dataset_open("demo", &bad[i], &e));
    g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
    g_clear_error(&e);
  }
}

static void test_split_names(void) {
  TmSplit s;
  g_assert_true(tm_split_parse("val", &s) && s == TM_SPLIT_VAL);
  g_assert_false(tm_split_parse("other", &s));
  g_assert_false(tm_split_parse(NULL, &s));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/data/dataset/tail-split", test_tail_split);
  FOLDER_TEST("/data/dataset/split-fraction", test_split_fraction);
  FOLDER_TEST("/data/dataset/split-needs-masks", test_split_needs_masks);
  FOLDER_TEST("/data/dataset/gaps-in-values", test_gaps_in_values);
  FOLDER_TEST("/data/dataset/black-and-white", test_black_and_white);
  FOLDER_TEST("/data/dataset/all-white", test_all_white);
  FOLDER_TEST("/data/dataset/void-255", test_void_255);
  FOLDER_TEST("/data/dataset/smoothed", test_smoothed_guess);
  FOLDER_TEST("/data/dataset/one-smoothed", test_one_smoothed);
  FOLDER_TEST("/data/dataset/noise", test_noise);
  FOLDER_TEST("/data/dataset/mixed-kinds", test_mixed_kinds);
  FOLDER_TEST("/data/dataset/few-colours", test_few_colours);
  FOLDER_TEST("/data/dataset/many-colours", test_many_colours);
  FOLDER_TEST("/data/dataset/instance-numbers", test_instance_numbers);
  FOLDER_TEST("/data/dataset/only-bad-masks", test_only_bad_masks);
  FOLDER_TEST("/data/dataset/given-table", test_given_table);
  FOLDER_TEST("/data/dataset/read", test_read);
  FOLDER_TEST("/data/dataset/read-mismatch", test_read_mismatch);
  FOLDER_TEST("/data/dataset/read-turned", test_read_turned);
  FOLDER_TEST("/data/dataset/read-small", test_read_small);
  FOLDER_TEST("/data/dataset/odd-sizes", test_odd_sizes);
  FOLDER_TEST("/data/dataset/subset", test_subset);
  FOLDER_TEST("/data/dataset/hash", test_hash);
  FOLDER_TEST("/data/dataset/never-written", test_never_written);
  g_test_add_func("/data/dataset/demo", test_demo);
  g_test_add_func("/data/dataset/demo-options", test_demo_options);
  g_test_add_func("/data/dataset/split-names", test_split_names);
  return g_test_run();
}
