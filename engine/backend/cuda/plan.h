/* plan.h: one convolution as cuDNN runs it: an operation graph, the engine that was chosen for it, and the
 * work space that engine needs. */
#pragma once

#include "engine/backend/cuda/engines.h"
#include "engine/core/error.h"

typedef struct _CudnnPlan CudnnPlan;

/* Memory a plan runs on: 16-byte aligned, on the device. */
typedef struct {
  void *x, *w, *y;
  void *b;             /* with a bias */
  void *sum, *squares; /* with sums */
  void *workspace;
} CudnnOperands;

/** The fastest engine that fits: the one that was found so before on such a device; else, with a handle, the
 * fastest of a dozen, timed, and remembered; else the heuristics' first. NULL with TM_ERROR_UNSUPPORTED and
 * what cuDNN said. */
CudnnPlan *tm_cudnn_plan_new(const CudnnTarget *target, const CudnnSpec *spec, GError **error);
void tm_cudnn_plan_free(CudnnPlan *p);
gsize tm_cudnn_plan_workspace(const CudnnPlan *p);
/** Engines that could run it, of those that were tried; 1 when it was known. */
int tm_cudnn_plan_candidates(const CudnnPlan *p);
/** The engine's name (engines.h). Borrowed. */
const char *tm_cudnn_plan_engine(const CudnnPlan *p);
/** Milliseconds of one run when it was timed; negative: it was not. */
float tm_cudnn_plan_time(const CudnnPlan *p);

/** Before the first run. */
gboolean tm_cudnn_plan_bind(CudnnPlan *p, const CudnnOperands *o, GError **error);
/** Puts the work on the handle's stream. */
gboolean tm_cudnn_plan_run(CudnnPlan *p, GError **error);
