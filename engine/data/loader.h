/* loader.h: batches for the trainer, decoded and augmented ahead of time on worker threads into a bounded ring.
 *
 * What a batch holds depends only on (seed, epoch, step): sample k of epoch e is entry perm_e[k], augmented from a generator
 * seeded by (seed, e, k). So a position is two numbers, and a resumed run sees what an unbroken one would. A picture that cannot be read is replaced by the next
 * of the epoch's order that can, so that a batch is always whole.
 *
 * Two kinds of worker: patient ones, which step back behind the trainer's threads, and as many that stand by at full priority and only take part while
 * the ring is nearly empty. A process without privileges may lower a thread's priority and never raise it again, so these are two sets of threads. */
#pragma once

#include "engine/data/augment.h"
#include "engine/data/dataset.h"
#include "engine/data/picture_store.h"

typedef struct {
  int n, w, h;
  guint8 *pixels;  /* n*h*w*3 */
  guint8 *labels;  /* n*h*w */
  guint *entries;  /* n indices into the dataset */
  guint epoch, step; /* from 0 */
  guint replaced;    /* pictures that could not be read; another one of the epoch stands in each one's place */
  const char *why;   /* the first of them and its fault, a sentence; NULL when all were read. Borrowed like the rest */
} TmBatch;

typedef enum { TM_LAST_DROP, TM_LAST_KEEP } TmLastBatch; /* the rest of an epoch that does not fill a batch; with fewer pictures than a batch, pictures repeat */

typedef struct {
  TmSplit split;
  int batch;
  gboolean shuffle;
  TmAugment augment; /* crop_w, crop_h must be set: all samples of a batch have one size */
  guint64 seed;
  int threads;       /* of each kind; 0: chosen from the processor */
  int ahead;         /* batches in the ring; 0 gives 4 */
  TmPictureStore *store; /* decoded pictures on disk; outlives the loader; NULL: none */
  gsize kept;        /* bytes of decoded pictures to keep in memory; 0: chosen (sample_cache.h) */
  TmLastBatch last;  /* TM_LAST_KEEP: the epoch's last batch may be smaller than @batch */
} TmLoaderOptions;

typedef struct _TmLoader TmLoader;

/** Starts the workers at @epoch, @step. Owned by one thread (the trainer). TM_ERROR_DATA when the split has no pictures with masks. */
TmLoader *tm_loader_new(TmDataset *d, const TmLoaderOptions *o, guint epoch, guint step, GError **error);
/** Bytes a loader of a split takes whose pictures take @pictures bytes decoded. */
gsize tm_loader_memory(const TmLoaderOptions *o, gsize pictures);
void tm_loader_free(TmLoader *l); /* joins the workers; no wait for undone work */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmLoader, tm_loader_free)

guint tm_loader_steps(const TmLoader *l); /* batches an epoch */
/** The next batch, across epochs without end; blocks until it is there. Borrowed until the next call. NULL when none of the split's pictures can be
 * read, or there is no memory to augment one. */
const TmBatch *tm_loader_next(TmLoader *l, GError **error);
/** Takes effect for samples not begun yet. */
void tm_loader_set_augment(TmLoader *l, const TmAugment *a);
/** Seconds tm_loader_next() has blocked in all, and seconds of decoding and of augmenting summed over the workers. */
void tm_loader_times(TmLoader *l, double *waited, double *decode, double *augment);
