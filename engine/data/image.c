#include "engine/data/image.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/codec.h"
#include "engine/data/exif.h"
#include "engine/core/free_memory.h"
#include "engine/data/resample.h"

/* Below this a picture always fits, and the system is not asked. */
enum { SMALL_BYTES = 64 << 20, TIFF_HEADER = 4 };

typedef struct {
  const char *bytes;
  gsize n;
  const char *format;
} Signature;

static const Signature others[] = {
    {"GIF8", 4, "GIF"},
    {"BM", 2, "BMP"},
    {"II*\0", TIFF_HEADER, "TIFF"},
    {"MM\0*", TIFF_HEADER, "TIFF"},
    {"RIFF", 4, "WebP"},
    {"\0\0\0\fjP  ", 8, "JPEG 2000"},
    {"%PDF", 4, "PDF"},
    {"PK\3\4", 4, "ZIP"},
    {"version https://git-lfs", 23, "Git LFS pointer"},
};

gboolean tm_codec_kind(const TmFileBytes *b, const char *name, TmImageKind *out, GError **error) {
  if (b->size >= 8 && memcmp(b->data, "\x89PNG\r\n\x1a\n", 8) == 0) {
    *out = TM_IMAGE_PNG;
    return TRUE;
  }
  if (b->size >= 3 && memcmp(b->data, "\xff\xd8\xff", 3) == 0) {
    *out = TM_IMAGE_JPEG;
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (b->size >= others[i].n && memcmp(b->data, others[i].bytes, others[i].n) == 0) {
      g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                  _("“%s” is a %s file whatever its name says; PNG and JPEG are read. Convert it to PNG."),
                  name, others[i].format);
      return FALSE;
    }
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” is not a picture: its first bytes are neither PNG's nor JPEG's."), name);
  return FALSE;
}

gboolean tm_codec_check_size(const char *name, guint w, guint h, double bytes_per_pixel, GError **error) {
  const char *refused = NULL;
  if (w < 1 || h < 1) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” has no pixels."), name);
    return FALSE;
  }
  if (w > TM_IMAGE_MAX_SIDE || h > TM_IMAGE_MAX_SIDE)
    refused = _("sides up to 1000000 pixels are read");
  else if ((guint64)w * h > TM_IMAGE_MAX_PIXELS)
    refused = _("pictures up to 536 million pixels are read");
  if (refused) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” has %u×%u pixels; %s. Cut it into tiles."), name, w,
                h, refused);
    return FALSE;
  }
  const double need = (double)w * (double)h * bytes_per_pixel;
  if (need <= SMALL_BYTES) return TRUE;
  const double have = (double)tm_free_memory();
  if (have <= 0 || need <= have / 2) return TRUE; /* half: several pictures are decoded at once */
  g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
              _("“%s” has %u×%u pixels and needs %.1f GB of memory; %.1f GB are free. Cut it into tiles."),
              name, w, h, need / 1e9, have / 1e9);
  return FALSE;
}

guint8 *tm_codec_alloc(const char *name, guint64 bytes, GError **error) {
  guint8 *p = bytes <= G_MAXSSIZE ? g_try_malloc0((gsize)bytes) : NULL;
  if (!p)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to decode “%s” (%.1f MB)."), name,
                (double)bytes / 1e6);
  return p;
}

void tm_codec_explain_damage(const char *path, const TmFileBytes *first, GError **error) {
  if (!tm_file_bytes_changed(path, first))
    return; /* the decoder's sentence is right: damaged as it lies on the disk */
  g_autofree char *name = g_filename_display_name(path);
  g_clear_error(error);
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” had a wrong checksum, and a second reading gave other bytes: the disk or the memory of "
                "this computer is at fault."),
              name);
}

static int choose_orientation(int stored, int w, int h, const TmPictureOptions *o) {
  if (stored == 1 || !o || o->mask_w <= 0) return stored;
  const gboolean swap = tm_exif_swaps(stored);
  if ((swap ? h : w) == o->mask_w && (swap ? w : h) == o->mask_h) return stored;
  return w == o->mask_w && h == o->mask_h ? 1 : stored;
}

static gboolean turn(TmPicture *p, const char *name, const TmPictureOptions *options, GError **error) {
  const int o = choose_orientation(p->orientation, p->full_w, p->full_h, options);
  if (o == 1) {
    if (p->orientation != 1) p->traits |= TM_IMAGE_UNTURNED;
    return TRUE;
  }
  guint8 *upright = tm_codec_alloc(name, (guint64)p->w * (guint64)p->h * 3, error);
  if (!upright) return FALSE;
  tm_exif_turn(p->rgb, p->w, p->h, o, upright);
  g_free(p->rgb);
  p->rgb = upright;
  p->traits |= TM_IMAGE_TURNED;
  if (tm_exif_swaps(o)) {
    const int w = p->w, full_w = p->full_w;
    p->w = p->h;
    p->h = w;
    p->full_w = p->full_h;
    p->full_h = full_w;
  }
  return TRUE;
}

static gboolean reduce(TmPicture *p, const char *name, int max_side, GError **error) {
  const int side = MAX(p->w, p->h);
  if (max_side <= 0 || side <= max_side) return TRUE;
  const TmSample whole = {.w = p->w, .h = p->h, .rgb = p->rgb};
  TmWindow win = {.sw = (int)((gint64)p->w * max_side / side), .sh = (int)((gint64)p->h * max_side / side)};
  win.w = win.sw = MAX(win.sw, 1);
  win.h = win.sh = MAX(win.sh, 1);
  const guint8 black[3] = {0};
  guint8 *small = tm_codec_alloc(name, (guint64)win.w * (guint64)win.h * 3, error);
  if (!small) return FALSE;
  if (!tm_resample_rgb(&whole, &win, black, small)) {
    g_free(small);
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to reduce “%s”."), name);
    return FALSE;
  }
  g_free(p->rgb);
  p->rgb = small;
  p->w = win.w;
  p->h = win.h;
  return TRUE;
}

static gboolean decode(const char *path, const TmFileBytes *b, const char *name, int max_side, TmPicture *out,
                       GError **error) {
  TmImageKind kind;
  if (!tm_codec_kind(b, name, &kind, error)) return FALSE;
  if (kind == TM_IMAGE_JPEG) return tm_jpeg_read_picture(b, name, max_side, out, error);
  gboolean damaged = FALSE;
  if (!tm_png_read_picture(b, name, out, &damaged, error)) {
    if (damaged) tm_codec_explain_damage(path, b, error);
    return FALSE;
  }
  out->full_w = out->w;
  out->full_h = out->h;
  return TRUE;
}

gboolean tm_image_read_picture(const char *path, const TmPictureOptions *options, TmPicture *out,
                               GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  const int max_side = options ? options->max_side : 0;
  g_auto(TmFileBytes) bytes = {0};
  g_auto(TmPicture) p = {0};
  g_autoptr(GError) own =
      NULL; /* so that a caller without interest in the reason still gets the second reading */
  if (!tm_file_bytes_read(path, &bytes, error)) return FALSE;
  if (!decode(path, &bytes, name, max_side, &p, &own) || !turn(&p, name, options, &own) ||
      !reduce(&p, name, max_side, &own)) {
    g_propagate_error(error, g_steal_pointer(&own));
    return FALSE;
  }
  *out = p;
  p.rgb = NULL;
  return TRUE;
}

void tm_picture_clear(TmPicture *p) {
  g_free(p->rgb);
  *p = (TmPicture){0};
}

gboolean tm_image_info(const char *path, TmImageInfo *out, GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  g_auto(TmFileBytes) b = {0};
  TmImageKind kind;
  if (!tm_file_bytes_read(path, &b, error) || !tm_codec_kind(&b, name, &kind, error)) return FALSE;
  return kind == TM_IMAGE_PNG ? tm_png_info(&b, name, out, error) : tm_jpeg_info(&b, name, out, error);
}

static gboolean has_extension(const char *name, const char *const *list) {
  const char *dot = strrchr(name, '.');
  for (guint i = 0; dot && dot != name && list[i]; i++)
    if (g_ascii_strcasecmp(dot + 1, list[i]) == 0) return TRUE;
  return FALSE;
}

gboolean tm_image_name_is_read(const char *name) {
  static const char *const read[] = {"png", "jpg", "jpeg", "jpe", "jfif", NULL};
  return has_extension(name, read);
}

gboolean tm_image_name_is_other(const char *name) {
  static const char *const other[] = {"bmp", "gif", "tif",  "tiff", "webp", "ppm",
                                      "pgm", "jp2", "heic", "avif", "tga",  NULL};
  return has_extension(name, other);
}
