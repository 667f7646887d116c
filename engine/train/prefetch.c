#include "engine/train/prefetch.h"

enum { AHEAD = 4 };

struct _TmPrefetch {
  TmSampleCache *cache;
  GThread *thread;
  guint *entries, n;
  GMutex lock;
  GCond moved;  /* an item came or went, or the end was asked for */
  GQueue ready; /* TmFetched, under lock */
  guint taken;  /* under lock */
  gboolean end; /* under lock */
};

void tm_fetched_free(TmFetched *f) {
  if (!f) return;
  tm_sample_clear(&f->own);
  g_clear_error(&f->error);
  g_free(f);
}

static gpointer read_all(gpointer user) {
  TmPrefetch *p = user;
  for (guint i = 0; i < p->n; i++) {
    TmFetched *f = g_new0(TmFetched, 1);
    f->entry = p->entries[i];
    double seconds = 0;
    f->sample = tm_sample_cache_get(p->cache, f->entry, &f->own, &seconds, &f->error);
    g_mutex_lock(&p->lock);
    while (!p->end && p->ready.length >= AHEAD) g_cond_wait(&p->moved, &p->lock);
    const gboolean end = p->end;
    g_queue_push_tail(&p->ready, f);
    g_cond_broadcast(&p->moved);
    g_mutex_unlock(&p->lock);
    if (end) break;
  }
  return NULL;
}

TmPrefetch *tm_prefetch_new(TmSampleCache *cache, const guint *entries, guint n) {
  TmPrefetch *p = g_new0(TmPrefetch, 1);
  p->cache = cache;
  p->n = n;
  p->entries = g_memdup2(entries, n * sizeof *entries);
  g_mutex_init(&p->lock);
  g_cond_init(&p->moved);
  g_queue_init(&p->ready);
  p->thread = g_thread_new("prefetch", read_all, p);
  return p;
}

TmFetched *tm_prefetch_next(TmPrefetch *p) {
  if (p->taken == p->n) return NULL;
  g_mutex_lock(&p->lock);
  while (p->ready.length == 0) g_cond_wait(&p->moved, &p->lock);
  TmFetched *f = g_queue_pop_head(&p->ready);
  p->taken++;
  g_cond_broadcast(&p->moved);
  g_mutex_unlock(&p->lock);
  return f;
}

void tm_prefetch_free(TmPrefetch *p) {
  if (!p) return;
  g_mutex_lock(&p->lock);
  p->end = TRUE;
  g_cond_broadcast(&p->moved);
  g_mutex_unlock(&p->lock);
  g_thread_join(p->thread);
  g_queue_clear_full(&p->ready, (GDestroyNotify)tm_fetched_free);
  g_mutex_clear(&p->lock);
  g_cond_clear(&p->moved);
  g_free(p->entries);
  g_free(p);
}
