/* cpu.h: the cpu backend: own kernels between convolutions, and convolutions by oneDNN or own kernels,
 * whichever is better for the shape. Private to engine/backend/cpu. Everything runs on the owner's thread and
 * OpenMP's. */
#pragma once

#ifdef TM_HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include "engine/core/machine_cache.h"
#include "engine/program/program.h"
#include "kernels/kernels.h"

typedef struct {
  TmBackend base;
#ifdef TM_HAVE_ONEDNN
  dnnl_engine_t engine;
  dnnl_stream_t stream;
#endif
  int threads;
  const TmKernels *kernels;
  gboolean bf16_convolutions; /* oneDNN has them here */
  char *convolutions;         /* the way that was told, or NULL */
  GHashTable *choices;        /* conv_choose.c's: by shape, and what was measured at earlier starts */
  TmMachineCache *measured;
  TmTeam team; /* for what runs outside programs */
} CpuBackend;

/* One step at work. */
typedef struct {
  const TmKernels *k;
  const TmTeam *team;
  const TmNode *node;                  /* the step's */
  const TmNode *made[TM_STEP_MAX_OUT]; /* the nodes whose values the outputs are */
  guint n_in;
  TmView in[TM_STEP_MAX_IN];
  TmView out[TM_STEP_MAX_OUT];
} CpuCall;

typedef void (*CpuRun)(const CpuCall *c);

/** The function that runs @op by kernels alone, or NULL: a convolution, or nothing this backend runs. */
CpuRun tm_cpu_step_run(int op);
/** May this operand of such a step (as in backend.h: 0.. inputs, ~0.. outputs) be a channel slice? Pure. */
gboolean tm_cpu_step_takes_slice(int op, int operand);

/** backend.h's `peak`. */
gboolean tm_cpu_peak(TmBackend *b, TmDType type, double *flops, double *bytes, GError **error);

/** Opens with the kernels of @table instead of the processor's best: for tests. */
TmBackend *tm_cpu_open_with(const TmBackendOptions *options, const TmKernels *table, GError **error);
