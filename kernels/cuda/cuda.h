/* cuda.h: the CUDA kernels, each declared once, as C sees them: what kernels.def is for the processor's.
 *
 * Every function puts its launches on the queue's stream and returns the first error of a launch; it waits
 * for nothing, allocates nothing and may be captured in a graph. Views and vectors lie in device memory. x,
 * y, dx ... are f32, bf16 or f16 (all of one call alike unless said otherwise), dense or channel slices, of
 * any size up to 2^31 - 1 rows of pixels; they are fastest when channels and pixel strides are multiples of 8
 * and pointers of 16 bytes. Vectors over channels are f32. Outputs are set, never added to. Inputs and
 * outputs do not overlap unless said. Sums have one order: the same input gives the same bits. */
#pragma once

#include <cuda_runtime_api.h>

#include "engine/core/compose.h"
#include "engine/core/view.h"
#include "kernels/kernels.h"

G_BEGIN_DECLS

/* Where the kernels run, and their work space. */
typedef struct {
  cudaStream_t stream;
  void *work; /* device memory, tm_cuda_work() bytes of the widest operand, 256-byte aligned */
} TmCudaQueue;

/* What an optimizer step reads from device memory, so that a captured step can be replayed with new values.
 */
typedef struct {
  float grad_scale, lr, beta1, beta2, eps, weight_decay, momentum, ema_decay;
  float correct1, correct2; /* 1 / (1 - beta^step) */
  int first;                /* SGD's first step: m = g */
  int skip;                 /* nothing is to move */
} TmCudaRate;

/* What the decision of a training step is made from, in device memory; made.grad_scale and made.skip are what
 * it comes to. */
typedef struct {
  TmCudaRate rate;           /* all of it but those two */
  double clip;               /* largest norm of the gradient; 0: any */
  double loss_scale;         /* by which the gradients are too large */
} TmCudaPlan;

enum { TM_CUDA_LOSSES = 2 };

/* And what it came to, for the host to read. */
typedef struct {
  float losses[TM_CUDA_LOSSES];
  int skip;
  double squares; /* of the gradient */
} TmCudaVerdict;

/** Bytes of work space for every kernel over operands of up to @channels channels. */
gsize tm_cuda_work(int channels);

/** Can conv_argmax hold the weights of so many channels and classes? */
gboolean tm_cuda_conv_argmax_fits(int channels, int classes);

#define TM_CUDA_KERNEL(name, ...) cudaError_t tm_cuda_##name(const TmCudaQueue *q, __VA_ARGS__);
#include "kernels/cuda/kernels.def"
#undef TM_CUDA_KERNEL

G_END_DECLS
