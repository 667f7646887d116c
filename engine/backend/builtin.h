/* builtin.h: the backends that are part of the program. Private to engine/backend: everybody else goes
 * through backend.h by name. `cpu` is there when TM_HAVE_ONEDNN is defined. */
#pragma once

#include "engine/backend/backend.h"

extern const TmBackendApi tm_backend_ref;
#ifdef TM_HAVE_ONEDNN
extern const TmBackendApi tm_backend_cpu;
#endif
