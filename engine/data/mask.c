#include "engine/data/mask.h"

#include <glib/gi18n.h>
#include <string.h>

#include "engine/data/codec.h"
#include "engine/core/label.h"

void tm_mask_clear(TmMask *m) {
  g_free(m->px);
  *m = (TmMask){0};
}

gboolean tm_mask_read(const char *path, TmMask *out, GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  g_auto(TmFileBytes) b = {0};
  TmImageKind kind;
  if (!tm_file_bytes_read(path, &b, error) || !tm_codec_kind(&b, name, &kind, error)) return FALSE;
  if (kind == TM_IMAGE_JPEG) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is a JPEG: lossy compression changes label values, so it is not used as a mask. Save "
                  "masks as PNG from their source."),
                name);
    return FALSE;
  }
  gboolean damaged = FALSE;
  g_autoptr(GError) own = NULL;
  if (tm_png_read_mask(&b, name, out, &damaged, &own)) return TRUE;
  if (damaged) tm_codec_explain_damage(path, &b, &own);
  g_propagate_error(error, g_steal_pointer(&own));
  return FALSE;
}

static guint32 rgb_at(const guint8 *p) {
  return (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
}

static gint32 raw_value(const TmMask *m, gsize i) {
  if (m->bytes == 1) return m->px[i];
  if (m->bytes == 2) {
    guint16 v;
    memcpy(&v, m->px + 2 * i, 2);
    return v;
  }
  return (gint32)rgb_at(m->px + 3 * i);
}

/* The colour a viewer shows for a grey or palette value; -1 where there is none that 8 bits can say. */
static gint32 shown_colour(const TmMask *m, gint32 v) {
  if (m->kind == TM_MASK_RGB) return v;
  if (m->kind == TM_MASK_PALETTE) return v < (gint32)m->n_palette ? (gint32)m->palette[v] : -1;
  const gint32 most = (1 << m->depth) - 1;
  if (v * 255 % most) return -1;
  return v * 255 / most * 0x010101;
}

gint32 tm_mask_value(const TmMask *m, gsize i, gboolean colour) {
  const gint32 v = raw_value(m, i);
  return colour ? shown_colour(m, v) : v;
}

gboolean tm_mask_is_flat_rgb(const TmMask *m) {
  if (m->kind != TM_MASK_RGB) return FALSE;
  const gsize n = (gsize)m->w * (gsize)m->h;
  for (gsize i = 0; i < n; i++)
    if (m->px[3 * i] != m->px[3 * i + 1] || m->px[3 * i] != m->px[3 * i + 2]) return FALSE;
  return TRUE;
}

static int by_value(gconstpointer a, gconstpointer b) {
  const gint32 x = ((const TmMaskValue *)a)->value, y = ((const TmMaskValue *)b)->value;
  return (x > y) - (x < y);
}

/* Counts runs, so that the table is asked once a run and not once a pixel. */
static GArray *count_runs(const TmMask *m, gboolean flat, gboolean colour, guint max) {
  g_autoptr(GHashTable) where = g_hash_table_new(NULL, NULL);
  GArray *a = g_array_new(FALSE, FALSE, sizeof(TmMaskValue));
  const gsize n = (gsize)m->w * (gsize)m->h;
  for (gsize i = 0, end; i < n; i = end) {
    const gint32 raw = raw_value(m, i);
    for (end = i + 1; end < n && raw_value(m, end) == raw;) end++;
    const gint32 v = flat ? raw & 0xff : colour ? shown_colour(m, raw) : raw;
    gpointer at = g_hash_table_lookup(where, GINT_TO_POINTER(v));
    if (at) {
      g_array_index(a, TmMaskValue, GPOINTER_TO_UINT(at) - 1).count += end - i;
      continue;
    }
    if (a->len == max) {
      g_array_unref(a);
      return NULL;
    }
    const TmMaskValue one = {
        .value = v, .count = end - i, .x = (int)(i % (gsize)m->w), .y = (int)(i / (gsize)m->w)};
    g_array_append_val(a, one);
    g_hash_table_insert(where, GINT_TO_POINTER(v), GUINT_TO_POINTER(a->len));
  }
  g_array_sort(a, by_value);
  return a;
}

GArray *tm_mask_values(const TmMask *m, TmMaskCode code, guint max) {
  const gboolean flat = code == TM_MASK_INDEX && tm_mask_is_flat_rgb(m);
  return count_runs(m, flat, code == TM_MASK_COLOUR, max);
}

/* A table of all values of a 1- or 2-byte mask. */
static gboolean labels_by_table(const TmMask *m, const TmClassTable *t, guint8 *labels) {
  const gsize size = m->bytes == 1 ? 256 : 65536, n = (gsize)m->w * (gsize)m->h;
  g_autofree guint8 *lut = g_try_malloc(size);
  if (!lut) return FALSE;
  memset(lut, TM_VOID, size);
  if (t->code == TM_MASK_INDEX) {
    for (guint c = 0; c < t->n; c++)
      if (t->classes[c].value >= 0 && (gsize)t->classes[c].value < size) lut[t->classes[c].value] = (guint8)c;
    for (guint k = 0; k < t->n_also; k++)
      if (t->also[k].value >= 0 && (gsize)t->also[k].value < size) lut[t->also[k].value] = t->also[k].index;
    for (guint v = 0; v < t->n_void; v++)
      if (t->void_values[v] >= 0 && (gsize)t->void_values[v] < size) lut[t->void_values[v]] = TM_VOID;
  } else {
    for (gsize v = 0; v < size; v++) {
      const int c = tm_class_table_index(t, shown_colour(m, (gint32)v));
      if (c >= 0) lut[v] = (guint8)c;
    }
  }
  if (m->bytes == 1)
    for (gsize i = 0; i < n; i++) labels[i] = lut[m->px[i]];
  else
    for (gsize i = 0; i < n; i++) labels[i] = lut[raw_value(m, i)];
  return TRUE;
}

static void labels_by_colour(const TmMask *m, const TmClassTable *t, gboolean flat, guint8 *labels) {
  const gsize n = (gsize)m->w * (gsize)m->h;
  g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL); /* value to label + 1 */
  for (gsize i = 0, end; i < n; i = end) {
    const gint32 raw = raw_value(m, i);
    for (end = i + 1; end < n && raw_value(m, end) == raw;) end++;
    gpointer at = g_hash_table_lookup(known, GINT_TO_POINTER(raw));
    if (!at) {
      const int c = tm_class_table_index(t, flat ? raw & 0xff : raw);
      at = GINT_TO_POINTER((c < 0 ? TM_VOID : c) + 1);
      g_hash_table_insert(known, GINT_TO_POINTER(raw), at);
    }
    memset(labels + i, GPOINTER_TO_INT(at) - 1, end - i);
  }
}

gboolean tm_mask_labels(const TmMask *m, const TmClassTable *t, const char *path, guint8 *labels,
                        GError **error) {
  g_autofree char *name = g_filename_display_name(path);
  if (m->kind != TM_MASK_RGB) {
    if (labels_by_table(m, t, labels)) return TRUE;
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory to read “%s”."), name);
    return FALSE;
  }
  const gboolean flat = t->code == TM_MASK_INDEX && tm_mask_is_flat_rgb(m);
  if (t->code == TM_MASK_INDEX && !flat) {
    g_set_error(error, TM_ERROR, TM_ERROR_DATA,
                _("“%s” is a colour-coded mask, and the classes of this dataset are given by grey values. "
                  "Add a label_colors.txt with “R G B name” lines."),
                name);
    return FALSE;
  }
  labels_by_colour(m, t, flat, labels);
  return TRUE;
}

gboolean tm_mask_looks_smoothed(const TmMask *m) {
  enum { FEW = 16, MOST = 65536 };
  g_autoptr(GArray) values = tm_mask_values(m, TM_MASK_INDEX, MOST);
  if (values && values->len <= FEW) return FALSE;
  /* Values that cover less than 1 % of the picture: labels still lie in areas, the steps of a soft edge do
   * not. */
  const gsize n = (gsize)m->w * (gsize)m->h;
  g_autoptr(GHashTable) common = g_hash_table_new(NULL, NULL);
  for (guint i = 0; values && i < values->len; i++) {
    const TmMaskValue *v = &g_array_index(values, TmMaskValue, i);
    if (v->count * 100 >= n) g_hash_table_add(common, GINT_TO_POINTER(v->value));
  }
  const gboolean flat = tm_mask_is_flat_rgb(m);
  guint64 rare = 0, alone = 0;
  for (gsize i = 0; i < n; i++) {
    const gint32 raw = raw_value(m, i), v = flat ? raw & 0xff : raw;
    if (g_hash_table_contains(common, GINT_TO_POINTER(v))) continue;
    const gsize x = i % (gsize)m->w;
    const gboolean left = x > 0 && raw_value(m, i - 1) == raw,
                   up = i >= (gsize)m->w && raw_value(m, i - (gsize)m->w) == raw;
    const gboolean right = x + 1 < (gsize)m->w && raw_value(m, i + 1) == raw,
                   down = i + (gsize)m->w < n && raw_value(m, i + (gsize)m->w) == raw;
    rare++;
    alone += left + up + right + down <= 1;
  }
  return rare > 0 && alone * 2 > rare;
}
