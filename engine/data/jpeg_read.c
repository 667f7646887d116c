/* jpeg_read.c: JPEG by libjpeg. libjpeg's own error handler ends the process, and damage is only a warning
 * that leaves grey rows; here errors jump back to guarded() and so does every warning that means lost pixels.
 */
#include "engine/data/codec.h"

#include <stdio.h>

#include <glib/gi18n.h>
#include <jpeglib.h>
#include <jerror.h>
#include <setjmp.h>
#include <string.h>

#include "engine/data/exif.h"

/* A hostile progressive file has thousands of scans, each as slow as the picture is large. */
enum { MOST_SCANS = 500, ADOBE_CMYK = 0, ADOBE_YCCK = 2 };

typedef struct {
  struct jpeg_decompress_struct j; /* first: libjpeg hands back its address */
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  guint warnings;
  gboolean cut;
  const guint8 *data;
  gsize size;
  int max_side, orientation;
  guint8 *rgb, *line; /* the picture; one row of CMYK */
} Reader;

static void leave(Reader *r) {
  r->errors.format_message((j_common_ptr)&r->j, r->message);
  longjmp(r->jump, 1);
}

static void on_error(j_common_ptr j) {
  leave((Reader *)j);
}

static void on_message(j_common_ptr j, int level) {
  if (level >= 0) return; /* a trace */
  Reader *r = (Reader *)j;
  switch (j->err->msg_code) {
  case JWRN_ADOBE_XFORM:
  case JWRN_EXTRANEOUS_DATA:
  case JWRN_JFIF_MAJOR:
    r->warnings++;
    return; /* the pixels are right */
  case JWRN_JPEG_EOF:
  case JWRN_HIT_MARKER:
    r->cut = TRUE;
    break;
  default:
    break;
  }
  leave(r);
}

static void on_progress(j_common_ptr j) {
  Reader *r = (Reader *)j;
  if (r->j.input_scan_number <= MOST_SCANS) return;
  g_strlcpy(r->message, "too many scans", sizeof r->message);
  longjmp(r->jump, 1);
}

static gboolean guarded(Reader *r, void (*body)(Reader *)) {
  if (setjmp(r->jump)) return FALSE;
  body(r);
  return TRUE;
}

/* libjpeg forgets its markers when decoding ends. */
static int find_orientation(const Reader *r) {
  for (jpeg_saved_marker_ptr m = r->j.marker_list; m; m = m->next)
    if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && memcmp(m->data, "Exif\0", 6) == 0)
      return tm_exif_orientation(m->data + 6, m->data_length - 6);
  return 1;
}

static void body_header(Reader *r) {
  jpeg_create_decompress(&r->j);
  r->j.progress = &r->progress;
  jpeg_mem_src(&r->j, r->data, (unsigned long)r->size);
  jpeg_save_markers(&r->j, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&r->j, TRUE);
  r->orientation = find_orientation(r);
}

/* The smallest eighths that still give the wanted side. */
static void choose_scale(Reader *r) {
  const guint side = MAX(r->j.image_width, r->j.image_height);
  r->j.scale_num = r->j.scale_denom = 8;
  if (r->max_side <= 0) return;
  for (guint n = 1; n < 8; n++)
    if ((guint64)side * n >= (guint64)r->max_side * 8) {
      r->j.scale_num = n;
      return;
    }
}

static void body_start(Reader *r) {
  choose_scale(r);
  r->j.out_color_space = r->j.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_calc_output_dimensions(&r->j);
}

/* Photoshop and all who follow it store 255 for no ink, and libjpeg leaves it so: what is stored are the
 * light's shares. */
static void cmyk_to_rgb(const guint8 *in, guint8 *out, gsize n) {
  for (gsize i = 0; i < n; i++, in += 4, out += 3)
    for (int c = 0; c < 3; c++) out[c] = (guint8)((in[c] * in[3] + 127) / 255);
}

static void body_pixels(Reader *r) {
  jpeg_start_decompress(&r->j);
  const gsize w = r->j.output_width;
  while (r->j.output_scanline < r->j.output_height) {
    guint8 *to = r->rgb + (gsize)r->j.output_scanline * w * 3, *row = r->line ? r->line : to;
    if (jpeg_read_scanlines(&r->j, &row, 1) != 1) continue;
    if (r->line) cmyk_to_rgb(r->line, to, w);
  }
  jpeg_finish_decompress(&r->j);
}

static gboolean fail(Reader *r, const char *name, GError **error) {
  if (r->cut)
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is cut: part of its picture is missing (%s). Copy it again from its source."), name,
                r->message);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is a damaged JPEG (%s). Copy it again from its source."), name, r->message);
  return FALSE;
}

static gboolean open_reader(Reader *r, const TmFileBytes *b, const char *name, GError **error) {
  memset(r, 0, sizeof *r);
  r->data = b->data;
  r->size = b->size;
  r->j.err = jpeg_std_error(&r->errors);
  r->errors.error_exit = on_error;
  r->errors.emit_message = on_message;
  r->progress.progress_monitor = on_progress;
  return guarded(r, body_header) || fail(r, name, error);
}

static void close_reader(Reader *r) {
  jpeg_destroy_decompress(&r->j); /* frees only, also after an error */
  g_free(r->line);
  g_free(r->rgb);
}

/* Without Adobe's marker nobody can tell whether ink or light was stored, and a guess might train on
 * negatives. */
static gboolean check_cmyk(const Reader *r, const char *name, GError **error) {
  const int t = r->j.Adobe_transform;
  if (r->j.num_components != 4 || (r->j.saw_Adobe_marker && (t == ADOBE_CMYK || t == ADOBE_YCCK)))
    return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DATA,
              _("“%s” is a CMYK JPEG that does not say how its inks are stored, so its colours might come "
                "out inverted. Save it as RGB."),
              name);
  return FALSE;
}

/* Progressive files keep all coefficients, two bytes each, until the last scan. */
static double bytes_per_pixel(Reader *r) {
  return 3.0 + (jpeg_has_multiple_scans(&r->j) ? 2.0 * r->j.num_components : 0.0);
}

gboolean tm_jpeg_info(const TmFileBytes *b, const char *name, TmImageInfo *out, GError **error) {
  Reader r;
  const gboolean ok =
      open_reader(&r, b, name, error) &&
      tm_codec_check_size(name, r.j.image_width, r.j.image_height, bytes_per_pixel(&r), error);
  if (ok)
    *out = (TmImageInfo){.kind = TM_IMAGE_JPEG,
                         .w = (int)r.j.image_width,
                         .h = (int)r.j.image_height,
                         .orientation = r.orientation};
  close_reader(&r);
  return ok;
}

static gboolean allocate(Reader *r, const char *name, GError **error) {
  const guint64 w = r->j.output_width, h = r->j.output_height;
  r->rgb = tm_codec_alloc(name, w * h * 3, error);
  if (r->rgb && r->j.out_color_space == JCS_CMYK) r->line = tm_codec_alloc(name, w * 4, error);
  return r->rgb && (r->line || r->j.out_color_space != JCS_CMYK);
}

gboolean tm_jpeg_read_picture(const TmFileBytes *b, const char *name, int max_side, TmPicture *out,
                              GError **error) {
  Reader r;
  gboolean ok = open_reader(&r, b, name, error);
  r.max_side = max_side;
  ok = ok && tm_codec_check_size(name, r.j.image_width, r.j.image_height, bytes_per_pixel(&r), error) &&
       check_cmyk(&r, name, error) && (guarded(&r, body_start) || fail(&r, name, error)) &&
       allocate(&r, name, error) && (guarded(&r, body_pixels) || fail(&r, name, error));
  if (ok) {
    *out = (TmPicture){.w = (int)r.j.output_width,
                       .h = (int)r.j.output_height,
                       .full_w = (int)r.j.image_width,
                       .full_h = (int)r.j.image_height};
    out->rgb = g_steal_pointer(&r.rgb);
    out->orientation = r.orientation;
    out->traits = (r.j.num_components == 1 ? TM_IMAGE_GREY : 0u) |
                  (r.j.num_components == 4 ? TM_IMAGE_CMYK : 0u) | (r.warnings ? TM_IMAGE_WARNED : 0u);
  }
  close_reader(&r);
  return ok;
}
