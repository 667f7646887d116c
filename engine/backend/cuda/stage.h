/* stage.h: batches on their way to the GPU while it computes: two buffers in pinned memory, two on the
 * device, and a stream of their own. */
#pragma once

#include "engine/backend/cuda/cuda.h"

/** The slots of backend.h. */
gboolean tm_cuda_stage(TmBackend *backend, guint n, const void *const *src, const gsize *bytes,
                       GError **error);
gboolean tm_cuda_fill(TmBackend *backend, guint n, const TmView *dst, GError **error);
