/* prefetch.h: reads the pictures of a list in order on a thread of its own, a few ahead, so that judging need
 * not wait for decoding. */
#pragma once

#include "engine/data/sample_cache.h"

typedef struct {
  guint entry; /* in the dataset */
  const TmSample *sample; /* the cache's, or own; NULL when it could not be read */
  TmSample own;
  GError *error;
} TmFetched;

void tm_fetched_free(TmFetched *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmFetched, tm_fetched_free)

typedef struct _TmPrefetch TmPrefetch;

/** Begins to read the @n entries (copied) through @cache, which outlives it. Owned by one thread. */
TmPrefetch *tm_prefetch_new(TmSampleCache *cache, const guint *entries, guint n);
/** The next one, waiting for it; NULL after the last. Free with tm_fetched_free(). */
TmFetched *tm_prefetch_next(TmPrefetch *p);
/** May be called before the last was taken: what is under way ends with the picture being read. */
void tm_prefetch_free(TmPrefetch *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmPrefetch, tm_prefetch_free)
