#include "engine/predict/regions.h"

#include <glib/gi18n.h>

#include "engine/core/label.h"

enum { NONE = 0 }; /* the region of void */

typedef struct {
  guint8 label;
  guint64 pixels;
  guint64 agreed; /* truth: pixels called right. prediction: pixels whose truth is of the class */
} Region;

/* One map cut into regions. */
typedef struct {
  guint32 *of;     /* the region of each pixel, from 1 */
  GArray *parents; /* guint32 while it is cut */
  GArray *regions; /* Region; [0] stands for void */
} Map;

static void map_clear(Map *m) {
  g_free(m->of);
  if (m->parents) g_array_unref(m->parents);
  if (m->regions) g_array_unref(m->regions);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Map, map_clear)

static guint32 root(const GArray *parents, guint32 i) {
  guint32 *p = (guint32 *)(void *)parents->data;
  while (p[i] != i) i = p[i] = p[p[i]];
  return i;
}

static void join(const GArray *parents, guint32 a, guint32 b) {
  a = root(parents, a);
  b = root(parents, b);
  if (a == b) return;
  ((guint32 *)(void *)parents->data)[MAX(a, b)] = MIN(a, b);
}

static guint8 label_at(const guint8 *map, const guint8 *truth, gsize i, guint n) {
  return truth[i] < n && map[i] < n ? map[i] : TM_VOID;
}

/* First pass of two: numbers that say which pixels before, at the left and in the row above, are of one
 * region. */
static void number(const guint8 *map, const guint8 *truth, int w, int h, guint n, Map *m) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const gsize i = (gsize)y * (gsize)w + (gsize)x, above = i - (gsize)w;
      const guint8 own = label_at(map, truth, i, n);
      guint32 at = NONE;
      m->of[i] = NONE;
      if (own == TM_VOID) continue;
      const gsize before[] = {i - 1, above - 1, above, above + 1};
      const gboolean there[] = {x > 0, y > 0 && x > 0, y > 0, y > 0 && x + 1 < w};
      for (guint k = 0; k < G_N_ELEMENTS(before); k++) {
        if (!there[k] || label_at(map, truth, before[k], n) != own) continue;
        if (at == NONE)
          at = m->of[before[k]];
        else
          join(m->parents, at, m->of[before[k]]);
      }
      if (at == NONE) {
        at = m->parents->len;
        g_array_append_val(m->parents, at);
      }
      m->of[i] = at;
    }
}

/* Second pass: whole regions in their order, with their pixels counted. */
static void count(const guint8 *map, gsize pixels, Map *m) {
  g_autofree guint32 *whole = g_new0(guint32, m->parents->len);
  for (gsize i = 0; i < pixels; i++) {
    if (m->of[i] == NONE) continue;
    const guint32 r = root(m->parents, m->of[i]);
    if (!whole[r]) {
      whole[r] = m->regions->len;
      g_array_append_vals(m->regions, &(Region){.label = map[i]}, 1);
    }
    m->of[i] = whole[r];
    g_array_index(m->regions, Region, m->of[i]).pixels++;
  }
}

static gboolean cut(const guint8 *map, const guint8 *truth, int w, int h, guint n, Map *m, GError **error) {
  const gsize pixels = (gsize)w * (gsize)h;
  const guint32 none = NONE;
  if (!(m->of = g_try_malloc(pixels * sizeof *m->of))) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                _("There is no memory for the regions of a picture of %d×%d pixels."), w, h);
    return FALSE;
  }
  m->parents = g_array_new(FALSE, FALSE, sizeof(guint32));
  m->regions = g_array_new(FALSE, TRUE, sizeof(Region));
  g_array_append_val(m->parents, none);
  g_array_append_vals(m->regions, &(Region){.label = TM_VOID}, 1);
  number(map, truth, w, h, n, m);
  count(map, pixels, m);
  return TRUE;
}

guint tm_region_size(guint64 pixels) {
  return pixels < 100 ? 0 : pixels < 1000 ? 1 : pixels < 10000 ? 2 : 3;
}

/* Which predicted regions overlap which true one of their class: pairs, each once, as true << 32 | predicted. */
static GHashTable *overlaps(const Map *truth, const Map *call, gsize pixels) {
  GHashTable *pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  guint64 last = 0;
  for (gsize i = 0; i < pixels; i++) {
    const guint32 t = truth->of[i], c = call->of[i];
    if (t == NONE || c == NONE) continue;
    Region *rt = &g_array_index(truth->regions, Region, t), *rc = &g_array_index(call->regions, Region, c);
    if (rt->label != rc->label) continue;
    rt->agreed++;
    rc->agreed++;
    const guint64 pair = (guint64)t << 32 | c;
    if (pair != last) g_hash_table_add(pairs, g_memdup2(&pair, sizeof pair));
    last = pair;
  }
  return pairs;
}

gboolean tm_regions_add(const guint8 *truth, const guint8 *call, int w, int h, guint n, TmRegionScore *scores,
                        GError **error) {
  g_auto(Map) t = {0}, c = {0};
  if (!cut(truth, truth, w, h, n, &t, error) || !cut(call, truth, w, h, n, &c, error)) return FALSE;
  g_autoptr(GHashTable) pairs = overlaps(&t, &c, (gsize)w * (gsize)h);
  /* |(k ∪ K) \ A| = |k| + what the regions of K cover outside of their class. */
  g_autofree guint64 *beyond = g_new0(guint64, t.regions->len);
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, pairs);
  while (g_hash_table_iter_next(&iter, &key, NULL)) {
    const guint64 pair = *(const guint64 *)key;
    const Region *r = &g_array_index(c.regions, Region, (guint32)pair);
    beyond[pair >> 32] += r->pixels - r->agreed;
  }
  for (guint i = 1; i < t.regions->len; i++) {
    const Region *r = &g_array_index(t.regions, Region, i);
    TmRegionScore *s = &scores[r->label * TM_REGION_SIZES + tm_region_size(r->pixels)];
    s->n++;
    s->sum += (double)r->agreed / (double)(r->pixels + beyond[i]);
  }
  return TRUE;
}
