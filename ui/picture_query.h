/* picture_query.h: which pictures a person wants to see, as typed: "class:car split:val is:finding 0016E5". All words must hold: class: the
 * picture has pixels of it, split: it lies there, is:finding, is:left-out, is:alike, is:painted; anything else is part of the name. Quotes hold
 * words together: class:"traffic sign". Case does not matter. No GTK; any thread. */
#pragma once

#include "engine/data/scan_issues.h"

typedef struct _TmPictureQuery TmPictureQuery;

/** An empty text wants everything. A class or split that there is not wants nothing. */
TmPictureQuery *tm_picture_query_new(const char *text, const TmClassTable *classes);
void tm_picture_query_free(TmPictureQuery *q);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmPictureQuery, tm_picture_query_free)
/** One class more that must be there. */
void tm_picture_query_add_class(TmPictureQuery *q, guint index);
void tm_picture_query_set_split(TmPictureQuery *q, TmSplit split);
/** Only these entries (guint, sorted or not; copied). */
void tm_picture_query_set_entries(TmPictureQuery *q, const GArray *entries);
/** @scan and @alike may be NULL: what asks for them then holds for no picture. */
gboolean tm_picture_query_matches(const TmPictureQuery *q, const TmDataset *d, const TmScan *scan, const TmAlikeness *alike, guint entry);
/** FALSE when it wants everything. */
gboolean tm_picture_query_asks(const TmPictureQuery *q);
