/* alike.h: pictures that look alike: doubles, and neighbours of one video, which flatter the score when they
 * are in different splits.
 *
 * Two steps over what the scan keeps of every picture, so that nothing is decoded again. First a difference
 * hash (N. Krawetz, "Kind of Like That", 2013): 64 bits that say where the luma rises from one cell to the
 * next; pairs whose hashes differ in few bits are then compared by the zero-normalised correlation of their
 * 16 x 16 luma. Every pair is looked at: n^2 / 2 comparisons of one word, 60,000 pictures in seconds. */
#pragma once

#include "engine/data/scan.h"

typedef struct {
  guint other; /* the entry it looks most like; G_MAXUINT: none */
  float alike; /* their correlation, 0..1 */
} TmAlike;

typedef struct {
  TmAlike *any;      /* per entry, among all others */
  TmAlike *across;   /* per entry: for validation and test pictures among the training pictures, for training
                        pictures among those */
  guint n, n_across; /* entries; validation and test pictures that look like a training picture */
} TmAlikeness;

/** Pictures with less correlation than this do not count as alike. */
extern const float tm_alike_least;

/** Entries the scan leaves out take no part. NULL when *@cancel (atomic; may be NULL) became non-zero. Any
 * thread. */
TmAlikeness *tm_alike_find(const TmScan *s, const TmDataset *d, const gint *cancel);
void tm_alike_free(TmAlikeness *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmAlikeness, tm_alike_free)
