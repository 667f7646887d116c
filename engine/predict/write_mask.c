#include "engine/predict/write_mask.h"

#include <glib/gi18n.h>

#include "engine/data/png_write.h"

static gpointer pixels_new(gsize count, gsize size, GError **error) {
  gpointer p = count <= G_MAXSSIZE / size ? g_try_malloc(MAX(count * size, 1)) : NULL;
  if (!p)
    g_set_error_literal(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                        _("There is no memory to write the mask. Close other programs and try again."));
  return p;
}

static gboolean write_colour(const char *path, const TmClassTable *t, const guint8 *labels, int w, int h,
                             GError **error) {
  const gsize n = (gsize)w * (gsize)h;
  g_autofree guint8 *rgb = pixels_new(n, 3, error);
  if (!rgb) return FALSE;
  for (gsize i = 0; i < n; i++) {
    const gint32 v = labels[i] < t->n ? t->classes[labels[i]].value : 0;
    rgb[i * 3] = (guint8)(v >> 16);
    rgb[i * 3 + 1] = (guint8)(v >> 8);
    rgb[i * 3 + 2] = (guint8)v;
  }
  return tm_png_write_rgb(path, rgb, w, h, error);
}

static gboolean write_grey16(const char *path, const TmClassTable *t, const guint8 *labels, int w, int h,
                             GError **error) {
  const gsize n = (gsize)w * (gsize)h;
  g_autofree guint16 *values = pixels_new(n, sizeof(guint16), error);
  if (!values) return FALSE;
  for (gsize i = 0; i < n; i++) values[i] = labels[i] < t->n ? (guint16)t->classes[labels[i]].value : 0;
  return tm_png_write_grey16(path, values, w, h, error);
}

static gboolean write_index(const char *path, const TmClassTable *t, const guint8 *labels, int w, int h,
                            guint most, GError **error) {
  const gsize n = (gsize)w * (gsize)h;
  guint32 palette[256] = {0}; /* values of no class: black */
  g_autofree guint8 *values = pixels_new(n, 1, error);
  if (!values) return FALSE;
  for (guint i = 0; i < t->n; i++) {
    const guint8 *c = t->classes[i].colour;
    palette[t->classes[i].value] = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
  }
  for (gsize i = 0; i < n; i++) values[i] = labels[i] < t->n ? (guint8)t->classes[labels[i]].value : 0;
  return tm_png_write_index(path, values, w, h, palette, most + 1, error);
}

gboolean tm_write_mask(const char *path, const TmClassTable *t, const guint8 *labels, int w, int h,
                       GError **error) {
  if (t->code == TM_MASK_COLOUR) return write_colour(path, t, labels, w, h, error);
  gint32 least = 0, most = 0;
  for (guint i = 0; i < t->n; i++) {
    least = MIN(least, t->classes[i].value);
    most = MAX(most, t->classes[i].value);
  }
  if (least < 0 || most > G_MAXUINT16) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("The value %d of a class does not fit into a mask file. Values go from 0 to 65535."),
                least < 0 ? least : most);
    return FALSE;
  }
  return most > 255 ? write_grey16(path, t, labels, w, h, error)
                    : write_index(path, t, labels, w, h, (guint)most, error);
}

gboolean tm_write_overlay(const char *path, const TmClassTable *t, const guint8 *rgb, const guint8 *labels,
                          int w, int h, GError **error) {
  const gsize n = (gsize)w * (gsize)h;
  g_autofree guint8 *out = pixels_new(n, 3, error);
  if (!out) return FALSE;
  for (gsize i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      const guint8 own = rgb[i * 3 + c];
      out[i * 3 + c] = labels[i] < t->n ? (guint8)((own + t->classes[labels[i]].colour[c] + 1) / 2) : own;
    }
  return tm_png_write_rgb(path, out, w, h, error);
}
