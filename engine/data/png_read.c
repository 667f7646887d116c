/* png_read.c: PNG by libpng. Every call that can fail runs inside guarded(), whose frame holds the only
 * setjmp: libpng's errors land there. */
#include "engine/data/codec.h"

#include <glib/gi18n.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "engine/data/exif.h"

/* Deflate cannot grow data more than this: 258 bytes from two bits, and a little. */
enum { DEFLATE_MOST = 1040 };

typedef struct {
  const guint8 *data;
  gsize size, pos;
  png_structp png;
  png_infop info;
  char message[160];
  guint warnings;
  guint32 w, h;
  int depth, type, passes;
  guint8 *pixels; /* where body_pixels() writes */
  gsize stride;
  guint row_bytes; /* what libpng will write a row */
} Reader;

static void on_error(png_structp png, png_const_charp text) {
  Reader *r = png_get_error_ptr(png);
  g_strlcpy(r->message, text, sizeof r->message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
  (void)text;
  ((Reader *)png_get_error_ptr(png))->warnings++;
}

static void on_read(png_structp png, png_bytep to, gsize n) {
  Reader *r = png_get_io_ptr(png);
  if (n > r->size - r->pos) png_error(png, "the file is cut");
  memcpy(to, r->data + r->pos, n);
  r->pos += n;
}

static gboolean guarded(Reader *r, void (*body)(Reader *)) {
  if (setjmp(png_jmpbuf(r->png))) return FALSE;
  body(r);
  return TRUE;
}

static void body_header(Reader *r) {
  /* libpng's own limit would refuse with a riddle; sizes are checked by tm_codec_check_size(), which names
   * them. */
  png_set_user_limits(r->png, 0x7fffffff, 0x7fffffff);
  png_set_read_fn(r->png, r, on_read);
  png_read_info(r->png, r->info);
  int interlace;
  png_get_IHDR(r->png, r->info, &r->w, &r->h, &r->depth, &r->type, &interlace, NULL, NULL);
}

static void body_to_rgb(Reader *r) {
  if (r->type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r->png);
  if (!(r->type & PNG_COLOR_MASK_COLOR)) {
    if (r->depth < 8) png_set_expand_gray_1_2_4_to_8(r->png);
    png_set_gray_to_rgb(r->png);
  }
  if (r->depth == 16) png_set_scale_16(r->png);
  png_set_strip_alpha(r->png); /* also what a tRNS chunk gave to a palette */
  r->passes = png_set_interlace_handling(r->png);
  png_read_update_info(r->png, r->info);
  r->row_bytes = (guint)png_get_rowbytes(r->png, r->info);
}

/* Values as they are: bits unpacked to bytes but not spread over 0..255. */
static void body_exact(Reader *r) {
  if (r->depth < 8) png_set_packing(r->png);
  if (r->depth == 16 && G_BYTE_ORDER == G_LITTLE_ENDIAN) png_set_swap(r->png);
  if (r->type & PNG_COLOR_MASK_ALPHA) png_set_strip_alpha(r->png);
  r->passes = png_set_interlace_handling(r->png);
  png_read_update_info(r->png, r->info);
  r->row_bytes = (guint)png_get_rowbytes(r->png, r->info);
}

static void body_pixels(Reader *r) {
  for (int pass = 0; pass < r->passes; pass++)
    for (guint32 y = 0; y < r->h; y++) png_read_row(r->png, r->pixels + (gsize)y * r->stride, NULL);
  png_read_end(r->png, NULL); /* checks the last checksum, and that the file is whole */
}

static gboolean fail(Reader *r, const char *name, gboolean *damaged, GError **error) {
  const gboolean crc = strstr(r->message, "CRC error") != NULL;
  if (crc && damaged) *damaged = TRUE;
  if (strstr(r->message, "is cut"))
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is cut: its end is missing. Copy it again from its source."), name);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is a damaged PNG (%s). Copy it again from its source."), name, r->message);
  return FALSE;
}

static gboolean open_reader(Reader *r, const TmFileBytes *b, const char *name, gboolean *damaged,
                            GError **error) {
  *r = (Reader){.data = b->data, .size = b->size};
  r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, on_error, on_warning);
  r->info = r->png ? png_create_info_struct(r->png) : NULL;
  if (!r->info) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to decode “%s”."), name);
    return FALSE;
  }
  return guarded(r, body_header) || fail(r, name, damaged, error);
}

static void close_reader(Reader *r) {
  if (r->png) png_destroy_read_struct(&r->png, r->info ? &r->info : NULL, NULL);
}

/* A header can claim any size; the data behind it cannot hold more than deflate allows. */
static gboolean check_claim(const Reader *r, const char *name, double bytes_per_pixel, GError **error) {
  if (!tm_codec_check_size(name, r->w, r->h, bytes_per_pixel, error)) return FALSE;
  const int channels = png_get_channels(r->png, r->info);
  const double raw = (double)r->w * r->h * channels * r->depth / 8.0;
  if (raw <= (double)r->size * DEFLATE_MOST + 4096) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” is cut: its header says %u×%u pixels, and its %zu bytes cannot hold them."), name, r->w,
              r->h, r->size);
  return FALSE;
}

static int orientation(const Reader *r) {
#ifdef PNG_eXIf_SUPPORTED
  png_bytep exif = NULL;
  png_uint_32 n = 0;
  if (png_get_eXIf_1(r->png, r->info, &n, &exif) & PNG_INFO_eXIf) return tm_exif_orientation(exif, n);
#endif
  return 1;
}

static guint traits(const Reader *r) {
  guint t = 0;
  if (r->type == PNG_COLOR_TYPE_PALETTE)
    t |= TM_IMAGE_PALETTE;
  else if (!(r->type & PNG_COLOR_MASK_COLOR))
    t |= TM_IMAGE_GREY;
  if (r->type & PNG_COLOR_MASK_ALPHA || png_get_valid(r->png, r->info, PNG_INFO_tRNS)) t |= TM_IMAGE_ALPHA;
  if (r->depth == 16) t |= TM_IMAGE_DEEP;
  return t;
}

gboolean tm_png_info(const TmFileBytes *b, const char *name, TmImageInfo *out, GError **error) {
  Reader r;
  gboolean ok = open_reader(&r, b, name, NULL, error) && tm_codec_check_size(name, r.w, r.h, 3, error);
  if (ok)
    *out = (TmImageInfo){.kind = TM_IMAGE_PNG, .w = (int)r.w, .h = (int)r.h, .orientation = orientation(&r)};
  close_reader(&r);
  return ok;
}

/* After a transform was set up: room for the pixels, and the pixels. */
static gboolean decode(Reader *r, const char *name, guint bytes_per_pixel, gboolean *damaged,
                       GError **error) {
  r->stride = (gsize)r->w * bytes_per_pixel;
  if (r->row_bytes > r->stride) { /* cannot be; a libpng built otherwise must not write past the row */
    g_strlcpy(r->message, "unexpected row size", sizeof r->message);
    return fail(r, name, damaged, error);
  }
  r->pixels = tm_codec_alloc(name, (guint64)r->stride * r->h, error);
  return r->pixels && (guarded(r, body_pixels) || fail(r, name, damaged, error));
}

gboolean tm_png_read_picture(const TmFileBytes *b, const char *name, TmPicture *out, gboolean *damaged,
                             GError **error) {
  Reader r;
  const gboolean ok = open_reader(&r, b, name, damaged, error) && check_claim(&r, name, 3, error) &&
                      (guarded(&r, body_to_rgb) || fail(&r, name, damaged, error)) &&
                      decode(&r, name, 3, damaged, error);
  if (ok) {
    *out = (TmPicture){.w = (int)r.w,
                       .h = (int)r.h,
                       .rgb = g_steal_pointer(&r.pixels),
                       .traits = traits(&r),
                       .orientation = orientation(&r)};
    if (r.warnings) out->traits |= TM_IMAGE_WARNED;
  }
  g_free(r.pixels);
  close_reader(&r);
  return ok;
}

static void copy_palette(const Reader *r, TmMask *m) {
  png_colorp colours = NULL;
  int n = 0;
  if (!png_get_PLTE(r->png, r->info, &colours, &n)) return;
  m->n_palette = (guint)CLAMP(n, 0, 256);
  for (guint i = 0; i < m->n_palette; i++)
    m->palette[i] = (guint32)colours[i].red << 16 | (guint32)colours[i].green << 8 | colours[i].blue;
}

static gboolean check_mask(const Reader *r, const char *name, GError **error) {
  if (!(r->type & PNG_COLOR_MASK_COLOR) || r->type == PNG_COLOR_TYPE_PALETTE || r->depth == 8) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” is a colour mask with 16 bits a channel; save it with 8 bits a channel or as grey."),
              name);
  return FALSE;
}

gboolean tm_png_read_mask(const TmFileBytes *b, const char *name, TmMask *out, gboolean *damaged,
                          GError **error) {
  Reader r;
  guint bytes = 1;
  gboolean ok = open_reader(&r, b, name, damaged, error) && check_mask(&r, name, error);
  if (ok) {
    const gboolean rgb = r.type & PNG_COLOR_MASK_COLOR && r.type != PNG_COLOR_TYPE_PALETTE;
    bytes = rgb ? 3 : r.depth == 16 ? 2 : 1;
    ok = check_claim(&r, name, bytes, error) && (guarded(&r, body_exact) || fail(&r, name, damaged, error)) &&
         decode(&r, name, bytes, damaged, error);
  }
  if (ok) {
    *out = (TmMask){.w = (int)r.w,
                    .h = (int)r.h,
                    .depth = r.depth,
                    .bytes = (int)bytes,
                    .px = g_steal_pointer(&r.pixels),
                    .warned = r.warnings > 0};
    out->kind = r.type == PNG_COLOR_TYPE_PALETTE ? TM_MASK_PALETTE : bytes == 3 ? TM_MASK_RGB : TM_MASK_GREY;
    copy_palette(&r, out);
  }
  g_free(r.pixels);
  close_reader(&r);
  return ok;
}
