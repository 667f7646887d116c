/* steps.c: every op that is not a convolution, as one launch or a few. A row of the table is what the backend
 * supports. */
#include "engine/backend/cuda/cuda.h"

#include "engine/graph/fused.h"

static const float *vector(const CudaCall *c, guint i) {
  return c->in[i].data;
}

/* Operands i.. of the call as a batch's statistics, gamma and (for all but bn_dx) beta. */
static TmBatchNorm batch_norm(const CudaCall *c, guint stats, guint gamma) {
  const int C = c->in[0].shape.c;
  return (TmBatchNorm){.mean = vector(c, stats),
                       .var = vector(c, stats) + C,
                       .gamma = vector(c, gamma),
                       .beta = gamma + 1 < c->n_in ? vector(c, gamma + 1) : NULL,
                       .eps = c->node->attrs.value};
}

static cudaError_t bn_stats(const CudaCall *c) {
  return tm_cuda_bn_stats(c->q, &c->in[0], c->out[0].data);
}

static cudaError_t bn_apply(const CudaCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  return tm_cuda_bn_apply(c->q, &c->in[0], &bn, FALSE, &c->out[0], NULL);
}
static cudaError_t bn_relu(const CudaCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  return tm_cuda_bn_apply(c->q, &c->in[0], &bn, TRUE, &c->out[0], NULL);
}
static cudaError_t bn_relu_pool(const CudaCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  return tm_cuda_bn_apply(c->q, &c->in[0], &bn, TRUE, &c->out[0], &c->out[1]);
}

static TmBatchNorm running(const CudaCall *c) {
  return (TmBatchNorm){.mean = vector(c, 1),
                       .var = vector(c, 2),
                       .gamma = vector(c, 3),
                       .beta = vector(c, 4),
                       .eps = c->node->attrs.value};
}
static cudaError_t bn_infer(const CudaCall *c) {
  const TmBatchNorm bn = running(c);
  return tm_cuda_bn_apply(c->q, &c->in[0], &bn, FALSE, &c->out[0], NULL);
}
static cudaError_t bn_infer_relu(const CudaCall *c) {
  const TmBatchNorm bn = running(c);
  return tm_cuda_bn_apply(c->q, &c->in[0], &bn, TRUE, &c->out[0], NULL);
}

static cudaError_t bn_reduce(const CudaCall *c) {
  const TmBatchNorm bn = {
      .mean = vector(c, 2), .var = vector(c, 2) + c->in[1].shape.c, .eps = c->node->attrs.value};
  return tm_cuda_bn_reduce(c->q, &c->in[0], &c->in[1], &bn, FALSE, NULL, c->out[0].data);
}

/* The step's node is relu_dx; eps is the other one's. */
static cudaError_t relu_dx_bn_reduce(const CudaCall *c) {
  TmBatchNorm bn = batch_norm(c, 2, 3);
  bn.eps = c->made[1]->attrs.value;
  return tm_cuda_bn_reduce(c->q, &c->in[0], &c->in[1], &bn, TRUE, &c->out[0], c->out[1].data);
}

static cudaError_t bn_dx(const CudaCall *c) {
  const int C = c->in[0].shape.c;
  const TmBatchNorm bn = {
      .mean = vector(c, 2), .var = vector(c, 2) + C, .gamma = vector(c, 3), .eps = c->node->attrs.value};
  return tm_cuda_bn_dx(c->q, &c->in[0], &c->in[1], &bn, vector(c, 4), &c->out[0]);
}

static cudaError_t bn_running(const CudaCall *c) {
  return tm_cuda_bn_running(c->q, vector(c, 0), c->in[1].shape.c, c->node->attrs.value, c->node->attrs.count,
                            c->in[1].data, c->in[2].data, c->out[0].data);
}

static cudaError_t channel_sum(const CudaCall *c) {
  return tm_cuda_channel_sum(c->q, &c->in[0], c->out[0].data);
}

#define MAP(name, OP)                                                                                        \
  static cudaError_t name(const CudaCall *c) {                                                               \
    return tm_cuda_map(c->q, TM_MAP_##OP, &c->in[0], c->n_in > 1 ? &c->in[1] : NULL, c->node->attrs.value,   \
                       &c->out[0]);                                                                          \
  }
MAP(relu, RELU)
MAP(relu_dx, RELU_DX)
MAP(sigmoid, SIGMOID)
MAP(sigmoid_dx, SIGMOID_DX)
MAP(add, ADD)
MAP(mul, MUL)
MAP(scale, SCALE)
#undef MAP

static cudaError_t dropout(const CudaCall *c) {
  return tm_cuda_dropout(c->q, &c->in[0], c->node->attrs.value, c->node->attrs.key, c->in[1].data,
                         &c->out[0]);
}

static cudaError_t normalize(const CudaCall *c) {
  return tm_cuda_normalize(c->q, &c->in[0], vector(c, 1), vector(c, 2), &c->out[0]);
}

static cudaError_t max_pool(const CudaCall *c) {
  return tm_cuda_max_pool(c->q, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static cudaError_t max_pool_dx(const CudaCall *c) {
  return tm_cuda_max_pool_dx(c->q, &c->in[0], &c->in[1], NULL, c->node->attrs.factor, &c->out[0]);
}
static cudaError_t pool_dx_add(const CudaCall *c) {
  return tm_cuda_max_pool_dx(c->q, &c->in[0], &c->in[1], &c->in[3], c->node->attrs.factor, &c->out[0]);
}

static cudaError_t upsample_nearest(const CudaCall *c) {
  return tm_cuda_upsample_nearest(c->q, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static cudaError_t upsample_nearest_dx(const CudaCall *c) {
  return tm_cuda_upsample_nearest_dx(c->q, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static cudaError_t upsample_bilinear(const CudaCall *c) {
  return tm_cuda_upsample_bilinear(c->q, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static cudaError_t upsample_bilinear_dx(const CudaCall *c) {
  return tm_cuda_upsample_bilinear_dx(c->q, &c->in[0], c->node->attrs.factor, &c->out[0]);
}

static cudaError_t concat(const CudaCall *c) {
  cudaError_t e = cudaSuccess;
  int at = 0;
  for (guint i = 0; i < c->n_in && e == cudaSuccess; i++) {
    const TmView part = tm_view_channels(&c->out[0], at, c->in[i].shape.c);
    e = tm_cuda_window(c->q, &c->in[i], 0, 0, &part);
    at += c->in[i].shape.c;
  }
  return e;
}

static cudaError_t slice(const CudaCall *c) {
  const TmView part = tm_view_channels(&c->in[0], c->node->attrs.from, c->node->attrs.count);
  return tm_cuda_window(c->q, &part, 0, 0, &c->out[0]);
}

/* A window of a picture that is all outside of it is a tensor of zeros. */
static cudaError_t slice_dx(const CudaCall *c) {
  const TmView part = tm_view_channels(&c->out[0], c->node->attrs.from, c->in[0].shape.c);
  const cudaError_t e = tm_cuda_window(c->q, &c->in[0], c->out[0].shape.h, 0, &c->out[0]);
  return e == cudaSuccess ? tm_cuda_window(c->q, &c->in[0], 0, 0, &part) : e;
}

static cudaError_t pad(const CudaCall *c) {
  const TmAttrs *a = &c->node->attrs;
  if (a->pad_mode == TM_PAD_REFLECT) return tm_cuda_pad_reflect(c->q, &c->in[0], a->top, a->left, &c->out[0]);
  return tm_cuda_window(c->q, &c->in[0], a->top, a->left, &c->out[0]);
}

static cudaError_t pad_dx(const CudaCall *c) {
  const TmAttrs *a = &c->node->attrs;
  if (a->pad_mode == TM_PAD_REFLECT)
    return tm_cuda_pad_reflect_dx(c->q, &c->in[0], a->top, a->left, &c->out[0]);
  return tm_cuda_window(c->q, &c->in[0], -a->top, -a->left, &c->out[0]);
}

static cudaError_t crop(const CudaCall *c) {
  return tm_cuda_window(c->q, &c->in[0], -c->node->attrs.top, -c->node->attrs.left, &c->out[0]);
}
static cudaError_t crop_dx(const CudaCall *c) {
  return tm_cuda_window(c->q, &c->in[0], c->node->attrs.top, c->node->attrs.left, &c->out[0]);
}

static cudaError_t softmax(const CudaCall *c) {
  return tm_cuda_softmax(c->q, &c->in[0], &c->out[0]);
}

static cudaError_t cross_entropy(const CudaCall *c) {
  return tm_cuda_cross_entropy(c->q, &c->in[0], &c->in[1], vector(c, 2), 0, c->out[0].data, NULL, NULL);
}
static cudaError_t cross_entropy_dx(const CudaCall *c) {
  return tm_cuda_cross_entropy(c->q, &c->in[1], &c->in[2], vector(c, 3), 0, NULL, vector(c, 0), &c->out[0]);
}
static cudaError_t cross_entropy_grad(const CudaCall *c) {
  return tm_cuda_cross_entropy(c->q, &c->in[0], &c->in[1], vector(c, 2), 0, c->out[0].data, vector(c, 3),
                               &c->out[1]);
}
static cudaError_t focal(const CudaCall *c) {
  return tm_cuda_cross_entropy(c->q, &c->in[0], &c->in[1], vector(c, 2), c->node->attrs.value, c->out[0].data,
                               NULL, NULL);
}
static cudaError_t focal_dx(const CudaCall *c) {
  return tm_cuda_cross_entropy(c->q, &c->in[1], &c->in[2], vector(c, 3), c->node->attrs.value, NULL,
                               vector(c, 0), &c->out[0]);
}
static cudaError_t dice(const CudaCall *c) {
  return tm_cuda_dice(c->q, &c->in[0], &c->in[1], c->out[0].data, NULL, NULL);
}
static cudaError_t dice_dx(const CudaCall *c) {
  return tm_cuda_dice(c->q, &c->in[1], &c->in[2], NULL, vector(c, 0), &c->out[0]);
}

static cudaError_t argmax(const CudaCall *c) {
  return tm_cuda_argmax(c->q, &c->in[0], &c->out[0]);
}
/* The pattern may cut a border off before. */
static cudaError_t conv_argmax(const CudaCall *c) {
  const TmNode *scores = c->made[0]->in[0];
  const gboolean cut = scores->op == TM_OP_CROP;
  return tm_cuda_conv_argmax(c->q, &c->in[0], &c->in[1], c->n_in > 2 ? vector(c, 2) : NULL,
                             cut ? scores->attrs.top : 0, cut ? scores->attrs.left : 0, &c->out[0]);
}
static cudaError_t confusion(const CudaCall *c) {
  return tm_cuda_confusion(c->q, &c->in[0], &c->in[1], c->out[0].data);
}

static const CudaRun table[TM_FUSED_END] = {
    [TM_OP_CHANNEL_SUM] = channel_sum,
    [TM_OP_BN_STATS] = bn_stats,
    [TM_OP_BN_APPLY] = bn_apply,
    [TM_OP_BN_INFER] = bn_infer,
    [TM_OP_BN_REDUCE] = bn_reduce,
    [TM_OP_BN_DX] = bn_dx,
    [TM_OP_BN_RUNNING] = bn_running,
    [TM_OP_RELU] = relu,
    [TM_OP_RELU_DX] = relu_dx,
    [TM_OP_SIGMOID] = sigmoid,
    [TM_OP_SIGMOID_DX] = sigmoid_dx,
    [TM_OP_ADD] = add,
    [TM_OP_MUL] = mul,
    [TM_OP_SCALE] = scale,
    [TM_OP_DROPOUT] = dropout,
    [TM_OP_NORMALIZE] = normalize,
    [TM_OP_MAX_POOL] = max_pool,
    [TM_OP_MAX_POOL_DX] = max_pool_dx,
    [TM_OP_UPSAMPLE_NEAREST] = upsample_nearest,
    [TM_OP_UPSAMPLE_NEAREST_DX] = upsample_nearest_dx,
    [TM_OP_UPSAMPLE_BILINEAR] = upsample_bilinear,
    [TM_OP_UPSAMPLE_BILINEAR_DX] = upsample_bilinear_dx,
    [TM_OP_CONCAT] = concat,
    [TM_OP_SLICE] = slice,
    [TM_OP_SLICE_DX] = slice_dx,
    [TM_OP_PAD] = pad,
    [TM_OP_PAD_DX] = pad_dx,
    [TM_OP_CROP] = crop,
    [TM_OP_CROP_DX] = crop_dx,
    [TM_OP_SOFTMAX] = softmax,
    [TM_OP_CROSS_ENTROPY] = cross_entropy,
    [TM_OP_CROSS_ENTROPY_DX] = cross_entropy_dx,
    [TM_OP_DICE] = dice,
    [TM_OP_DICE_DX] = dice_dx,
    [TM_OP_FOCAL] = focal,
    [TM_OP_FOCAL_DX] = focal_dx,
    [TM_OP_ARGMAX] = argmax,
    [TM_OP_CONFUSION] = confusion,
    [TM_FUSED_BN_RELU] = bn_relu,
    [TM_FUSED_BN_RELU_POOL] = bn_relu_pool,
    [TM_FUSED_BN_INFER_RELU] = bn_infer_relu,
    [TM_FUSED_RELU_DX_BN_REDUCE] = relu_dx_bn_reduce,
    [TM_FUSED_POOL_DX_ADD] = pool_dx_add,
    [TM_FUSED_CONV_ARGMAX] = conv_argmax,
    [TM_FUSED_CROSS_ENTROPY_GRAD] = cross_entropy_grad,
};

CudaRun tm_cuda_step_run(int op) {
  return op >= 0 && op < TM_FUSED_END ? table[op] : NULL;
}

gboolean tm_cuda_step_supports(int op, const TmNode *node) {
  if (op != TM_FUSED_CONV_ARGMAX) return TRUE;
  const TmAttrs *a = &node->attrs;
  const TmShape w = node->in[1]->shape;
  return w.h == 1 && w.w == 1 && a->stride <= 1 && a->pad == 0 && a->groups <= 1 &&
         tm_cuda_conv_argmax_fits(w.c, w.n);
}

gboolean tm_cuda_step_takes_slice(int op, int operand) {
  return tm_cuda_step_run(op) && !tm_step_operand_is_dense(op, operand);
}
