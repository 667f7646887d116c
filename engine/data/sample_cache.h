/* sample_cache.h: keeps decoded samples in memory, so that a dataset that fits is decoded once a run. */
#pragma once

#include "engine/data/dataset.h"

typedef struct _TmSampleCache TmSampleCache;

/** @budget: bytes it may hold; 0 chooses: 1 GiB or half of the memory that is free now, whichever is less. */
TmSampleCache *tm_sample_cache_new(TmDataset *d, gsize budget);
/** What it would hold of pictures that take @bytes decoded. */
gsize tm_sample_cache_memory(gsize budget, gsize bytes);
void tm_sample_cache_free(TmSampleCache *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmSampleCache, tm_sample_cache_free)

/** Entry @i decoded. Either kept (borrowed until the cache is freed; @own stays empty) or, when the budget is
 * spent, decoded into @own, which the caller clears. @seconds is increased by the time decoding took. NULL
 * with the error of the file. Any thread. */
const TmSample *tm_sample_cache_get(TmSampleCache *c, guint i, TmSample *own, double *seconds,
                                    GError **error);
