/* atomic.h: a file that appears whole or not at all.
 *
 * The bytes go into a temporary file in the same folder (".tarmac-" and sixteen hex digits);
 * tm_atomic_commit() syncs it, renames it over the target and syncs the folder. Until the rename the old file
 * is untouched; after any failure the temporary one is gone. A process that is killed leaves at worst a
 * temporary file, which tm_atomic_sweep() clears. Any thread; one writer is one thread's. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"

typedef struct _TmAtomic TmAtomic;

/** Begins to write @path. @needed: bytes there will be, told when the disk is full; 0 unknown. */
TmAtomic *tm_atomic_new(const char *path, guint64 needed, GError **error);
/** Appends. After a failure only tm_atomic_free() may follow. */
gboolean tm_atomic_write(TmAtomic *a, const void *data, gsize count, GError **error);
/** Overwrites what was appended, at @offset. */
gboolean tm_atomic_patch(TmAtomic *a, const void *data, gsize count, gint64 offset, GError **error);
/** Puts the file in place. When @keep_as is not NULL the old file, if any, gets that name in the same step:
 * there is no moment without either. */
gboolean tm_atomic_commit(TmAtomic *a, const char *keep_as, GError **error);
/** Gives up what was not committed. */
void tm_atomic_free(TmAtomic *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmAtomic, tm_atomic_free)

/** All of it in one call. */
gboolean tm_atomic_write_file(const char *path, const void *data, gsize count, GError **error);
/** Removes temporary files that a killed process left in @folder; only for a folder nobody else writes to
 * now. */
void tm_atomic_sweep(const char *folder);

/** write(2) all of it at @offset of @fd, through interruptions and short writes; -1 with errno. A file size
 * limit is EFBIG, never a signal. */
int tm_write_at(int fd, const void *data, gsize count, gint64 offset);
/** Sets @error for errno @code met on writing @path: TM_ERROR_NO_SPACE for a full disk (with the folder,
 * @needed, when known, and the free bytes there), a used-up quota and a file size limit, else TM_ERROR_FILE.
 */
void tm_write_error(GError **error, int code, const char *path, guint64 needed);
