#include "engine/data/sample_cache.h"

#include "engine/core/free_memory.h"

/* Samples are never thrown out again: with every picture read once an epoch in random order, a fixed part
 * kept gives as many hits as any order of eviction, and a borrowed sample stays valid without counting. */
struct _TmSampleCache {
  TmDataset *dataset;
  GMutex lock;
  TmSample **kept; /* by entry; set once, under the lock */
  guint n;
  gsize budget, used;
};

static gsize budget_of(gsize budget) {
  return budget ? budget : MIN((gsize)1 << 30, tm_free_memory() / 2);
}

gsize tm_sample_cache_memory(gsize budget, gsize bytes) {
  return MIN(budget_of(budget), bytes);
}

TmSampleCache *tm_sample_cache_new(TmDataset *d, gsize budget) {
  TmSampleCache *c = g_new0(TmSampleCache, 1);
  c->dataset = tm_dataset_ref(d);
  g_mutex_init(&c->lock);
  c->n = tm_dataset_n(d);
  c->kept = g_try_new0(TmSample *, c->n);
  c->budget = budget_of(budget);
  return c;
}

void tm_sample_cache_free(TmSampleCache *c) {
  if (!c) return;
  for (guint i = 0; c->kept && i < c->n; i++) {
    if (!c->kept[i]) continue;
    tm_sample_clear(c->kept[i]);
    g_free(c->kept[i]);
  }
  g_free(c->kept);
  g_mutex_clear(&c->lock);
  tm_dataset_unref(c->dataset);
  g_free(c);
}

static const TmSample *look_up(TmSampleCache *c, guint i) {
  g_mutex_lock(&c->lock);
  const TmSample *s = c->kept && i < c->n ? c->kept[i] : NULL;
  g_mutex_unlock(&c->lock);
  return s;
}

/* Keeps @own if there is room. Of two threads that decoded the same entry, the second uses what the first has
 * kept. */
static const TmSample *keep(TmSampleCache *c, guint i, TmSample *own) {
  const gsize bytes = (gsize)own->w * (gsize)own->h * (own->labels ? 4 : 3);
  const TmSample *result = own;
  g_mutex_lock(&c->lock);
  if (c->kept && c->kept[i])
    result = c->kept[i];
  else if (c->kept && bytes <= c->budget - c->used) {
    c->kept[i] = g_memdup2(own, sizeof *own);
    c->used += bytes;
    *own = (TmSample){0};
    result = c->kept[i];
  }
  g_mutex_unlock(&c->lock);
  return result;
}

const TmSample *tm_sample_cache_get(TmSampleCache *c, guint i, TmSample *own, double *seconds,
                                    GError **error) {
  const TmSample *s = look_up(c, i);
  if (s) return s;
  const gint64 t0 = g_get_monotonic_time();
  const gboolean read = tm_dataset_read(c->dataset, i, own, error);
  *seconds += 1e-6 * (double)(g_get_monotonic_time() - t0);
  return read ? keep(c, i, own) : NULL;
}
