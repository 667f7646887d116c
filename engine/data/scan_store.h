/* scan_store.h: what scans have learned, on disk, so that a folder that did not change is not read again. Private to data.
 *
 * One file for each dataset path, class table and language (findings are sentences) under tarmac/scans in the user's
 * cache; within it one record an entry, under picture_key.h's name of its files, or the number of the demo roads' scene.
 * Nothing in a file is believed before its checksum is right. A store that cannot read finds nothing, one that cannot write keeps nothing: both only cost time. */
#pragma once

#include "engine/data/scan_entry.h"

typedef struct _TmScanStore TmScanStore;

TmScanStore *tm_scan_store_new(const TmDataset *d);
void tm_scan_store_free(TmScanStore *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmScanStore, tm_scan_store_free)

/** The key of entry @i as its files are now, or NULL when it cannot be kept. Free it. Any thread. */
char *tm_scan_store_key(const TmScanStore *s, guint i);
/** What is known under @key, for entry @i; FALSE: nothing. Any thread. */
gboolean tm_scan_store_get(const TmScanStore *s, const char *key, guint i, TmEntryScan *out);
/** Keeps those of @n @entries that have a key; all others are forgotten. */
void tm_scan_store_save(TmScanStore *s, guint n, char *const *keys, const TmEntryScan *entries);
