/* scan_entry.h: how the scan looks at one picture and its mask. Private to data. */
#pragma once

#include "engine/data/dataset_private.h"
#include "engine/data/scan.h"

/** Reads entry @i of @d. Never fails: what is wrong becomes a finding. @decoded (or NULL; empty before): what
 * tm_dataset_read() gives, when the entry can be trained on and there is memory for it; clear it. */
void tm_entry_scan(const TmDataset *d, guint i, TmSample *decoded, TmEntryScan *out);
/** A copy of @from for entry @i of another dataset that gives it the same labels. */
void tm_entry_scan_copy(const TmEntryScan *from, guint n_classes, guint i, TmEntryScan *out);
void tm_entry_scan_clear(TmEntryScan *s);

/** @text is taken over. */
void tm_finding_add(GPtrArray *findings, TmFindingKind kind, guint entry, gboolean leaves_out, char *text);
void tm_finding_free(gpointer finding);
