/* regions.h: how well the connected regions of the truth are found, by their size. Pure; any thread.
 *
 * A region k is a set of truth pixels of one class that touch each other at sides or corners. K is the union of
 * the predicted regions of the class that overlap k, A the truth pixels of the class outside k. Its adjusted IoU
 * is |k ∩ K| / |(k ∪ K) \ A| (Chan et al., SegmentMeIfYouCan, 2021): one predicted region over two true ones is
 * not held against either. Pixels whose truth is void take part in neither map. */
#pragma once

#include "engine/core/error.h"

enum { TM_REGION_SIZES = 4 };

/* Truth regions of a class and a size. */
typedef struct {
  guint64 n;
  double sum; /* of their adjusted IoU */
} TmRegionScore;

/** The size class of a region: below 100, 1000, 10,000 pixels, or more. */
guint tm_region_size(guint64 pixels);
/** Adds the regions of one picture to @scores, which holds n * TM_REGION_SIZES. TM_ERROR_NO_MEMORY. */
gboolean tm_regions_add(const guint8 *truth, const guint8 *call, int w, int h, guint n, TmRegionScore *scores,
                        GError **error);
