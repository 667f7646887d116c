/* Damage of every kind to small files: nothing crashes, and every file gives either a picture of its size or
 * a sentence with its name. Run with the address sanitizer this is the fuzz test of the decoders. */
#include <string.h>

#include "engine/core/random.h"
#include "engine/data/class_table.h"
#include "engine/data/image.h"
#include "engine/data/mask.h"
#include "tests/data/pictures.h"

enum { ROUNDS = 1500 };

static guint try_file(const char *path) {
  g_autoptr(GError) e = NULL, e2 = NULL;
  g_auto(TmPicture) p = {0};
  g_auto(TmMask) m = {0};
  const TmPictureOptions small = {.max_side = 16};
  const gboolean ok = tm_image_read_picture(path, NULL, &p, &e);
  g_assert_true(ok == (e == NULL));
  if (ok)
    g_assert_true(p.w > 0 && p.h > 0 && p.rgb);
  else
    g_assert_true(e->domain == TM_ERROR && strstr(e->message, "x.bin"));
  tm_picture_clear(&p);
  tm_image_read_picture(path, &small, &p, NULL);
  if (tm_mask_read(path, &m, &e2)) {
    g_autoptr(TmClassTable) t = tm_class_table_camvid();
    g_autofree guint8 *labels = g_malloc((gsize)m.w * (gsize)m.h);
    tm_mask_labels(&m, t, path, labels, NULL);
    g_autoptr(GArray) values = tm_mask_values(&m, TM_MASK_COLOUR, 64);
    (void)values;
    tm_mask_looks_smoothed(&m);
  } else {
    g_assert_true(e2->domain == TM_ERROR && strstr(e2->message, "x.bin"));
  }
  return ok;
}

/* A few bytes changed, a piece cut off, a piece repeated; with PNG's checksums corrected now and then, so
 * that damage gets past them. */
static void damage(GByteArray *b, TmRandom *r) {
  const guint kind = tm_random_int(r, 4);
  if (kind == 0) g_byte_array_set_size(b, MAX(tm_random_int(r, b->len), 1));
  if (kind == 3 && b->len > 40) {
    const guint from = tm_random_int(r, b->len - 20);
    g_byte_array_remove_range(b, from, 1 + tm_random_int(r, 16));
  }
  for (guint k = 1 + tm_random_int(r, 6); kind && k > 0; k--)
    b->data[tm_random_int(r, b->len)] = (guint8)tm_random_next(r);
}

static void fuzz(GByteArray *good, guint64 seed) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "x.bin");
  TmRandom r;
  tm_random_seed(&r, seed);
  guint read = 0;
  for (int k = 0; k < ROUNDS; k++) {
    GByteArray *b = g_byte_array_new();
    g_byte_array_append(b, good->data, good->len);
    damage(b, &r);
    put_array(dir, "x.bin", b);
    read += try_file(path);
  }
  g_test_message("%u of %d damaged files still gave a picture", read, ROUNDS);
  g_byte_array_unref(good);
  tmp_remove(dir);
}

static void test_png_rgb(void) {
  guint8 px[24 * 18 * 3];
  for (guint i = 0; i < sizeof px; i++) px[i] = (guint8)(i * 31 >> 2);
  fuzz(png_make(&(PngSpec){.w = 24, .h = 18, .depth = 8, .type = RGB, .samples = px}), 1);
}

static void test_png_palette(void) {
  g_autoptr(GByteArray) extra = g_byte_array_new();
  png_chunk(extra, "PLTE", (const guint8[]){255, 0, 0, 0, 0, 255, 9, 9, 9, 1, 2, 3}, 12);
  png_chunk(extra, "tRNS", (const guint8[]){0, 100}, 2);
  guint8 px[24 * 18];
  for (guint i = 0; i < sizeof px; i++) px[i] = i & 3;
  fuzz(png_make(&(PngSpec){.w = 24,
                           .h = 18,
                           .depth = 2,
                           .type = PALETTE,
                           .samples = px,
                           .extra = extra->data,
                           .n_extra = extra->len}),
       2);
}

/* Headers made at random with right checksums: every combination of size, depth, type and interlacing. */
static void test_png_headers(void) {
  char *dir = tmp_new();
  g_autofree char *path = tmp_path(dir, "x.bin");
  TmRandom r;
  tm_random_seed(&r, 3);
  for (int k = 0; k < ROUNDS; k++) {
    const guint8 depths[] = {1, 2, 4, 8, 16, 3}, types[] = {0, 2, 3, 4, 6, 1};
    guint8 head[13] = {0,
                       0,
                       0,
                       (guint8)tm_random_int(&r, 40),
                       0,
                       0,
                       0,
                       (guint8)tm_random_int(&r, 40),
                       depths[tm_random_int(&r, 6)],
                       types[tm_random_int(&r, 6)],
                       0,
                       0,
                       (guint8)tm_random_int(&r, 2)};
    if (tm_random_int(&r, 20) == 0) head[tm_random_int(&r, 8)] = (guint8)tm_random_next(&r);
    GByteArray *good = png_make(&(PngSpec){.w = 70, .h = 70, .depth = 8, .type = RGBA});
    GByteArray *b = g_byte_array_new();
    g_byte_array_append(b, good->data, 8);
    png_chunk(b, "IHDR", head, 13);
    if (tm_random_int(&r, 2)) png_chunk(b, "PLTE", (const guint8[]){1, 2, 3}, 3);
    g_byte_array_append(b, good->data + 33, good->len - 33);
    put_array(dir, "x.bin", b);
    g_byte_array_unref(good);
    try_file(path);
  }
  tmp_remove(dir);
}

static void test_jpeg(void) {
  GByteArray *b = jpeg_make(&(JpegSpec){.w = 40, .h = 30, .components = 3, .gradient = TRUE});
  jpeg_add_orientation(b, 6);
  fuzz(b, 4);
}

static void test_jpeg_progressive(void) {
  fuzz(jpeg_make(&(JpegSpec){.w = 40, .h = 30, .components = 3, .gradient = TRUE, .progressive = TRUE}), 5);
}

static void test_jpeg_cmyk(void) {
  fuzz(jpeg_make(&(JpegSpec){
           .w = 40, .h = 30, .components = 4, .ycck = TRUE, .adobe = TRUE, .fill = {255, 3, 90, 200}}),
       6);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/data/hostile/png-rgb", test_png_rgb);
  g_test_add_func("/data/hostile/png-palette", test_png_palette);
  g_test_add_func("/data/hostile/png-headers", test_png_headers);
  g_test_add_func("/data/hostile/jpeg", test_jpeg);
  g_test_add_func("/data/hostile/jpeg-progressive", test_jpeg_progressive);
  g_test_add_func("/data/hostile/jpeg-cmyk", test_jpeg_cmyk);
  return g_test_run();
}
