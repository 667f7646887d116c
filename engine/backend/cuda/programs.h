/* programs.h: a program made ready for the GPU. Work with it runs eagerly once and is recorded as a CUDA
 * graph the second time; from then on it is one launch. All that changes from run to run lies in device
 * memory. */
#pragma once

#include "engine/backend/cuda/conv.h"

typedef struct {
  CudaRun run; /* NULL: conv */
  CudaConv *conv;
  CudaCall call; /* points to the program's queue */
} CudaStep;

typedef struct {
  gboolean warm; /* ran once */
  cudaGraphExec_t graph;
} CudaRecording;

/* program->prepared. */
typedef struct {
  guint n_steps;
  CudaStep *steps;
  TmCudaQueue queue;   /* its own work space */
  void *scratch;       /* of whichever convolution is running */
  CudaRecording alone; /* the steps */
  CudaRecording step;  /* with the update of @trained, as one */
  TmTrainStep trained; /* its pointers and sizes */
} CudaProgram;

/* Puts work on q->queue.stream and waits for nothing. */
typedef gboolean (*CudaWork)(CudaProgram *q, gpointer data, GError **error);

/** Does @work, which is the same each time, or replays it. */
gboolean tm_cuda_replay(CudaProgram *q, CudaRecording *r, CudaWork work, gpointer data, GError **error);
/** Frees what was recorded: the work is another one from now on. */
void tm_cuda_forget(CudaRecording *r);
/** The steps, as work. */
gboolean tm_cuda_run_steps(CudaProgram *q, gpointer unused, GError **error);

/** The slots of backend.h. */
gpointer tm_cuda_prepare(TmBackend *backend, TmProgram *p, GError **error);
gboolean tm_cuda_run(TmBackend *backend, TmProgram *p, GError **error);
void tm_cuda_discard(TmBackend *backend, gpointer prepared);
gboolean tm_cuda_train_begin(TmBackend *backend, TmProgram *p, const TmTrainStep *step, GError **error);
gboolean tm_cuda_train_end(TmBackend *backend, TmTrained *out, GError **error);

/** A step of the optimizer: what stays, and what is read from device memory. */
TmUpdateRule tm_cuda_rule(const TmUpdate *u);
TmCudaRate tm_cuda_rate(const TmUpdate *u);
