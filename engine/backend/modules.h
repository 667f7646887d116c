/* modules.h: backends that come as a module beside the program, loaded when they are first asked about.
 * Private to engine/backend.
 *
 * A module is a shared library `tarmac-<name>.so` that exports `const TmBackendApi tm_backend_module`,
 * version TM_BACKEND_VERSION. It is looked for in the folders of TARMAC_MODULES (separated by colons) when
 * that is set; otherwise beside the program and in ../lib/tarmac from there. A module stays loaded. Any
 * thread. */
#pragma once

#include "engine/backend/backend.h"

/** The table of module @name, or NULL with a sentence that says where it was looked for or what is wrong with
 * it. */
const TmBackendApi *tm_backend_module_find(const char *name, GError **error);
