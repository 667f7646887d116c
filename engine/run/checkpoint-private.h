/* checkpoint-private.h: for the run folder. */
#pragma once

#include "engine/run/checkpoint.h"

/** tm_checkpoint_write(), but the file that was at @path lives on as @keep_as (same folder; NULL: it goes).
 */
gboolean tm_checkpoint_write_keep(TmCheckpoint *c, const char *path, const char *keep_as, GError **error);
