/* Masks: the values that are written are the values that are read, whatever the bits; what is no mask is
 * refused by name. */
#include <string.h>

#include "engine/data/mask.h"
#include "tests/data/pictures.h"

typedef struct {
  char *dir;
  TmMask m;
  GError *error;
} Fix;

static void set_up(Fix *f, gconstpointer data) {
  (void)data;
  *f = (Fix){.dir = tmp_new()};
}

static void tear_down(Fix *f, gconstpointer data) {
  (void)data;
  tm_mask_clear(&f->m);
  g_clear_error(&f->error);
  tmp_remove(f->dir);
}

static void read_spec(Fix *f, const PngSpec *s) {
  put_array(f->dir, "m.png", png_make(s));
  g_autofree char *path = tmp_path(f->dir, "m.png");
  tm_mask_clear(&f->m);
  g_clear_error(&f->error);
  tm_mask_read(path, &f->m, &f->error);
}

static void expect_values(Fix *f, const gint32 *values, gsize n) {
  g_assert_no_error(f->error);
  g_assert_cmpuint((gsize)f->m.w * (gsize)f->m.h, ==, n);
  for (gsize i = 0; i < n; i++) g_assert_cmpint(tm_mask_value(&f->m, i, FALSE), ==, values[i]);
}

/* 17 x 13: rows end inside a byte. */
static void test_one_bit(Fix *f, gconstpointer data) {
  (void)data;
  guint8 px[17 * 13];
  gint32 want[17 * 13];
  for (guint i = 0; i < G_N_ELEMENTS(px); i++) want[i] = px[i] = (i * 7 / 3) & 1;
  read_spec(f, &(PngSpec){.w = 17, .h = 13, .depth = 1, .type = GREY, .samples = px});
  expect_values(f, want, G_N_ELEMENTS(want));
  g_assert_cmpint(f->m.depth, ==, 1);
}

static void test_four_bits(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f, &(PngSpec){.w = 5, .h = 1, .depth = 4, .type = GREY, .samples = (const guint8[]){0, 1, 2, 11, 15}});
  expect_values(f, (const gint32[]){0, 1, 2, 11, 15}, 5);
}

static void test_two_bits(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f, &(PngSpec){.w = 3, .h = 2, .depth = 2, .type = GREY, .samples = (const guint8[]){0, 1, 2, 3, 2, 1}});
  expect_values(f, (const gint32[]){0, 1, 2, 3, 2, 1}, 6);
}

static void test_eight_bits(Fix *f, gconstpointer data) {
  (void)data;
  guint8 px[256];
  gint32 want[256];
  for (int i = 0; i < 256; i++) want[i] = px[i] = (guint8)i;
  read_spec(f, &(PngSpec){.w = 16, .h = 16, .depth = 8, .type = GREY, .samples = px});
  expect_values(f, want, 256);
}

static void test_sixteen_bits(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f, &(PngSpec){
             .w = 3, .h = 1, .depth = 16, .type = GREY, .samples = (const guint8[]){0, 7, 1, 0, 0xff, 0xfe}});
  expect_values(f, (const gint32[]){7, 256, 65534}, 3);
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "a", 0, 256);
  tm_class_table_add(t, "b", 0, 65534);
  guint8 labels[3];
  g_assert_true(tm_mask_labels(&f->m, t, "m.png", labels, NULL));
  g_assert_cmpmem(labels, 3, ((const guint8[]){255, 0, 1}), 3);
}

/* Palette indices count, not the colours; also where fewer colours than indices are there. */
static void test_palette(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) extra = g_byte_array_new();
  png_chunk(extra, "PLTE", (const guint8[]){255, 0, 0, 0, 0, 255, 9, 9, 9, 1, 2, 3}, 12);
  read_spec(f, &(PngSpec){.w = 4,
                          .h = 1,
                          .depth = 2,
                          .type = PALETTE,
                          .samples = (const guint8[]){0, 1, 2, 3},
                          .extra = extra->data,
                          .n_extra = extra->len});
  expect_values(f, (const gint32[]){0, 1, 2, 3}, 4);
  g_assert_cmphex((guint)tm_mask_value(&f->m, 1, TRUE), ==, 0x0000ff);
  g_autoptr(TmClassTable) colours = tm_class_table_new(TM_MASK_COLOUR);
  tm_class_table_add(colours, "blue", 0, 0x0000ff);
  tm_class_table_add(colours, "red", 0, 0xff0000);
  tm_class_table_add_void(colours, 0x090909);
  guint8 labels[4];
  g_assert_true(tm_mask_labels(&f->m, colours, "m.png", labels, NULL));
  g_assert_cmpmem(labels, 4, ((const guint8[]){1, 0, 255, 255}), 4);
}

static void test_rgb_by_colour(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(f, &(PngSpec){.w = 3,
                          .h = 1,
                          .depth = 8,
                          .type = RGB,
                          .samples = (const guint8[]){64, 128, 64, 64, 128, 65, 0, 0, 0}});
  g_autoptr(TmClassTable) t = tm_class_table_new(TM_MASK_COLOUR);
  tm_class_table_add(t, "Animal", 0, 0x408040);
  tm_class_table_add(t, "Black", 0, 0);
  guint8 labels[3];
  g_assert_true(tm_mask_labels(&f->m, t, "m.png", labels, NULL));
  g_assert_cmpmem(labels, 3, ((const guint8[]){0, 255, 1}),
                  3); /* one step off is unknown, never the nearest */
}

static void test_rgba_mask(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f,
      &(PngSpec){
          .w = 2, .h = 1, .depth = 8, .type = RGBA, .samples = (const guint8[]){1, 2, 3, 0, 4, 5, 6, 255}});
  expect_values(f, (const gint32[]){0x010203, 0x040506}, 2);
}

static void test_grey_alpha_mask(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f,
      &(PngSpec){.w = 2, .h = 1, .depth = 8, .type = GREY_ALPHA, .samples = (const guint8[]){3, 0, 4, 255}});
  expect_values(f, (const gint32[]){3, 4}, 2);
}

static void test_flat_rgb(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  guint8 labels[2];
  read_spec(
      f,
      &(PngSpec){.w = 2, .h = 1, .depth = 8, .type = RGB, .samples = (const guint8[]){3, 3, 3, 10, 10, 10}});
  g_assert_true(tm_mask_is_flat_rgb(&f->m));
  g_assert_true(tm_mask_labels(&f->m, t, "m.png", labels, NULL));
  g_assert_cmpmem(labels, 2, ((const guint8[]){3, 10}), 2);
  read_spec(
      f,
      &(PngSpec){.w = 2, .h = 1, .depth = 8, .type = RGB, .samples = (const guint8[]){3, 3, 3, 10, 10, 11}});
  g_assert_false(tm_mask_labels(&f->m, t, "m.png", labels, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(f->error->message, "m.png"));
  g_assert_nonnull(strstr(f->error->message, "label_colors.txt"));
}

/* The tRNS chunk of a grey mask changes nothing. */
static void test_transparent_grey(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) extra = g_byte_array_new();
  png_chunk(extra, "tRNS", (const guint8[]){0, 1}, 2);
  read_spec(f, &(PngSpec){.w = 3,
                          .h = 1,
                          .depth = 8,
                          .type = GREY,
                          .samples = (const guint8[]){0, 1, 2},
                          .extra = extra->data,
                          .n_extra = extra->len});
  expect_values(f, (const gint32[]){0, 1, 2}, 3);
}

static void test_jpeg_is_refused(Fix *f, gconstpointer data) {
  (void)data;
  put_jpeg(f->dir, "lossy.png", 16, 16); /* whatever its name */
  g_autofree char *path = tmp_path(f->dir, "lossy.png");
  g_assert_false(tm_mask_read(path, &f->m, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(f->error->message, "lossy.png"));
  g_assert_nonnull(strstr(f->error->message, "JPEG"));
}

static void test_deep_colours_are_refused(Fix *f, gconstpointer data) {
  (void)data;
  read_spec(
      f, &(PngSpec){.w = 1, .h = 1, .depth = 16, .type = RGB, .samples = (const guint8[]){0, 1, 0, 2, 0, 3}});
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
}

static void test_values_counted(Fix *f, gconstpointer data) {
  (void)data;
  guint8 px[64 * 64] = {0};
  for (int y = 0; y < 64; y++) memset(px + y * 64 + 32, 255, 32);
  read_spec(f, &(PngSpec){.w = 64, .h = 64, .depth = 8, .type = GREY, .samples = px});
  g_autoptr(GArray) values = tm_mask_values(&f->m, TM_MASK_INDEX, 100);
  g_assert_cmpuint(values->len, ==, 2);
  const TmMaskValue *v = &g_array_index(values, TmMaskValue, 1);
  g_assert_cmpint(v->value, ==, 255);
  g_assert_cmpuint(v->count, ==, 2048);
  g_assert_cmpint(v->x, ==, 32);
  g_assert_cmpint(v->y, ==, 0);
  g_assert_null(tm_mask_values(&f->m, TM_MASK_INDEX, 1));
}

/* A disc with soft edge against discs of many sharp labels. */
static void test_smoothed(Fix *f, gconstpointer data) {
  (void)data;
  guint8 soft[96 * 96], sharp[96 * 96], few[96 * 96];
  for (int y = 0; y < 96; y++)
    for (int x = 0; x < 96; x++) {
      const double r = 30 - __builtin_sqrt((x - 48.3) * (x - 48.3) + (y - 47.6) * (y - 47.6));
      soft[y * 96 + x] = (guint8)(CLAMP(r / 4 + 0.5, 0.0, 1.0) * 255);
      sharp[y * 96 + x] = (guint8)(x / 16 * 6 + y / 16); /* 36 labels */
      few[y * 96 + x] = (guint8)((x ^ y) & 7);           /* scattered, but few */
    }
  read_spec(f, &(PngSpec){.w = 96, .h = 96, .depth = 8, .type = GREY, .samples = soft});
  g_assert_true(tm_mask_looks_smoothed(&f->m));
  read_spec(f, &(PngSpec){.w = 96, .h = 96, .depth = 8, .type = GREY, .samples = sharp});
  g_assert_false(tm_mask_looks_smoothed(&f->m));
  read_spec(f, &(PngSpec){.w = 96, .h = 96, .depth = 8, .type = GREY, .samples = few});
  g_assert_false(tm_mask_looks_smoothed(&f->m));
}

/* Every value a table does not know is void, in a table of bytes too; a void value wins over nothing. */
static void test_labels_by_index(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmClassTable) t = tm_class_table_camvid();
  guint8 px[256], labels[256];
  for (int i = 0; i < 256; i++) px[i] = (guint8)i;
  read_spec(f, &(PngSpec){.w = 256, .h = 1, .depth = 8, .type = GREY, .samples = px});
  g_assert_true(tm_mask_labels(&f->m, t, "m.png", labels, NULL));
  for (int i = 0; i < 256; i++) g_assert_cmpint(labels[i], ==, i < 11 ? i : 255);
}

#define ADD(name, fn) g_test_add("/data/mask/" name, Fix, NULL, set_up, fn, tear_down)

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("one-bit", test_one_bit);
  ADD("two-bits", test_two_bits);
  ADD("four-bits", test_four_bits);
  ADD("eight-bits", test_eight_bits);
  ADD("sixteen-bits", test_sixteen_bits);
  ADD("palette", test_palette);
  ADD("rgb-by-colour", test_rgb_by_colour);
  ADD("rgba", test_rgba_mask);
  ADD("grey-alpha", test_grey_alpha_mask);
  ADD("flat-rgb", test_flat_rgb);
  ADD("transparent-grey", test_transparent_grey);
  ADD("jpeg-refused", test_jpeg_is_refused);
  ADD("deep-colours-refused", test_deep_colours_are_refused);
  ADD("values-counted", test_values_counted);
  ADD("smoothed", test_smoothed);
  ADD("labels-by-index", test_labels_by_index);
  return g_test_run();
}
