#include "engine/data/sample_cache.h"

#include "engine/core/free_memory.h"
#include "engine/data/picture_key.h"

#include <string.h>

/* A process may have some 65 thousand mappings. */
enum { MOST_MAPS = 16384 };

/* In memory of its own (map NULL) or mapped from the store. */
typedef TmStoredPicture Kept;

/* Samples are never thrown out again: with every picture read once an epoch in random order, a fixed part
 * kept gives as many hits as any order of eviction, and a borrowed sample stays valid without counting. */
struct _TmSampleCache {
  TmDataset *dataset;
  TmPictureStore *store;
  char *classes; /* for keys; NULL without a store */
  GMutex lock;
  Kept **kept; /* by entry; set once, under the lock */
  guint n, n_maps;
  gsize budget, used;
};

static gsize budget_of(gsize budget) {
  return budget ? budget : MIN((gsize)1 << 30, tm_free_memory() / 2);
}

gsize tm_sample_cache_memory(gsize budget, gsize bytes) {
  return MIN(budget_of(budget), bytes);
}

TmSampleCache *tm_sample_cache_new(TmDataset *d, gsize budget, TmPictureStore *store) {
  TmSampleCache *c = g_new0(TmSampleCache, 1);
  c->dataset = tm_dataset_ref(d);
  c->store = store;
  if (store) c->classes = tm_picture_key_classes(tm_dataset_classes(d));
  g_mutex_init(&c->lock);
  c->n = tm_dataset_n(d);
  c->kept = g_try_new0(Kept *, c->n);
  c->budget = budget_of(budget);
  return c;
}

static void kept_free(Kept *k) {
  if (k->map)
    tm_stored_picture_clear(k);
  else
    tm_sample_clear(&k->sample);
  g_free(k);
}

void tm_sample_cache_free(TmSampleCache *c) {
  if (!c) return;
  for (guint i = 0; c->kept && i < c->n; i++)
    if (c->kept[i]) kept_free(c->kept[i]);
  g_free(c->kept);
  g_free(c->classes);
  g_mutex_clear(&c->lock);
  tm_dataset_unref(c->dataset);
  g_free(c);
}

static const TmSample *look_up(TmSampleCache *c, guint i) {
  g_mutex_lock(&c->lock);
  const TmSample *s = c->kept && i < c->n && c->kept[i] ? &c->kept[i]->sample : NULL;
  g_mutex_unlock(&c->lock);
  return s;
}

static gboolean take_room_locked(TmSampleCache *c, const Kept *k) {
  const gsize bytes = (gsize)k->sample.w * (gsize)k->sample.h * (k->sample.labels ? 4 : 3);
  if (bytes > c->budget - c->used || (k->map && c->n_maps == MOST_MAPS)) return FALSE;
  c->used += bytes;
  if (k->map) c->n_maps++;
  return TRUE;
}

/* Takes @k if there is room; NULL when not. Of two threads that read the same entry, the second uses what the
 * first has kept. */
static const TmSample *keep(TmSampleCache *c, guint i, Kept *k) {
  const TmSample *result = NULL;
  g_mutex_lock(&c->lock);
  if (c->kept && c->kept[i]) {
    result = &c->kept[i]->sample;
  } else if (c->kept && take_room_locked(c, k)) {
    c->kept[i] = g_memdup2(k, sizeof *k);
    *k = (Kept){0};
    result = &c->kept[i]->sample;
  }
  g_mutex_unlock(&c->lock);
  return result;
}

static const TmSample *copy(const TmSample *from, TmSample *own) {
  const gsize pixels = (gsize)from->w * (gsize)from->h;
  g_auto(TmSample) s = {.w = from->w, .h = from->h, .rgb = g_try_malloc(pixels * 3)};
  if (from->labels) s.labels = g_try_malloc(pixels);
  if (!s.rgb || (from->labels && !s.labels)) return NULL;
  memcpy(s.rgb, from->rgb, pixels * 3);
  if (from->labels) memcpy(s.labels, from->labels, pixels);
  *own = s;
  s = (TmSample){0};
  return own;
}

static const TmSample *from_store(TmSampleCache *c, guint i, const char *key, TmSample *own) {
  Kept k;
  if (!tm_picture_store_get(c->store, key, &k)) return NULL;
  const TmSample *s = keep(c, i, &k);
  if (!s) s = copy(&k.sample, own);
  tm_stored_picture_clear(&k);
  return s;
}

/* The file must be the same before and after, or something in between was decoded. */
static void to_store(TmSampleCache *c, guint i, const char *key, const TmSample *s) {
  g_autofree char *now = tm_picture_key(tm_dataset_entry(c->dataset, i), c->classes);
  if (g_strcmp0(now, key) == 0) tm_picture_store_put(c->store, key, s);
}

static const TmSample *decode(TmSampleCache *c, guint i, const char *key, TmSample *own, GError **error) {
  if (!tm_dataset_read(c->dataset, i, own, error)) return NULL;
  if (key) to_store(c, i, key, own);
  Kept k = {.sample = *own};
  const TmSample *s = keep(c, i, &k);
  if (!s) return own;
  *own = (TmSample){0};
  tm_sample_clear(&k.sample); /* not taken: another thread was first */
  return s;
}

const TmSample *tm_sample_cache_get(TmSampleCache *c, guint i, TmSample *own, double *seconds,
                                    GError **error) {
  const TmSample *s = look_up(c, i);
  if (s) return s;
  const gint64 t0 = g_get_monotonic_time();
  g_autofree char *key = c->store ? tm_picture_key(tm_dataset_entry(c->dataset, i), c->classes) : NULL;
  if (key) s = from_store(c, i, key, own);
  if (!s) s = decode(c, i, key, own, error);
  *seconds += 1e-6 * (double)(g_get_monotonic_time() - t0);
  return s;
}
