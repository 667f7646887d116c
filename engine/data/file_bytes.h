/* file_bytes.h: a whole file in memory, read with care: only regular files, size known before allocation, no
 * abort. */
#pragma once

#include "engine/core/error.h"

typedef struct {
  guint8 *data;
  gsize size;
} TmFileBytes;

/** Reads @path whole. TM_ERROR_FILE when it cannot be opened or read or is no regular file (a pipe is never
 * waited on), TM_ERROR_DATA when it is empty, TM_ERROR_NO_MEMORY when it does not fit. All name the file. Any
 * thread. */
gboolean tm_file_bytes_read(const char *path, TmFileBytes *out, GError **error);
void tm_file_bytes_clear(TmFileBytes *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmFileBytes, tm_file_bytes_clear)

/** Reads @path again, from the disk where the system allows it, and says whether the bytes differ from
 * @first. A difference between two readings of a file nobody writes means that disk or memory is at fault.
 * FALSE also when the second reading fails. */
gboolean tm_file_bytes_changed(const char *path, const TmFileBytes *first);
