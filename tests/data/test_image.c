/* Pictures: what libpng and libjpeg meet in the wild becomes right RGB or a sentence that names the file. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/data/codec.h"
#include "engine/data/exif.h"
#include "engine/data/image.h"
#include "tests/data/pictures.h"

typedef struct {
  char *dir;
  TmPicture p;
  GError *error;
} Fix;

static void set_up(Fix *f, gconstpointer data) {
  (void)data;
  *f = (Fix){.dir = tmp_new()};
}

static void tear_down(Fix *f, gconstpointer data) {
  (void)data;
  tm_picture_clear(&f->p);
  g_clear_error(&f->error);
  tmp_remove(f->dir);
}

static gboolean read_with(Fix *f, const char *name, const TmPictureOptions *o) {
  g_autofree char *path = tmp_path(f->dir, name);
  tm_picture_clear(&f->p);
  g_clear_error(&f->error);
  const gboolean ok = tm_image_read_picture(path, o, &f->p, &f->error);
  g_assert_true(ok == (f->error == NULL));
  return ok;
}

static void expect_ok(Fix *f, const char *name) {
  read_with(f, name, NULL);
  g_assert_no_error(f->error);
}

/* Refused with @code, the file's name and @words in the sentence. */
static void expect_refused(Fix *f, const char *name, int code, const char *words) {
  g_assert_false(read_with(f, name, NULL));
  g_assert_error(f->error, TM_ERROR, code);
  g_assert_nonnull(strstr(f->error->message, name));
  if (!strstr(f->error->message, words)) g_error("“%s” does not say “%s”", f->error->message, words);
  g_assert_null(f->p.rgb);
}

static guint32 at(const Fix *f, int x, int y) {
  const guint8 *p = f->p.rgb + ((gsize)y * (gsize)f->p.w + (gsize)x) * 3;
  return (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
}

static void put_spec(Fix *f, const char *name, const PngSpec *s) {
  put_array(f->dir, name, png_make(s));
}

static void test_rgb_exact(Fix *f, gconstpointer data) {
  (void)data;
  const guint8 rgb[] = {1, 2, 3, 250, 0, 7, 255, 255, 255, 0, 0, 0, 9, 8, 7, 100, 101, 102};
  put_rgb(f->dir, "a.png", 3, 2, rgb, 0);
  expect_ok(f, "a.png");
  g_assert_cmpint(f->p.w, ==, 3);
  g_assert_cmpint(f->p.h, ==, 2);
  g_assert_cmpmem(f->p.rgb, 18, rgb, 18);
  g_assert_cmpuint(f->p.traits, ==, 0);
}

static void test_alpha_dropped(Fix *f, gconstpointer data) {
  (void)data;
  const guint8 rgba[] = {200, 100, 50, 0, 10, 20, 30, 255, 1, 2, 3, 128, 4, 5, 6, 1};
  put_spec(f, "a.png", &(PngSpec){.w = 2, .h = 2, .depth = 8, .type = RGBA, .samples = rgba});
  expect_ok(f, "a.png");
  g_assert_cmphex(at(f, 0, 0), ==, 0xc86432); /* not premultiplied to black */
  g_assert_cmphex(at(f, 0, 1), ==, 0x010203);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_ALPHA);
}

static void test_transparent_palette(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) extra = g_byte_array_new();
  png_chunk(extra, "PLTE", (const guint8[]){10, 20, 30, 200, 100, 50}, 6);
  png_chunk(extra, "tRNS", (const guint8[]){0}, 1);
  const guint8 index[] = {0, 1, 1, 0, 1};
  put_spec(f, "a.png",
           &(PngSpec){.w = 5,
                      .h = 1,
                      .depth = 1,
                      .type = PALETTE,
                      .samples = index,
                      .extra = extra->data,
                      .n_extra = extra->len});
  expect_ok(f, "a.png");
  g_assert_cmphex(at(f, 0, 0), ==, 0x0a141e);
  g_assert_cmphex(at(f, 4, 0), ==, 0xc86432);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_PALETTE | TM_IMAGE_ALPHA);
}

static void test_grey_png(Fix *f, gconstpointer data) {
  (void)data;
  const guint8 bits[] = {0, 1, 1}, deep[] = {0x12, 0x34, 0xff, 0xff, 0x80, 0x80};
  put_spec(f, "bits.png", &(PngSpec){.w = 3, .h = 1, .depth = 1, .type = GREY, .samples = bits});
  expect_ok(f, "bits.png");
  g_assert_cmphex(at(f, 0, 0), ==, 0);
  g_assert_cmphex(at(f, 1, 0), ==, 0xffffff); /* a picture is spread over 0..255, a mask is not */
  put_spec(f, "deep.png", &(PngSpec){.w = 3, .h = 1, .depth = 16, .type = GREY, .samples = deep});
  expect_ok(f, "deep.png");
  g_assert_cmphex(at(f, 0, 0), ==, 0x121212);
  g_assert_cmphex(at(f, 1, 0), ==, 0xffffff);
  g_assert_cmphex(at(f, 2, 0), ==, 0x808080);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_GREY | TM_IMAGE_DEEP);
}

static void test_grey_jpeg(Fix *f, gconstpointer data) {
  (void)data;
  put_array(f->dir, "a.jpg", jpeg_make(&(JpegSpec){.w = 9, .h = 5, .components = 1, .fill = {77}}));
  expect_ok(f, "a.jpg");
  g_assert_cmphex(at(f, 8, 4), ==, 0x4d4d4d);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_GREY);
}

static void test_kind_by_signature(Fix *f, gconstpointer data) {
  (void)data;
  put_array(f->dir, "really_jpeg.png",
            jpeg_make(&(JpegSpec){.w = 8, .h = 8, .components = 3, .fill = {255, 0, 0}}));
  expect_ok(f, "really_jpeg.png");
  put_picture(f->dir, "really_png.jpg", 8, 8);
  expect_ok(f, "really_png.jpg");
  put_text(f->dir, "gif.png", "GIF89a..........");
  expect_refused(f, "gif.png", TM_ERROR_DATA, "GIF");
  put_text(f->dir, "lfs.png", "version https://git-lfs.github.com/spec/v1\n");
  expect_refused(f, "lfs.png", TM_ERROR_DATA, "LFS");
}

/* Pure red as Adobe's programs store it: inverted, with transform 0 (CMYK) or 2 (YCCK). */
static void test_cmyk(Fix *f, gconstpointer data) {
  (void)data;
  for (int ycck = 0; ycck < 2; ycck++) {
    put_array(f->dir, "red.jpg",
              jpeg_make(&(JpegSpec){
                  .w = 8, .h = 8, .components = 4, .ycck = ycck, .adobe = TRUE, .fill = {255, 0, 0, 255}}));
    expect_ok(f, "red.jpg");
    const guint8 *p = f->p.rgb;
    g_assert_true(p[0] > 250 && p[1] < 5 && p[2] < 5);
    g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_CMYK);
  }
  put_array(
      f->dir, "dark.jpg",
      jpeg_make(&(JpegSpec){.w = 8, .h = 8, .components = 4, .adobe = TRUE, .fill = {200, 100, 50, 128}}));
  expect_ok(f, "dark.jpg");
  g_assert_cmpint(ABS(f->p.rgb[0] - 200 * 128 / 255), <, 4);
  g_assert_cmpint(ABS(f->p.rgb[2] - 50 * 128 / 255), <, 4);
}

static void test_cmyk_unknown_is_refused(Fix *f, gconstpointer data) {
  (void)data;
  put_array(f->dir, "plain.jpg",
            jpeg_make(&(JpegSpec){.w = 8, .h = 8, .components = 4, .fill = {255, 0, 0, 255}}));
  expect_refused(f, "plain.jpg", TM_ERROR_DATA, "CMYK");
}

static void test_truncated_jpeg(Fix *f, gconstpointer data) {
  (void)data;
  for (int progressive = 0; progressive < 2; progressive++) {
    GByteArray *b = jpeg_make(
        &(JpegSpec){.w = 200, .h = 150, .components = 3, .gradient = TRUE, .progressive = progressive});
    g_byte_array_set_size(b, b->len * 6 / 10);
    put_array(f->dir, "cut.jpg", b);
    expect_refused(f, "cut.jpg", TM_ERROR_DATA, "cut");
  }
}

static void test_no_jpeg_at_all(Fix *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "text.jpg", "this is a letter, not a picture\n");
  expect_refused(f, "text.jpg", TM_ERROR_DATA, "not a picture");
  put_bytes(f->dir, "stub.jpg", "\xff\xd8\xff\xe0", 4);
  expect_refused(f, "stub.jpg", TM_ERROR_DATA, "stub.jpg");
  put_bytes(f->dir, "soi.jpg", "\xff\xd8\xff", 3);
  expect_refused(f, "soi.jpg", TM_ERROR_DATA, "soi.jpg");
}

static void test_empty_file(Fix *f, gconstpointer data) {
  (void)data;
  put_text(f->dir, "x.jpg", "");
  expect_refused(f, "x.jpg", TM_ERROR_DATA, "empty");
  put_text(f->dir, "x.png", "");
  expect_refused(f, "x.png", TM_ERROR_DATA, "empty");
}

static void flip_bit_after(GByteArray *b, const char *chunk, gsize back) {
  for (guint i = 0; i + 4 < b->len; i++)
    if (memcmp(b->data + i, chunk, 4) == 0) {
      const guint32 n = (guint32)b->data[i - 4] << 24 | (guint32)b->data[i - 3] << 16 |
                        (guint32)b->data[i - 2] << 8 | b->data[i - 1];
      b->data[i + 4 + n + back] ^= 1;
      return;
    }
  g_assert_not_reached();
}

static GByteArray *small_png(void) {
  static guint8 px[64 * 48 * 3];
  for (gsize i = 0; i < sizeof px; i++) px[i] = (guint8)(i * i >> 3);
  return png_make(&(PngSpec){.w = 64, .h = 48, .depth = 8, .type = RGB, .samples = px});
}

static void test_png_checksums(Fix *f, gconstpointer data) {
  (void)data;
  GByteArray *b = small_png();
  flip_bit_after(b, "IHDR", 2);
  put_array(f->dir, "head.png", b);
  expect_refused(f, "head.png", TM_ERROR_DATA, "damaged");
  b = small_png();
  flip_bit_after(b, "IDAT", 1);
  put_array(f->dir, "body.png", b);
  expect_refused(f, "body.png", TM_ERROR_DATA, "CRC");
}

/* Two readings that differ: the file is innocent. The first reading is given, the second comes from the disk.
 */
static void test_memory_fault(Fix *f, gconstpointer data) {
  (void)data;
  put_array(f->dir, "a.png", small_png());
  g_autofree char *path = tmp_path(f->dir, "a.png");
  g_auto(TmFileBytes) first = {0};
  g_assert_true(tm_file_bytes_read(path, &first, NULL));
  g_assert_false(tm_file_bytes_changed(path, &first));
  GError *e = g_error_new(TM_ERROR, TM_ERROR_DATA, "damaged");
  tm_codec_explain_damage(path, &first, &e);
  g_assert_cmpstr(e->message, ==, "damaged");
  first.data[first.size / 2] ^= 4;
  tm_codec_explain_damage(path, &first, &e);
  g_assert_error(e, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(e->message, "memory"));
  g_assert_nonnull(strstr(e->message, "a.png"));
  g_error_free(e);
}

static void test_truncated_png(Fix *f, gconstpointer data) {
  (void)data;
  GByteArray *b = small_png();
  g_byte_array_set_size(b, b->len / 2);
  put_array(f->dir, "cut.png", b);
  expect_refused(f, "cut.png", TM_ERROR_DATA, "cut");
}

static void test_damaged_profile(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) extra = g_byte_array_new();
  png_chunk(extra, "iCCP", (const guint8 *)"x\0\0junkjunkjunk", 15);
  const guint8 rgb[] = {1, 2, 3, 4, 5, 6};
  put_spec(f, "a.png",
           &(PngSpec){.w = 2,
                      .h = 1,
                      .depth = 8,
                      .type = RGB,
                      .samples = rgb,
                      .extra = extra->data,
                      .n_extra = extra->len});
  expect_ok(f, "a.png");
  g_assert_cmpmem(f->p.rgb, 6, rgb, 6);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_WARNED);
}

static void test_too_tall(Fix *f, gconstpointer data) {
  (void)data;
  put_spec(f, "tall.png", &(PngSpec){.w = 8, .h = 1000001, .depth = 8, .type = GREY});
  expect_refused(f, "tall.png", TM_ERROR_DATA, "8×1000001");
  g_assert_nonnull(strstr(f->error->message, "1000000"));
}

static void test_size_checked_before_memory(Fix *f, gconstpointer data) {
  (void)data;
  GByteArray *b = png_make(&(PngSpec){.w = 1, .h = 1, .depth = 8, .type = GREY});
  g_autoptr(GByteArray) head = g_byte_array_new();
  g_byte_array_append(head, (const guint8[]){0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 2, 0, 0, 0}, 13);
  g_autoptr(GByteArray) png = g_byte_array_new();
  g_byte_array_append(png, b->data, 8);
  png_chunk(png, "IHDR", head->data, head->len);
  png_chunk(png, "IDAT", (const guint8 *)"0123456789", 10);
  put_bytes(f->dir, "huge.png", png->data, png->len);
  expect_refused(f, "huge.png", TM_ERROR_DATA, "60000×60000");
  /* Within the pixel limit, but ten bytes cannot hold it. */
  const guint8 claim[] = {0, 0, 0x3a, 0x98, 0, 0, 0x3a, 0x98, 8, 2, 0, 0, 0};
  g_byte_array_set_size(png, 8);
  png_chunk(png, "IHDR", claim, 13);
  png_chunk(png, "IDAT", (const guint8 *)"0123456789", 10);
  put_bytes(f->dir, "claim.png", png->data, png->len);
  expect_refused(f, "claim.png", TM_ERROR_DATA, "15000×15000");
  g_byte_array_unref(b);
}

static void test_one_bit_gigapixel(Fix *f, gconstpointer data) {
  (void)data;
  /* 40000 x 40000 of one bit: a small file. Only the header is needed here: it must be refused before its
   * pixels are touched. */
  const guint8 head[] = {0, 0, 0x9c, 0x40, 0, 0, 0x9c, 0x40, 1, 0, 0, 0, 0};
  g_autoptr(GByteArray) png = g_byte_array_new();
  g_byte_array_append(png, (const guint8 *)"\x89PNG\r\n\x1a\n", 8);
  png_chunk(png, "IHDR", head, 13);
  g_autofree guint8 *zeros = g_malloc0(194000);
  png_chunk(png, "IDAT", zeros, 194000);
  put_bytes(f->dir, "giga.png", png->data, png->len);
  expect_refused(f, "giga.png", TM_ERROR_DATA, "40000×40000");
}

static void test_orientation(Fix *f, gconstpointer data) {
  (void)data;
  GByteArray *b = jpeg_make(&(JpegSpec){.w = 64, .h = 48, .components = 3, .gradient = TRUE});
  jpeg_add_orientation(b, 6);
  put_array(f->dir, "a.jpg", b);
  g_assert_true(read_with(f, "a.jpg", &(TmPictureOptions){.mask_w = 64, .mask_h = 48}));
  g_assert_cmpint(f->p.w, ==, 64);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_UNTURNED);
  g_assert_cmpint(f->p.orientation, ==, 6);
  const guint32 stored_bottom_left = at(f, 0, 47);
  g_assert_true(read_with(f, "a.jpg", &(TmPictureOptions){.mask_w = 48, .mask_h = 64}));
  g_assert_cmpint(f->p.w, ==, 48);
  g_assert_cmpint(f->p.full_w, ==, 48);
  g_assert_cmpint(f->p.h, ==, 64);
  g_assert_cmpuint(f->p.traits, ==, TM_IMAGE_TURNED);
  g_assert_cmphex(at(f, 0, 0), ==, stored_bottom_left); /* 6: turned clockwise */
  expect_ok(f, "a.jpg");                                /* without a mask upright, as viewers show it */
  g_assert_cmpint(f->p.w, ==, 48);
  g_assert_true(read_with(f, "a.jpg", &(TmPictureOptions){.mask_w = 10, .mask_h = 10}));
  g_assert_cmpint(f->p.w, ==, 48);
}

/* Each orientation's definition, as the corner in which the stored first pixel lands and where the second
 * goes. */
static void test_all_orientations(void) {
  static const struct {
    int x, y, x1, y1;
  } want[9] = {{0},          {0, 0, 1, 0}, {2, 0, 1, 0}, {2, 1, 1, 1}, {0, 1, 1, 1},
               {0, 0, 0, 1}, {1, 0, 1, 1}, {1, 2, 1, 1}, {0, 2, 0, 1}};
  guint8 src[18] = {0};
  src[0] = 1;
  src[3] = 2;
  for (int o = 1; o <= 8; o++) {
    guint8 dst[18] = {0};
    tm_exif_turn(src, 3, 2, o, dst);
    const int w = tm_exif_swaps(o) ? 2 : 3;
    g_assert_cmpint(dst[(want[o].y * w + want[o].x) * 3], ==, 1);
    g_assert_cmpint(dst[(want[o].y1 * w + want[o].x1) * 3], ==, 2);
  }
}

static void test_exif_damaged(void) {
  const guint8 tiff[] = {'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                         3,   0,   0, 0,   1, 0, 9, 0, 0, 0, 0, 0,    0};
  g_assert_cmpint(tm_exif_orientation(tiff, sizeof tiff), ==, 1); /* 9 is none */
  for (gsize n = 0; n < sizeof tiff; n++) {
    g_autofree guint8 *cut =
        g_memdup2(tiff, MAX(n, 1)); /* its own block, so that a sanitizer sees a read past the end */
    g_assert_cmpint(tm_exif_orientation(cut, n), ==, 1);
  }
  const guint8 far[] = {'I', 'I', '*', 0, 0xff, 0xff, 0xff, 0xff, 0, 0};
  g_assert_cmpint(tm_exif_orientation(far, sizeof far), ==, 1);
  const guint8 little[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                           0,   1,   0,   0, 0, 8, 0, 0, 0, 0, 0,    0, 0};
  g_assert_cmpint(tm_exif_orientation(little, sizeof little), ==, 8);
}

static void test_png_orientation(Fix *f, gconstpointer data) {
  (void)data;
  g_autoptr(GByteArray) extra = g_byte_array_new();
  const guint8 tiff[] = {'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                         3,   0,   0, 0,   1, 0, 8, 0, 0, 0, 0, 0,    0};
  png_chunk(extra, "eXIf", tiff, sizeof tiff);
  put_spec(f, "a.png",
           &(PngSpec){.w = 5, .h = 3, .depth = 8, .type = RGB, .extra = extra->data, .n_extra = extra->len});
  expect_ok(f, "a.png");
  g_assert_cmpint(f->p.w, ==, 3);
  g_assert_cmpint(f->p.h, ==, 5);
}

static void test_thumbnails(Fix *f, gconstpointer data) {
  (void)data;
  put_jpeg(f->dir, "a.jpg", 800, 400);
  put_picture(f->dir, "a.png", 800, 400);
  for (int k = 0; k < 2; k++) {
    const char *name = k ? "a.png" : "a.jpg";
    g_assert_true(read_with(f, name, &(TmPictureOptions){.max_side = 100}));
    g_assert_cmpint(f->p.w, ==, 100);
    g_assert_cmpint(f->p.h, ==, 50);
    g_assert_cmpint(f->p.full_w, ==, 800);
    g_assert_cmpint(f->p.full_h, ==, 400);
    g_assert_cmpint(ABS((int)(at(f, 50, 25) >> 16) - 128), <, 6);
    g_assert_cmpint((int)(at(f, 99, 25) >> 16), >, 245);
  }
  g_assert_true(read_with(f, "a.png", &(TmPictureOptions){.max_side = 2000}));
  g_assert_cmpint(f->p.w, ==, 800);
}

static void test_wide_strip(Fix *f, gconstpointer data) {
  (void)data;
  put_rgb(f->dir, "strip.png", 20000, 16, NULL, 0x336699);
  g_assert_true(read_with(f, "strip.png", &(TmPictureOptions){.max_side = 64}));
  g_assert_cmpint(f->p.w, ==, 64);
  g_assert_cmpint(f->p.h, ==, 1);
  g_assert_cmphex(at(f, 63, 0), ==, 0x336699);
}

static void test_info(Fix *f, gconstpointer data) {
  (void)data;
  GByteArray *b = jpeg_make(&(JpegSpec){.w = 64, .h = 48, .components = 3});
  jpeg_add_orientation(b, 3);
  g_byte_array_set_size(b, b->len - 20); /* the header is whole */
  put_array(f->dir, "a.jpg", b);
  g_autofree char *path = tmp_path(f->dir, "a.jpg");
  TmImageInfo info;
  g_assert_true(tm_image_info(path, &info, &f->error));
  g_assert_cmpint(info.w, ==, 64);
  g_assert_cmpint(info.orientation, ==, 3);
  g_assert_cmpint(info.kind, ==, TM_IMAGE_JPEG);
}

static void test_no_regular_file(Fix *f, gconstpointer data) {
  (void)data;
  g_autofree char *pipe_path = tmp_path(f->dir, "pipe.png");
  g_free(tmp_path(f->dir, "dir.png/x")); /* makes the folder */
  g_assert_cmpint(mkfifo(pipe_path, 0600), ==, 0);
  expect_refused(f, "pipe.png", TM_ERROR_FILE, "not a file"); /* and does not wait for a writer */
  expect_refused(f, "dir.png", TM_ERROR_FILE, "not a file");
  expect_refused(f, "missing.png", TM_ERROR_FILE, "cannot be read");
}

static void test_extensions(void) {
  g_assert_true(tm_image_name_is_read("IMG_1.JPG"));
  g_assert_true(tm_image_name_is_read("b.JpEg"));
  g_assert_true(tm_image_name_is_read("a.b.PNG"));
  g_assert_false(tm_image_name_is_read(".png"));
  g_assert_false(tm_image_name_is_read("png"));
  g_assert_false(tm_image_name_is_read("a.png.txt"));
  g_assert_true(tm_image_name_is_other("x.TIFF"));
}

static gpointer decode_many(gpointer dir) {
  g_autofree char *jpeg = tmp_path(dir, "a.jpg"), *cut = tmp_path(dir, "cut.jpg"),
                  *png = tmp_path(dir, "a.png");
  for (int k = 0; k < 40; k++) {
    g_auto(TmPicture) a = {0}, b = {0}, c = {0};
    g_assert_true(tm_image_read_picture(jpeg, NULL, &a, NULL));
    g_assert_false(tm_image_read_picture(cut, NULL, &b, NULL));
    g_assert_true(tm_image_read_picture(png, NULL, &c, NULL));
  }
  return NULL;
}

static void test_threads(Fix *f, gconstpointer data) {
  (void)data;
  put_jpeg(f->dir, "a.jpg", 120, 90);
  put_picture(f->dir, "a.png", 120, 90);
  GByteArray *b = jpeg_make(&(JpegSpec){.w = 120, .h = 90, .components = 3, .gradient = TRUE});
  g_byte_array_set_size(b, b->len / 2);
  put_array(f->dir, "cut.jpg", b);
  GThread *t[4];
  for (int k = 0; k < 4; k++) t[k] = g_thread_new("decode", decode_many, f->dir);
  for (int k = 0; k < 4; k++) g_thread_join(t[k]);
}

#define ADD(name, fn) g_test_add("/data/image/" name, Fix, NULL, set_up, fn, tear_down)

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("rgb-exact", test_rgb_exact);
  ADD("alpha-dropped", test_alpha_dropped);
  ADD("transparent-palette", test_transparent_palette);
  ADD("grey-png", test_grey_png);
  ADD("grey-jpeg", test_grey_jpeg);
  ADD("kind-by-signature", test_kind_by_signature);
  ADD("cmyk", test_cmyk);
  ADD("cmyk-unknown", test_cmyk_unknown_is_refused);
  ADD("truncated-jpeg", test_truncated_jpeg);
  ADD("no-jpeg", test_no_jpeg_at_all);
  ADD("empty", test_empty_file);
  ADD("png-checksums", test_png_checksums);
  ADD("memory-fault", test_memory_fault);
  ADD("truncated-png", test_truncated_png);
  ADD("damaged-profile", test_damaged_profile);
  ADD("too-tall", test_too_tall);
  ADD("size-before-memory", test_size_checked_before_memory);
  ADD("one-bit-gigapixel", test_one_bit_gigapixel);
  ADD("orientation", test_orientation);
  ADD("png-orientation", test_png_orientation);
  ADD("thumbnails", test_thumbnails);
  ADD("wide-strip", test_wide_strip);
  ADD("info", test_info);
  ADD("no-regular-file", test_no_regular_file);
  ADD("threads", test_threads);
  g_test_add_func("/data/image/all-orientations", test_all_orientations);
  g_test_add_func("/data/image/exif-damaged", test_exif_damaged);
  g_test_add_func("/data/image/extensions", test_extensions);
  return g_test_run();
}
