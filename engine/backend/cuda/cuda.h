/* cuda.h: the cuda backend: own kernels (kernels/cuda) on one stream. Private to engine/backend/cuda. Host
 * code in C over the CUDA runtime; the kernels' files hold nothing but launches. Everything runs on the
 * owner's thread. */
#pragma once

#include <cuda_runtime_api.h>

#include "engine/backend/cuda/cudnn_api.h"
#include "engine/core/machine_cache.h"
#include "engine/program/program.h"
#include "kernels/cuda/cuda.h"

/* Small host values on their way to the device: a ring in pinned memory, so that a value is not overwritten
 * before it was copied. */
enum { CUDA_SLOTS = 64, CUDA_SLOT_BYTES = 1024, CUDA_STAGING_BYTES = 4 << 20 };

/* A batch on its way (stage.h). */
enum { CUDA_STAGES = 2 };
typedef struct {
  void *pinned, *device;
  gsize room;             /* bytes of each */
  cudaEvent_t sent, used; /* on the stages' stream, on the backend's */
  gboolean staged, busy;  /* holds a batch that was not used yet; was used before */
} CudaStage;
typedef struct {
  cudaStream_t stream;
  CudaStage one[CUDA_STAGES];
  guint next;
} CudaStages;

typedef struct {
  TmBackend base;
  int device;
  gboolean deterministic, tf32;
  const CudnnApi *cudnn;
  cudnnHandle_t handle;
  char *name, *uuid;
  gsize memory;
  int major, minor;
  TmMachineCache *plans; /* the engines chosen for convolutions on such a device */
  TmCudaQueue queue;     /* for what runs outside programs */
  void *staging;         /* pinned, CUDA_STAGING_BYTES: transfers pass through it */
  void *landing;         /* device, CUDA_STAGING_BYTES: slices are packed in it */
  guint8 *slots;         /* pinned */
  guint8 *device_slot;   /* device, CUDA_SLOT_BYTES: the slot in use */
  guint slot;
  double *sum, *host_sum;                /* device, pinned: the result of sum_squares */
  TmCudaRate *made;                      /* device: what a training step's update was decided to be */
  TmCudaVerdict *verdict, *host_verdict; /* device, pinned */
  CudaStages stages;
} CudaBackend;

/* One step at work. */
typedef struct {
  const TmCudaQueue *q;
  int op;                              /* a TmOp, or a TmFused */
  const TmNode *node;                  /* the step's */
  const TmNode *made[TM_STEP_MAX_OUT]; /* the nodes whose values the outputs are */
  guint n_in;
  TmView in[TM_STEP_MAX_IN];
  TmView out[TM_STEP_MAX_OUT];
} CudaCall;

/** Step @s of @p as a call. */
CudaCall tm_cuda_call(const TmProgram *p, const TmStep *s, const TmCudaQueue *queue);

typedef cudaError_t (*CudaRun)(const CudaCall *c);

/** The function that runs @op by kernels alone, or NULL: nothing of that kind. */
CudaRun tm_cuda_step_run(int op);
/** Does it take @node (a pattern's first)? Pure. */
gboolean tm_cuda_step_supports(int op, const TmNode *node);
/** May this operand of such a step (as in backend.h: 0.. inputs, ~0.. outputs) be a channel slice? Pure. */
gboolean tm_cuda_step_takes_slice(int op, int operand);

/** TRUE for cudaSuccess; else sets TM_ERROR_NO_MEMORY or TM_ERROR_DEVICE with a sentence that says what was
 * being done (@doing: "copying to the GPU") and what CUDA said. */
gboolean tm_cuda_ok(cudaError_t e, const char *doing, GError **error);
/** Why no GPU can be used, as a sentence with the way out. */
gboolean tm_cuda_available(GError **error);
/** Chooses the device by its UUID ("GPU-...", a beginning that means one is enough), or the first, and fills the backend's fields about it. */
gboolean tm_cuda_choose(CudaBackend *b, const char *uuid, GError **error);

/** The slots write and read. */
gboolean tm_cuda_write(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error);
gboolean tm_cuda_read(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error);
/** Copies @bytes (at most CUDA_SLOT_BYTES) to the device in stream order; NULL on failure. The result is good
 * until the next call's work. */
const void *tm_cuda_send(CudaBackend *b, const void *value, gsize bytes, GError **error);

void tm_cuda_stages_free(CudaStages *all);

extern const TmBackendApi tm_backend_module;
extern const TmVisibleApi tm_cuda_visible;
