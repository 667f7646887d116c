/* A module that loads, and says why it cannot be used here. */
#include "engine/backend/backend.h"

#include <gmodule.h>

static gboolean available(GError **error) {
  g_set_error_literal(error, g_quark_from_static_string("test"), 1,
                      "The module is here and the device is not.");
  return FALSE;
}

extern const TmBackendApi tm_backend_module;
G_MODULE_EXPORT const TmBackendApi tm_backend_module = {
    .version = TM_BACKEND_VERSION, .name = "cuda", .available = available};
