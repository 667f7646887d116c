/* module.c: no more of the CUDA back end than what says whether it can be used, on the stand-in for the
 * runtime, and with the real search for cuDNN. */
#include <gmodule.h>

#include "engine/backend/cuda/cuda.h"

G_MODULE_EXPORT const TmBackendApi tm_backend_module = {
    .version = TM_BACKEND_VERSION, .name = "cuda", .available = tm_cuda_available};
