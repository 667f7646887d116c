/* conv.h: a convolution step, or a pattern that begins with one: its operands brought into the form cuDNN
 * wants, the plan, and the result brought back. What a pattern adds is done by cuDNN in the same pass, or by
 * own kernels after it, whichever is faster here.
 *
 * What cuDNN wants: whole dense tensors, 16-byte aligned; in 16 bits channels that are multiples of 8.
 * Operands that are not so are packed in scratch memory, with channels of zeros; weights always are, since
 * their master is f32. */
#pragma once

#include "engine/backend/cuda/cuda.h"
#include "engine/backend/cuda/plan.h"

typedef struct _CudaConv CudaConv;

gboolean tm_cuda_is_conv(int op);
/** Of such an op: is there a way for @node in @precision? Pure. */
gboolean tm_cuda_conv_supports(int op, const TmNode *node, TmDType precision);
/** May this operand (as in backend.h) be a channel slice? Pure. */
gboolean tm_cuda_conv_takes_slice(int op, int operand);

/** What cuDNN will be asked for first. Pure; looks at the operands' shapes, types and alignment. */
CudnnSpec tm_cuda_conv_spec(const CudaCall *c, TmDType precision);

/** @packed: where the weights in their packed form are kept by another convolution of the program that has
 * the same (it runs earlier), or NULL. */
CudaConv *tm_cuda_conv_new(const CudnnTarget *target, const CudaCall *c, TmDType precision, CudaConv *packed,
                           GError **error);
void tm_cuda_conv_free(CudaConv *conv);

/** TRUE when both would pack the same weights the same way. */
gboolean tm_cuda_conv_same_weights(const CudaConv *conv, const CudaCall *c, TmDType precision);
/** Bytes of scratch memory, shared by all steps. */
gsize tm_cuda_conv_scratch(const CudaConv *conv);
/** Once, when the scratch memory (256-byte aligned) is there. */
gboolean tm_cuda_conv_bind(CudaConv *conv, void *scratch, GError **error);
gboolean tm_cuda_conv_run(const CudaConv *conv, const CudaCall *c, GError **error);
