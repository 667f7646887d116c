/* builtin.h: the backends that are part of the program. Private to engine/backend: everybody else goes
 * through backend.h by name. */
#pragma once

#include "engine/backend/backend.h"

extern const TmBackendApi tm_backend_ref;
extern const TmBackendApi tm_backend_cpu;
