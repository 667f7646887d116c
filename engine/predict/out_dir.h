/* out_dir.h: where a folder job may write. Any thread. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"

/** TRUE when @out_dir may receive predictions of @folder's pictures: it is not @folder, not inside it, and in
 * no dataset, through whatever links it is named. It need not exist yet; nothing is made. TM_ERROR_FILE says
 * what is in the way. */
gboolean tm_out_dir_check(const char *folder, const char *out_dir, GError **error);
