#include "engine/predict/boundary.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>

#include "engine/core/label.h"

typedef struct {
  int dx, dy;
} Offset;

static int by_distance(gconstpointer a, gconstpointer b) {
  const Offset *p = a, *q = b;
  return (p->dx * p->dx + p->dy * p->dy) - (q->dx * q->dx + q->dy * q->dy);
}

/* All offsets within the band, the nearest first: most searches end there. */
static GArray *disc(int band) {
  GArray *offsets = g_array_new(FALSE, FALSE, sizeof(Offset));
  for (int dy = -band; dy <= band; dy++)
    for (int dx = -band; dx <= band; dx++)
      if (dx * dx + dy * dy <= band * band) g_array_append_vals(offsets, &(Offset){dx, dy}, 1);
  g_array_sort(offsets, by_distance);
  return offsets;
}

static guint8 label_at(const guint8 *map, const guint8 *truth, gsize i, guint n) {
  return truth[i] < n && map[i] < n ? map[i] : TM_VOID;
}

/* The class of each boundary pixel, TM_VOID elsewhere. */
static void outline(const guint8 *map, const guint8 *truth, int w, int h, guint n, guint8 *out) {
  static const Offset sides[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const gsize i = (gsize)y * (gsize)w + (gsize)x;
      const guint8 own = label_at(map, truth, i, n);
      out[i] = TM_VOID;
      if (own == TM_VOID) continue;
      for (guint k = 0; k < G_N_ELEMENTS(sides); k++) {
        const int qx = x + sides[k].dx, qy = y + sides[k].dy;
        if (qx < 0 || qx >= w || qy < 0 || qy >= h) continue;
        const guint8 next = label_at(map, truth, (gsize)qy * (gsize)w + (gsize)qx, n);
        if (next != TM_VOID && next != own) out[i] = own;
      }
    }
}

static gboolean is_near(const guint8 *outline, int w, int h, int x, int y, guint8 label,
                        const GArray *offsets) {
  for (guint k = 0; k < offsets->len; k++) {
    const Offset *o = &g_array_index(offsets, Offset, k);
    const int qx = x + o->dx, qy = y + o->dy;
    if (qx >= 0 && qx < w && qy >= 0 && qy < h && outline[(gsize)qy * (gsize)w + (gsize)qx] == label)
      return TRUE;
  }
  return FALSE;
}

/* For each class: boundary pixels of @of, and those of them that have one of @in nearby. */
static void count(const guint8 *of, const guint8 *in, int w, int h, const GArray *offsets, guint64 *all,
                  guint64 *near) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const guint8 label = of[(gsize)y * (gsize)w + (gsize)x];
      if (label == TM_VOID) continue;
      all[label]++;
      near[label] += is_near(in, w, h, x, y, label, offsets);
    }
}

gboolean tm_boundary_f1(const guint8 *truth, const guint8 *call, int w, int h, guint n, int band, double *f1,
                        GError **error) {
  const gsize pixels = (gsize)w * (gsize)h;
  g_autofree guint8 *of_truth = g_try_malloc(pixels), *of_call = g_try_malloc(pixels);
  if (!of_truth || !of_call) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                _("There is no memory for the outlines of a picture of %d×%d pixels."), w, h);
    return FALSE;
  }
  outline(truth, truth, w, h, n, of_truth);
  outline(call, truth, w, h, n, of_call);
  g_autoptr(GArray) offsets = disc(band);
  guint64 called[256] = {0}, hit[256] = {0}, real[256] = {0}, found[256] = {0};
  count(of_call, of_truth, w, h, offsets, called, hit);
  count(of_truth, of_call, w, h, offsets, real, found);
  for (guint c = 0; c < n; c++) {
    const double precision = called[c] ? (double)hit[c] / (double)called[c] : 0,
                 recall = real[c] ? (double)found[c] / (double)real[c] : 0;
    f1[c] = !called[c] && !real[c]     ? NAN
            : precision + recall > 0.0 ? 2 * precision * recall / (precision + recall)
                                       : 0;
  }
  return TRUE;
}
