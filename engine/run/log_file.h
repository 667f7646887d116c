/* log_file.h: a file that only grows, by whole records: history.csv, steps.csv, steering.jsonl and event
 * files.
 *
 * Records collect in memory and go out in one write. When a write fails the file is cut back to its last
 * whole record and the records stay in memory for the next try: a full disk costs no history, and nothing is
 * ever appended to half a record. One thread at a time. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"

typedef struct _TmLogFile TmLogFile;

/** Opens @path to append, made when it is not there. */
TmLogFile *tm_log_file_open(const char *path, GError **error);
/** Flushes what it can, closes. */
void tm_log_file_close(TmLogFile *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmLogFile, tm_log_file_close)
gboolean tm_log_file_is_empty(const TmLogFile *f);
/** Collects one record; writes when 64 kB are waiting or two seconds have passed. */
gboolean tm_log_file_add(TmLogFile *f, const void *record, gsize size, GError **error);
/** Writes what is waiting; @sync also waits for the disk. */
gboolean tm_log_file_flush(TmLogFile *f, gboolean sync, GError **error);
