/* plan.h: one convolution as cuDNN runs it: an operation graph, the engine that was chosen for it, and the
 * work space that engine needs. Tensors are NHWC and whole. */
#pragma once

#include "engine/backend/cuda/cudnn_api.h"
#include "engine/core/error.h"
#include "engine/core/view.h"

typedef enum { CUDNN_FORWARD, CUDNN_BACKWARD_DATA, CUDNN_BACKWARD_WEIGHTS } CudnnDirection;

typedef struct {
  CudnnDirection direction; /* computes y, x or w from the other two */
  TmDType type;             /* of all three: f32, bf16 or f16 */
  TmShape x, w, y;          /* of the convolution x * w = y; w (K, C / groups, kH, kW) */
  int pad, stride, dilation;
} CudnnSpec;

typedef struct _CudnnPlan CudnnPlan;

/* Where plans are made for. */
typedef struct {
  const CudnnApi *api;
  cudnnHandle_t handle;            /* NULL: described by device, plans cannot run */
  cudnnBackendDescriptor_t device; /* NULL with a handle */
  gboolean deterministic;          /* leave out engines whose sums have no fixed order */
  gsize most_workspace;            /* bytes */
  cudaStream_t stream;             /* with a handle: where candidates are timed */
} CudnnTarget;

/** The fastest engine that fits: with a handle the first few are timed on zeros, else the heuristics' first.
 * NULL with TM_ERROR_UNSUPPORTED and what cuDNN said. */
CudnnPlan *tm_cudnn_plan_new(const CudnnTarget *target, const CudnnSpec *spec, GError **error);
void tm_cudnn_plan_free(CudnnPlan *p);
gsize tm_cudnn_plan_workspace(const CudnnPlan *p);
/** Engines that could run it, of those that were tried. */
int tm_cudnn_plan_candidates(const CudnnPlan *p);

/** Fixes the memory the plan runs on: 16-byte aligned, device. Before the first run. */
gboolean tm_cudnn_plan_bind(CudnnPlan *p, void *x, void *w, void *y, void *workspace, GError **error);
/** Puts the work on the handle's stream. */
gboolean tm_cudnn_plan_run(CudnnPlan *p, GError **error);
