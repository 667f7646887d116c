/* cudnn_api.h: the functions of cuDNN 9 that the cuda backend calls, found when the program runs: without
 * cuDNN the module still loads and says what is missing. */
#pragma once

#include <cudnn.h>
#include <glib.h>

#define TM_CUDNN_FUNCTIONS(F)                                                                                \
  F(cudnnGetVersion)                                                                                         \
  F(cudnnGetErrorString)                                                                                     \
  F(cudnnGetLastErrorString)                                                                                 \
  F(cudnnCreate)                                                                                             \
  F(cudnnDestroy)                                                                                            \
  F(cudnnSetStream)                                                                                          \
  F(cudnnBackendCreateDescriptor)                                                                            \
  F(cudnnBackendDestroyDescriptor)                                                                           \
  F(cudnnBackendFinalize)                                                                                    \
  F(cudnnBackendSetAttribute)                                                                                \
  F(cudnnBackendGetAttribute)                                                                                \
  F(cudnnBackendExecute)

typedef struct {
#define TM_CUDNN_FIELD(name) __typeof__(&name) name;
  TM_CUDNN_FUNCTIONS(TM_CUDNN_FIELD)
#undef TM_CUDNN_FIELD
} CudnnApi;

/** The functions, or NULL with a sentence that says what to install. Any thread; the same pointer each time.
 */
const CudnnApi *tm_cudnn(GError **error);
