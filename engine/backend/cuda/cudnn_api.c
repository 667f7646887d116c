#include "engine/backend/cuda/cudnn_api.h"

#include "engine/core/error.h"

#include <dlfcn.h>
#include <glib/gi18n.h>

#define LIBRARY "libcudnn.so.9"

static CudnnApi api;
static const char *missing; /* the first function that was not there */

static gboolean find(void *library) {
#define FIND(name)                                                                                           \
  *(void **)&api.name = dlsym(library, #name);                                                               \
  if (!api.name && !missing) missing = #name;
  TM_CUDNN_FUNCTIONS(FIND)
#undef FIND
  return missing == NULL;
}

static gpointer load(gpointer unused) {
  (void)unused;
  void *library =
      dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* never closed: it has threads and handlers of its own */
  return GINT_TO_POINTER(library && find(library));
}

const CudnnApi *tm_cudnn(GError **error) {
  static GOnce once = G_ONCE_INIT;
  if (g_once(&once, load, NULL)) return &api;
  if (missing)
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("The cuDNN that is installed is too old: %s has no %s. Install cuDNN 9.8 or newer."),
                LIBRARY, missing);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("cuDNN is not installed: %s was not found. Install cuDNN 9, or set LD_LIBRARY_PATH to "
                  "where it is."),
                LIBRARY);
  return NULL;
}
