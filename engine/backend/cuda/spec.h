/* spec.h: what cuDNN is asked to compute: one convolution, and what is done to its result on the way. Tensors
 * are NHWC and whole. */
#pragma once

#include "engine/backend/cuda/cudnn_descs.h"
#include "engine/core/view.h"

typedef enum { CUDNN_FORWARD, CUDNN_BACKWARD_DATA, CUDNN_BACKWARD_WEIGHTS } CudnnDirection;

/* Of the forward direction. */
typedef enum {
  CUDNN_RAW,
  CUDNN_BIASED, /* y + b; b is of the convolution's type: other engines take no other */
  CUDNN_BIASED_RELU,
  CUDNN_SUMS, /* y, and the sums of y and y^2 over each channel, f32 */
} CudnnEpilogue;

typedef struct {
  CudnnDirection direction; /* computes y, x or w from the other two */
  CudnnEpilogue epilogue;
  TmDType type;    /* of all three: f32, bf16 or f16 */
  TmShape x, w, y; /* of the convolution x * w = y; w (K, C / groups, kH, kW) */
  int pad, stride, dilation;
} CudnnSpec;

/* By these the tensors of the operation graph are told apart. */
enum {
  CUDNN_UID_X = 1,
  CUDNN_UID_W,
  CUDNN_UID_Y,
  CUDNN_UID_B,
  CUDNN_UID_SUM,
  CUDNN_UID_SQUARES,
  CUDNN_UID_INNER
};

/** The operation graph, finished, or NULL with what failed in @d, which owns it. @handle may be NULL. */
CudnnDesc tm_cudnn_graph(CudnnDescs *d, const CudnnSpec *s, cudnnHandle_t handle);
/** One line that says all of it. Free with g_free(). */
char *tm_cudnn_spec_text(const CudnnSpec *s);
