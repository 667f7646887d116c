/* engines.h: the ways cuDNN has to run an operation graph: an engine and the settings of its knobs, finished
 * as an execution plan. Written as "62 2:4 13:0": the engine's number, then knob and value; by that line it
 * is found again without asking the heuristics. */
#pragma once

#include "engine/backend/cuda/spec.h"
#include "engine/core/machine_cache.h"

enum { CUDNN_NAME = 256 };

/* Where plans are made for, and what is asked of them. */
typedef struct {
  const CudnnApi *api;
  cudnnHandle_t handle;            /* NULL: described by device, plans cannot run */
  cudnnBackendDescriptor_t device; /* NULL with a handle */
  gboolean deterministic;          /* leave out engines whose sums have no fixed order */
  gboolean tf32;                   /* f32 operands may be rounded to 10 bits on their way in */
  gsize most_workspace;            /* bytes */
  cudaStream_t stream;             /* with a handle: where candidates are timed */
  TmMachineCache *cache;           /* what was chosen before; or NULL */
} CudnnTarget;

typedef struct {
  char name[CUDNN_NAME];
  CudnnDesc plan; /* owned by who asked */
  gint64 workspace;
} CudnnEngine;

/** Those that fit @target and can run @graph of operands of @type, up to @most: first what the heuristics A
 * and B think fastest, then some that take anything. When there are none @d has why. */
int tm_cudnn_engines(CudnnDescs *d, const CudnnTarget *target, CudnnDesc graph, TmDType type,
                     CudnnEngine *found, int most);
/** The one of that name, under the same conditions. */
gboolean tm_cudnn_engine_named(const CudnnTarget *target, CudnnDesc graph, TmDType type, const char *name,
                               CudnnEngine *out);
