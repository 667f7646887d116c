/* A module of another version: nothing of it may be called. */
#include "engine/backend/backend.h"

#include <gmodule.h>

extern const TmBackendApi tm_backend_module;
G_MODULE_EXPORT const TmBackendApi tm_backend_module = {.version = TM_BACKEND_VERSION + 1, .name = "cuda"};
