/* sample_cache.h: decoded samples: in memory, so that a dataset that fits is decoded once a run, and before
 * that on disk, so that it is decoded once over all runs. */
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/picture_store.h"

typedef struct _TmSampleCache TmSampleCache;

/** @budget: bytes it may hold; 0 chooses: 1 GiB or half of the memory that is free now, whichever is less.
 * @store: on disk; borrowed; NULL: none. */
TmSampleCache *tm_sample_cache_new(TmDataset *d, gsize budget, TmPictureStore *store);
/** What it would hold of pictures that take @bytes decoded. */
gsize tm_sample_cache_memory(gsize budget, gsize bytes);
void tm_sample_cache_free(TmSampleCache *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmSampleCache, tm_sample_cache_free)

/** Entry @i decoded. Either kept (borrowed until the cache is freed; @own stays empty) or, when there is no
 * room, given in @own, which the caller clears. @seconds is increased by the time it took to get it. NULL
 * with the error of the file. Any thread. */
const TmSample *tm_sample_cache_get(TmSampleCache *c, guint i, TmSample *own, double *seconds,
                                    GError **error);
