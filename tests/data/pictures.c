#include "tests/data/pictures.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <jpeglib.h>

char *tmp_new(void) {
  g_autoptr(GError) e = NULL;
  char *dir = g_dir_make_tmp("tarmac-XXXXXX", &e);
  g_assert_no_error(e);
  return dir;
}

static void remove_all(const char *path) {
  if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
      g_autofree char *below = g_build_filename(path, name, NULL);
      remove_all(below);
    }
    if (dir) g_dir_close(dir);
  }
  g_remove(path);
}

void tmp_remove(char *dir) {
  remove_all(dir);
  g_free(dir);
}

char *tmp_path(const char *dir, const char *name) {
  char *path = g_build_filename(dir, name, NULL);
  g_autofree char *parent = g_path_get_dirname(path);
  g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
  return path;
}

void put_bytes(const char *dir, const char *name, const void *data, gsize n) {
  g_autofree char *path = tmp_path(dir, name);
  g_remove(path); /* file systems wait for the disk when a file is cut and written again */
  FILE *f = fopen(path, "wb");
  g_assert_nonnull(f);
  g_assert_cmpuint(fwrite(data, 1, n, f), ==, n);
  g_assert_cmpint(fclose(f), ==, 0);
}

void put_text(const char *dir, const char *name, const char *text) {
  put_bytes(dir, name, text, strlen(text));
}

void put_array(const char *dir, const char *name, GByteArray *b) {
  put_bytes(dir, name, b->data, b->len);
  g_byte_array_unref(b);
}

static void add_u32(GByteArray *to, guint32 v) {
  const guint8 b[4] = {(guint8)(v >> 24), (guint8)(v >> 16), (guint8)(v >> 8), (guint8)v};
  g_byte_array_append(to, b, 4);
}

void png_chunk(GByteArray *to, const char *type, const guint8 *data, gsize n) {
  add_u32(to, (guint32)n);
  const guint from = to->len;
  g_byte_array_append(to, (const guint8 *)type, 4);
  if (n) g_byte_array_append(to, data, (guint)n);
  add_u32(to, (guint32)crc32(0, to->data + from, to->len - from));
}

/* Rows with filter byte 0, samples packed from the high bits down. */
static GByteArray *pack(const PngSpec *s) {
  static const int channels_of[7] = {1, 0, 3, 1, 2, 0, 4};
  const gsize samples = (gsize)s->w * (gsize)channels_of[s->type], row = (samples * (gsize)s->depth + 7) / 8;
  GByteArray *raw = g_byte_array_sized_new((guint)((row + 1) * s->h));
  g_byte_array_set_size(raw, (guint)((row + 1) * s->h));
  memset(raw->data, 0, raw->len);
  for (guint y = 0; s->samples && y < s->h; y++) {
    guint8 *to = raw->data + y * (row + 1) + 1;
    const gsize bytes = s->depth == 16 ? 2 : 1;
    const guint8 *from = s->samples + y * samples * bytes;
    if (s->depth >= 8)
      memcpy(to, from, row);
    else
      for (gsize i = 0; i < samples; i++) {
        const gsize bit = i * (gsize)s->depth;
        to[bit / 8] |= (guint8)(from[i] << (8 - s->depth - (int)(bit % 8)));
      }
  }
  return raw;
}

GByteArray *png_make(const PngSpec *s) {
  GByteArray *png = g_byte_array_new();
  g_byte_array_append(png, (const guint8 *)"\x89PNG\r\n\x1a\n", 8);
  g_autoptr(GByteArray) head = g_byte_array_new(), raw = pack(s);
  add_u32(head, s->w);
  add_u32(head, s->h);
  const guint8 rest[5] = {(guint8)s->depth, (guint8)s->type, 0, 0, 0};
  g_byte_array_append(head, rest, 5);
  png_chunk(png, "IHDR", head->data, head->len);
  if (s->n_extra) g_byte_array_append(png, s->extra, (guint)s->n_extra);
  uLongf n = compressBound(raw->len);
  g_autofree guint8 *packed = g_malloc(n);
  g_assert_cmpint(compress2(packed, &n, raw->data, raw->len, 9), ==, Z_OK);
  png_chunk(png, "IDAT", packed, n);
  png_chunk(png, "IEND", NULL, 0);
  return png;
}

void put_grey(const char *dir, const char *name, guint w, guint h, const guint8 *values, guint8 fill) {
  g_autofree guint8 *own = g_malloc((gsize)w * h);
  memset(own, fill, (gsize)w * h);
  const PngSpec s = {.w = w, .h = h, .depth = 8, .type = GREY, .samples = values ? values : own};
  put_array(dir, name, png_make(&s));
}

void put_rgb(const char *dir, const char *name, guint w, guint h, const guint8 *rgb, guint32 fill) {
  g_autofree guint8 *own = g_malloc((gsize)w * h * 3);
  for (gsize i = 0; i < (gsize)w * h * 3; i++) own[i] = (guint8)(fill >> (16 - 8 * (i % 3)));
  const PngSpec s = {.w = w, .h = h, .depth = 8, .type = RGB, .samples = rgb ? rgb : own};
  put_array(dir, name, png_make(&s));
}

static void gradient(guint8 *rgb, guint w, guint h) {
  for (guint y = 0; y < h; y++)
    for (guint x = 0; x < w; x++) {
      guint8 *p = rgb + ((gsize)y * w + x) * 3;
      p[0] = (guint8)(x * 255 / MAX(w - 1, 1));
      p[1] = (guint8)(y * 255 / MAX(h - 1, 1));
      p[2] = 128;
    }
}

void put_picture(const char *dir, const char *name, guint w, guint h) {
  g_autofree guint8 *rgb = g_malloc((gsize)w * h * 3);
  gradient(rgb, w, h);
  put_rgb(dir, name, w, h, rgb, 0);
}

static void set_colours(struct jpeg_compress_struct *c, const JpegSpec *s) {
  c->input_components = s->components;
  c->in_color_space = s->components == 1 ? JCS_GRAYSCALE : s->components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(c);
  if (s->components == 4) {
    jpeg_set_colorspace(c, s->ycck ? JCS_YCCK : JCS_CMYK);
    c->write_Adobe_marker = s->adobe;
  }
  jpeg_set_quality(c, 95, TRUE);
  if (s->progressive) jpeg_simple_progression(c);
}

GByteArray *jpeg_make(const JpegSpec *s) {
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  guint8 *data = NULL;
  unsigned long n = 0;
  jpeg_mem_dest(&c, &data, &n);
  c.image_width = (JDIMENSION)s->w;
  c.image_height = (JDIMENSION)s->h;
  set_colours(&c, s);
  const gsize row = (gsize)s->w * (gsize)s->components;
  g_autofree guint8 *px = g_malloc(row * (gsize)s->h);
  for (gsize i = 0; i < row * (gsize)s->h; i++) px[i] = s->fill[i % (gsize)s->components];
  if (s->gradient && s->components == 3) gradient(px, (guint)s->w, (guint)s->h);
  jpeg_start_compress(&c, TRUE);
  while (c.next_scanline < c.image_height) {
    guint8 *line = px + c.next_scanline * row;
    jpeg_write_scanlines(&c, &line, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  GByteArray *out = g_byte_array_new();
  g_byte_array_append(out, data, (guint)n);
  free(data);
  return out;
}

void jpeg_add_orientation(GByteArray *jpeg, int orientation) {
  guint8 app1[] = {0xff, 0xe1, 0,    34,   'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, '*', 0, 0, 0, 8,
                   0,    1,    0x01, 0x12, 0,   3,   0,   0,   0, 1, 0,   0,   0, 0,   0, 0, 0, 0};
  app1[29] = (guint8)orientation;
  g_autoptr(GByteArray) rest = g_byte_array_new();
  g_byte_array_append(rest, jpeg->data + 2, jpeg->len - 2);
  g_byte_array_set_size(jpeg, 2);
  g_byte_array_append(jpeg, app1, sizeof app1);
  g_byte_array_append(jpeg, rest->data, rest->len);
}

void put_jpeg(const char *dir, const char *name, int w, int h) {
  const JpegSpec s = {.w = w, .h = h, .components = 3, .gradient = TRUE};
  put_array(dir, name, jpeg_make(&s));
}
