/* range_test.h: a learning-rate range test on a thread of its own, told on the main thread. Main thread. */
#pragma once

#include "engine/data/scan.h"
#include "engine/train/lr_range.h"

typedef struct _TmRangeTest TmRangeTest;

/* There are new points, or the end. */
typedef void (*TmRangeTestFunc)(TmRangeTest *t, gpointer user);

/** Begins; @scan may be NULL. */
TmRangeTest *tm_range_test_new(TmDataset *d, const TmScan *scan, const TmSettings *s, TmRangeTestFunc changed, gpointer user);
/** Ends the test, without waiting for its thread; no callback comes after it. */
void tm_range_test_free(TmRangeTest *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmRangeTest, tm_range_test_free)

/** The points so far: copies of rates and losses (double); returns the number of steps there are to be. */
guint tm_range_test_points(TmRangeTest *t, GArray *rates, GArray *losses);
/** NULL while it goes on; then the curve with its suggestion, or NULL with @error set (may be NULL). */
const TmLrRange *tm_range_test_result(TmRangeTest *t, const GError **error);
gboolean tm_range_test_ended(TmRangeTest *t);
