/* The ways datasets lie in folders. */
#include "tests/data/folders.h"

static void put_segnet(const char *dir, guint8 last) {
  put_pair(dir, "train/a.png", "trainannot/a.png", 0, 3);
  put_pair(dir, "train/b.png", "trainannot/b.png", 5, last);
  put_pair(dir, "val/c.png", "valannot/c.png", 10, 3);
  put_pair(dir, "test/d.png", "testannot/d.png", 1, 2);
}

static void test_segnet_folders(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 4);
  folder_expect(f, "a", "a.png", TM_SPLIT_TRAIN);
  folder_expect(f, "c", "c.png", TM_SPLIT_VAL);
  folder_expect(f, "d", "d.png", TM_SPLIT_TEST);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 2);
  g_assert_nonnull(strstr(tm_dataset_layout(f->d), "SegNet"));
}

/* 11 classes, void 11; 255 in the same folder is void too. */
static void test_segnet_is_camvid(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  put_pair(f->dir, "train/e.png", "trainannot/e.png", 255, 9);
  folder_open(f, NULL);
  const TmClassTable *t = tm_dataset_classes(f->d);
  g_assert_cmpuint(t->n, ==, 11);
  g_assert_nonnull(strstr(t->source, "CamVid"));
  g_assert_cmpint(tm_class_table_index(t, 11), ==, 255);
  g_assert_cmpint(tm_class_table_index(t, 255), ==, 255);
}

static void test_segnet_not_camvid(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 12);
  folder_open(f, NULL);
  g_assert_null(strstr(tm_dataset_classes(f->d)->source, "CamVid"));
}

/* The list as SegNet gives it, whose paths are nobody's but its maker's. */
static void test_list_rebased(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  put_text(f->dir, "train.txt",
           "/SegNet/CamVid/train/a.png /SegNet/CamVid/trainannot/a.png\n/SegNet/CamVid/train/b.png "
           "/SegNet/CamVid/trainannot/b.png\n");
  put_text(f->dir, "val.txt", "/SegNet/CamVid/val/c.png /SegNet/CamVid/valannot/c.png\n");
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 2);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_VAL), ==, 1);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TEST), ==, 1); /* no list: its folders */
  g_assert_true(folder_notes(f, "/SegNet/CamVid/"));
  g_assert_true(g_str_has_prefix(folder_entry(f, "a")->image, f->dir));
  g_assert_nonnull(strstr(tm_dataset_layout(f->d), "list"));
}

/* Byte order mark, CRLF, trailing blanks, tabs, names with blanks, backslashes, no end of the last line. */
static void test_list_writings(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "train/a.png", "trainannot/a.png", 0, 3);
  put_pair(f->dir, "train/b c.png", "trainannot/b c.png", 0, 4);
  put_pair(f->dir, "train/d.png", "trainannot/d.png", 0, 5);
  put_pair(f->dir, "train/e.png", "trainannot/e.png", 0, 5);
  put_pair(f->dir, "train/g.png", "trainannot/g.png", 0, 5);
  put_text(f->dir, "train.txt",
           "\xef\xbb\xbf/x/train/a.png /x/trainannot/a.png  \r\ntrain/b c.png trainannot/b "
           "c.png\r\n\r\ntrain\\d.png trainannot\\d.png\r\n"
           "./train/e.png\t\ttrainannot/e.png\t\r\ntrain/g.png trainannot/g.png");
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 5);
  folder_expect(f, "b c", "b c.png", -1);
  folder_expect(f, "d", "d.png", -1);
  folder_expect(f, "g", "g.png", -1);
  g_assert_false(folder_notes(f, "missing"));
}

static void test_list_missing(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  put_text(f->dir, "train.txt",
           "train/a.png trainannot/a.png\ntrain/gone.png trainannot/gone.png\ntrain/b.png "
           "trainannot/nomask.png\n");
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 2);
  g_assert_true(folder_notes(f, "gone.png"));
  g_assert_true(folder_notes(f, "line 2"));
  folder_expect(f, "b", NULL, -1);
}

static void test_list_all_missing(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "train.txt", "/SegNet/train/a\x01.png\t/SegNet/trainannot/a.png\n");
  put_picture(f->dir, "other/x.png", 4, 4);
  folder_refuse(f, TM_ERROR_DATA, "a\\001.png"); /* what cannot be seen is shown escaped */
  g_assert_nonnull(strstr(f->error->message, "train.txt"));
}

static void test_list_of_pictures_only(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  put_text(f->dir, "train.txt", "/data/train/b.png\n");
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 1);
  folder_expect(f, "b", "b.png", TM_SPLIT_TRAIN);
}

/* A file that is no list takes no time, however long its line is. */
static void test_list_endless_line(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  g_autofree char *line = g_strnfill(2000000, ' ');
  line[0] = line[1999999] = 'x';
  put_text(f->dir, "train.txt", line);
  const gint64 t = g_get_monotonic_time();
  folder_open(f, NULL);
  g_assert_cmpint(g_get_monotonic_time() - t, <, 5 * G_USEC_PER_SEC);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 2);
}

static void test_listed_twice(Folder *f, gconstpointer data) {
  (void)data;
  put_segnet(f->dir, 11);
  put_text(f->dir, "train.txt",
           "train/a.png trainannot/a.png\ntrain/a.png trainannot/a.png\ntrain/b.png trainannot/b.png\n");
  put_text(f->dir, "val.txt", "train/b.png trainannot/b.png\n");
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n_split(f->d, TM_SPLIT_TRAIN), ==, 2);
  g_assert_true(folder_notes(f, "listed twice"));
  g_assert_true(folder_notes(f, "more than one split"));
}

static void test_images_masks(Folder *f, gconstpointer data) {
  (void)data;
  const char *const names[][2] = {{"images", "masks"},
                                  {"imgs", "labels"},
                                  {"JPEGImages", "SegmentationClass"},
                                  {"Images", "Annotations"}};
  for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
    char *dir = tmp_new();
    g_autofree char *i = g_strdup_printf("%s/a.png", names[k][0]),
                    *m = g_strdup_printf("%s/a.png", names[k][1]);
    put_pair(dir, i, m, 0, 1);
    g_autoptr(TmDataset) d = tm_dataset_open(dir, NULL, &f->error);
    g_assert_no_error(f->error);
    g_assert_cmpuint(tm_dataset_n(d), ==, 1);
    tmp_remove(dir);
  }
}

static void test_splits_below(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/train/a.png", "masks/train/a.png", 0, 1);
  put_pair(f->dir, "images/val/b.png", "masks/val/b.png", 0, 1);
  put_pair(f->dir, "images/test/town/c.png", "masks/test/town/c.png", 0, 1);
  folder_open(f, NULL);
  folder_expect(f, "a", "a.png", TM_SPLIT_TRAIN);
  folder_expect(f, "b", "b.png", TM_SPLIT_VAL);
  folder_expect(f, "c", "c.png", TM_SPLIT_TEST);
}

static void test_splits_above(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "Train/images/a.png", "Train/masks/a_mask.png", 0, 1);
  put_pair(f->dir, "valid/images/b.png", "valid/masks/b.png", 0, 1);
  put_pair(f->dir, "test/imgs/c.png", "test/labels/c_L.png", 0, 1);
  folder_open(f, NULL);
  folder_expect(f, "a", "a_mask.png", TM_SPLIT_TRAIN);
  folder_expect(f, "b", "b.png", TM_SPLIT_VAL);
  folder_expect(f, "c", "c_L.png", TM_SPLIT_TEST);
}

static void test_suffix(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "x.png", "x_mask.png", 0, 1);
  put_pair(f->dir, "y.png", "y_mask.png", 0, 1);
  put_picture(f->dir, "lonely.png", 8, 8);
  put_grey(f->dir, "x_L.png", 16, 12, NULL, 0);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 3);
  folder_expect(f, "x", "x_mask.png", -1);
  folder_expect(f, "lonely", NULL, -1);
  g_assert_null(folder_entry(f, "x_L"));
  g_assert_true(folder_notes(f, "second mask"));
}

static void test_suffix_in_splits(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "train/x.png", "train/x_L.png", 0, 1);
  put_pair(f->dir, "val/y.png", "val/y_L.png", 0, 1);
  folder_open(f, NULL);
  folder_expect(f, "x", "x_L.png", TM_SPLIT_TRAIN);
  folder_expect(f, "y", "y_L.png", TM_SPLIT_VAL);
}

static const char *const colours = "64 128 64\tAnimal\r\n128 64 128\t\tRoad\r\n0 0 0\tVoid\r\n";

static void test_camvid_original(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "label_colors.txt", colours);
  for (int k = 0; k < 3; k++) {
    g_autofree char *i = g_strdup_printf("701_StillsRaw_full/s_%d.png", k),
                    *m = g_strdup_printf("LabeledApproved_full/s_%d_L.png", k);
    put_picture(f->dir, i, 16, 12);
    put_rgb(f->dir, m, 16, 12, NULL, k == 1 ? 0x408040 : 0x804080);
  }
  folder_open(f, NULL);
  g_assert_cmpuint(tm_dataset_n(f->d), ==, 3);
  folder_expect(f, "s_1", "s_1_L.png", -1);
  const TmClassTable *t = tm_dataset_classes(f->d);
  g_assert_cmpint(t->code, ==, TM_MASK_COLOUR);
  g_assert_cmpuint(t->n, ==, 2);
  g_assert_true(folder_notes(f, "label_colors.txt")); /* which file, and the order of classes */
  g_assert_true(folder_notes(f, "0 Animal, 1 Road"));
  g_assert_nonnull(strstr(tm_dataset_layout(f->d), "CamVid"));
}

static void test_camvid_flat(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "label_colors.txt", colours);
  put_picture(f->dir, "s.png", 16, 12);
  put_rgb(f->dir, "s_L.png", 16, 12, NULL, 0x804080);
  folder_open(f, NULL);
  folder_expect(f, "s", "s_L.png", -1);
  g_assert_cmpuint(tm_dataset_classes(f->d)->n, ==, 2);
}

static void test_colour_file_beside_indices(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "label_colors.txt", colours);
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 2);
  folder_open(f, NULL);
  const TmClassTable *t = tm_dataset_classes(f->d);
  g_assert_cmpint(t->code, ==, TM_MASK_INDEX);
  g_assert_cmpstr(t->classes[1].name, ==, "Road");
  g_assert_cmpint(tm_class_table_index(t, 2), ==, 255);
}

static void test_colour_file_wrong(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "label_colors.txt", "0 0 0 Building\n0 0 0 Sky\n");
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 1);
  folder_refuse(f, TM_ERROR_DATA, "line 1 (Building) and line 2 (Sky)");
}

static void test_lone_folder(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "download/my data/images/a.png", "download/my data/masks/a.png", 0, 1);
  put_text(f->dir, "download/README", "hello");
  folder_open(f, NULL);
  folder_expect(f, "a", "a.png", -1);
}

static void test_nothing(Folder *f, gconstpointer data) {
  (void)data;
  folder_refuse(f, TM_ERROR_DATA, "No pictures");
  g_clear_error(&f->error);
  put_picture(f->dir, "holiday/a.png", 8, 8);
  put_picture(f->dir, "holiday/b.png", 8, 8);
  folder_refuse(f, TM_ERROR_DATA, "No masks");
  g_assert_nonnull(strstr(f->error->message, "holiday (2)"));
  g_assert_nonnull(strstr(f->error->message, "trainannot")); /* what was looked for */
}

static void test_no_folder(Folder *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "data.zip", "PK");
  g_autofree char *zip = tmp_path(f->dir, "data.zip"), *gone = g_build_filename(f->dir, "gone", NULL);
  g_assert_null(tm_dataset_open(zip, NULL, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_FILE);
  g_clear_error(&f->error);
  g_assert_null(tm_dataset_open(gone, NULL, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_FILE);
  g_assert_nonnull(strstr(f->error->message, "gone"));
}

static void test_unused_masks(Folder *f, gconstpointer data) {
  (void)data;
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 1);
  put_grey(f->dir, "masks/b.png", 4, 4, NULL, 0);
  put_text(f->dir, "images/c.bmp", "BM");
  folder_open(f, NULL);
  g_assert_true(folder_notes(f, "masks/b.png"));
  g_assert_true(folder_notes(f, "c.bmp"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/data/layouts/segnet/folders", test_segnet_folders);
  FOLDER_TEST("/data/layouts/segnet/is-camvid", test_segnet_is_camvid);
  FOLDER_TEST("/data/layouts/segnet/not-camvid", test_segnet_not_camvid);
  FOLDER_TEST("/data/layouts/segnet/list-rebased", test_list_rebased);
  FOLDER_TEST("/data/layouts/segnet/list-writings", test_list_writings);
  FOLDER_TEST("/data/layouts/segnet/list-missing", test_list_missing);
  FOLDER_TEST("/data/layouts/segnet/list-all-missing", test_list_all_missing);
  FOLDER_TEST("/data/layouts/segnet/list-of-pictures", test_list_of_pictures_only);
  FOLDER_TEST("/data/layouts/segnet/endless-line", test_list_endless_line);
  FOLDER_TEST("/data/layouts/segnet/listed-twice", test_listed_twice);
  FOLDER_TEST("/data/layouts/folders/names", test_images_masks);
  FOLDER_TEST("/data/layouts/folders/splits-below", test_splits_below);
  FOLDER_TEST("/data/layouts/folders/splits-above", test_splits_above);
  FOLDER_TEST("/data/layouts/suffix/flat", test_suffix);
  FOLDER_TEST("/data/layouts/suffix/splits", test_suffix_in_splits);
  FOLDER_TEST("/data/layouts/camvid/original", test_camvid_original);
  FOLDER_TEST("/data/layouts/camvid/flat", test_camvid_flat);
  FOLDER_TEST("/data/layouts/colour-file/indices", test_colour_file_beside_indices);
  FOLDER_TEST("/data/layouts/colour-file/wrong", test_colour_file_wrong);
  FOLDER_TEST("/data/layouts/lone-folder", test_lone_folder);
  FOLDER_TEST("/data/layouts/nothing", test_nothing);
  FOLDER_TEST("/data/layouts/no-folder", test_no_folder);
  FOLDER_TEST("/data/layouts/unused", test_unused_masks);
  return g_test_run();
}
