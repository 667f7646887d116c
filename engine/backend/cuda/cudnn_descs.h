/* cudnn_descs.h: cuDNN's descriptors, made, filled and finished one after the other. After a failure all
 * calls do nothing, so that only the end is to be checked, and one place frees what was made on the way. */
#pragma once

#include "engine/backend/cuda/cudnn_api.h"

typedef cudnnBackendDescriptor_t CudnnDesc;

enum { CUDNN_MOST_DESCS = 64 };

typedef struct {
  const CudnnApi *api;
  CudnnDesc all[CUDNN_MOST_DESCS];
  int n;
  cudnnStatus_t failed; /* the first failure */
  const char *what;     /* what was being done then: static */
} CudnnDescs;

static inline gboolean tm_cudnn_descs_ok(const CudnnDescs *d) {
  return d->failed == CUDNN_STATUS_SUCCESS;
}
/** Remembers @status if it is the first failure. */
void tm_cudnn_note(CudnnDescs *d, cudnnStatus_t status, const char *what);
/** TM_ERROR_UNSUPPORTED with what cuDNN said; FALSE. */
gboolean tm_cudnn_give_up(const CudnnDescs *d, GError **error);

/** NULL after a failure. Freed by tm_cudnn_clean(). */
CudnnDesc tm_cudnn_make(CudnnDescs *d, cudnnBackendDescriptorType_t type);
void tm_cudnn_set(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, gint64 n, const void *value);
void tm_cudnn_set_desc(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name, CudnnDesc value);
void tm_cudnn_set_ints(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name, gint64 n,
                       const gint64 *value);
/** Returns @desc. */
CudnnDesc tm_cudnn_finish(CudnnDescs *d, CudnnDesc desc, const char *what);
/** Reads up to @most values; how many there are, 0 after a failure. */
gint64 tm_cudnn_get(CudnnDescs *d, CudnnDesc desc, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, gint64 most, void *value);
/** Takes @desc out of what will be freed: it is the caller's now. */
CudnnDesc tm_cudnn_keep(CudnnDescs *d, CudnnDesc desc);
void tm_cudnn_clean(CudnnDescs *d);
