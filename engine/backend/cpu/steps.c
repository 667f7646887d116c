/* steps.c: every op that is not a convolution, as one call of a kernel or a few. A row of the table is what
 * the backend supports. */
#include "engine/backend/cpu/cpu.h"

#include "engine/graph/fused.h"

static const float *vector(const CpuCall *c, guint i) {
  return c->in[i].data;
}

/* Operands i.. of the call as a batch's statistics, gamma and (for all but bn_dx) beta. */
static TmBatchNorm batch_norm(const CpuCall *c, guint stats, guint gamma) {
  const int C = c->in[0].shape.c;
  return (TmBatchNorm){.mean = vector(c, stats),
                       .var = vector(c, stats) + C,
                       .gamma = vector(c, gamma),
                       .beta = gamma + 1 < c->n_in ? vector(c, gamma + 1) : NULL,
                       .eps = c->node->attrs.value};
}

static void bn_stats(const CpuCall *c) {
  c->k->bn_stats(c->team, &c->in[0], c->out[0].data);
}

static void bn_apply(const CpuCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  c->k->bn_apply(c->team, &c->in[0], &bn, FALSE, &c->out[0], NULL);
}
static void bn_relu(const CpuCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  c->k->bn_apply(c->team, &c->in[0], &bn, TRUE, &c->out[0], NULL);
}
static void bn_relu_pool(const CpuCall *c) {
  const TmBatchNorm bn = batch_norm(c, 1, 2);
  c->k->bn_apply(c->team, &c->in[0], &bn, TRUE, &c->out[0], &c->out[1]);
}

static TmBatchNorm running(const CpuCall *c) {
  return (TmBatchNorm){.mean = vector(c, 1),
                       .var = vector(c, 2),
                       .gamma = vector(c, 3),
                       .beta = vector(c, 4),
                       .eps = c->node->attrs.value};
}
static void bn_infer(const CpuCall *c) {
  const TmBatchNorm bn = running(c);
  c->k->bn_apply(c->team, &c->in[0], &bn, FALSE, &c->out[0], NULL);
}
static void bn_infer_relu(const CpuCall *c) {
  const TmBatchNorm bn = running(c);
  c->k->bn_apply(c->team, &c->in[0], &bn, TRUE, &c->out[0], NULL);
}

static void bn_reduce(const CpuCall *c) {
  const TmBatchNorm bn = {
      .mean = vector(c, 2), .var = vector(c, 2) + c->in[1].shape.c, .eps = c->node->attrs.value};
  c->k->bn_reduce(c->team, &c->in[0], &c->in[1], &bn, FALSE, NULL, c->out[0].data);
}

/* The step's node is relu_dx; eps is the other one's. */
static void relu_dx_bn_reduce(const CpuCall *c) {
  TmBatchNorm bn = batch_norm(c, 2, 3);
  bn.eps = c->made[1]->attrs.value;
  c->k->bn_reduce(c->team, &c->in[0], &c->in[1], &bn, TRUE, &c->out[0], c->out[1].data);
}

static void bn_dx(const CpuCall *c) {
  const int C = c->in[0].shape.c;
  const TmBatchNorm bn = {
      .mean = vector(c, 2), .var = vector(c, 2) + C, .gamma = vector(c, 3), .eps = c->node->attrs.value};
  c->k->bn_dx(c->team, &c->in[0], &c->in[1], &bn, vector(c, 4), &c->out[0]);
}

static void bn_running(const CpuCall *c) {
  const int C = c->in[1].shape.c;
  const float *stats = vector(c, 0), m = c->node->attrs.value;
  float *mean = c->in[1].data, *var = c->in[2].data;
  const double n = c->node->attrs.count;
  const float unbias = n > 1 ? (float)(n / (n - 1)) : 1;
  for (int i = 0; i < C; i++) {
    mean[i] += m * (stats[i] - mean[i]);
    var[i] += m * (stats[C + i] * unbias - var[i]);
  }
  *(float *)c->out[0].data = 0;
}

static void channel_sum(const CpuCall *c) {
  c->k->channel_sum(c->team, &c->in[0], c->out[0].data);
}

#define MAP(name, OP)                                                                                        \
  static void name(const CpuCall *c) {                                                                       \
    c->k->map(c->team, TM_MAP_##OP, &c->in[0], c->n_in > 1 ? &c->in[1] : NULL, c->node->attrs.value,         \
              &c->out[0]);                                                                                   \
  }
MAP(relu, RELU)
MAP(relu_dx, RELU_DX)
MAP(sigmoid, SIGMOID)
MAP(sigmoid_dx, SIGMOID_DX)
MAP(add, ADD)
MAP(mul, MUL)
MAP(scale, SCALE)
#undef MAP

static void dropout(const CpuCall *c) {
  const gint32 tick = *(const gint32 *)c->in[1].data;
  c->k->dropout(c->team, &c->in[0], c->node->attrs.value, c->node->attrs.key, (guint64)(gint64)tick,
                &c->out[0]);
}

static void normalize(const CpuCall *c) {
  c->k->normalize(c->team, &c->in[0], vector(c, 1), vector(c, 2), &c->out[0]);
}

static void max_pool(const CpuCall *c) {
  c->k->max_pool(c->team, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static void max_pool_dx(const CpuCall *c) {
  c->k->max_pool_dx(c->team, &c->in[0], &c->in[1], &c->in[2], NULL, c->node->attrs.factor, &c->out[0]);
}
static void pool_dx_add(const CpuCall *c) {
  c->k->max_pool_dx(c->team, &c->in[0], &c->in[1], &c->in[2], &c->in[3], c->node->attrs.factor, &c->out[0]);
}

static void upsample_nearest(const CpuCall *c) {
  c->k->upsample_nearest(c->team, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static void upsample_nearest_dx(const CpuCall *c) {
  c->k->upsample_nearest_dx(c->team, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static void upsample_bilinear(const CpuCall *c) {
  c->k->upsample_bilinear(c->team, &c->in[0], c->node->attrs.factor, &c->out[0]);
}
static void upsample_bilinear_dx(const CpuCall *c) {
  c->k->upsample_bilinear_dx(c->team, &c->in[0], c->node->attrs.factor, &c->out[0]);
}

static void concat(const CpuCall *c) {
  int at = 0;
  for (guint i = 0; i < c->n_in; i++) {
    const TmView part = tm_view_channels(&c->out[0], at, c->in[i].shape.c);
    c->k->window(c->team, &c->in[i], 0, 0, &part);
    at += c->in[i].shape.c;
  }
}

static void slice(const CpuCall *c) {
  const TmView part = tm_view_channels(&c->in[0], c->node->attrs.from, c->node->attrs.count);
  c->k->window(c->team, &part, 0, 0, &c->out[0]);
}

static void slice_dx(const CpuCall *c) {
  const TmView part = tm_view_channels(&c->out[0], c->node->attrs.from, c->in[0].shape.c);
  c->k->zero(c->team, &c->out[0]);
  c->k->window(c->team, &c->in[0], 0, 0, &part);
}

static void pad(const CpuCall *c) {
  const TmAttrs *a = &c->node->attrs;
  if (a->pad_mode == TM_PAD_REFLECT)
    c->k->pad_reflect(c->team, &c->in[0], a->top, a->left, &c->out[0]);
  else
    c->k->window(c->team, &c->in[0], a->top, a->left, &c->out[0]);
}

static void pad_dx(const CpuCall *c) {
  const TmAttrs *a = &c->node->attrs;
  if (a->pad_mode == TM_PAD_REFLECT)
    c->k->pad_reflect_dx(c->team, &c->in[0], a->top, a->left, &c->out[0]);
  else
    c->k->window(c->team, &c->in[0], -a->top, -a->left, &c->out[0]);
}

static void crop(const CpuCall *c) {
  c->k->window(c->team, &c->in[0], -c->node->attrs.top, -c->node->attrs.left, &c->out[0]);
}
static void crop_dx(const CpuCall *c) {
  c->k->window(c->team, &c->in[0], c->node->attrs.top, c->node->attrs.left, &c->out[0]);
}

static void softmax(const CpuCall *c) {
  c->k->softmax(c->team, &c->in[0], &c->out[0]);
}

static void cross_entropy(const CpuCall *c) {
  c->k->cross_entropy(c->team, &c->in[0], &c->in[1], vector(c, 2), 0, c->out[0].data, NULL, NULL);
}
static void cross_entropy_dx(const CpuCall *c) {
  c->k->cross_entropy(c->team, &c->in[1], &c->in[2], vector(c, 3), 0, NULL, vector(c, 0), &c->out[0]);
}
static void cross_entropy_grad(const CpuCall *c) {
  c->k->cross_entropy(c->team, &c->in[0], &c->in[1], vector(c, 2), 0, c->out[0].data, vector(c, 3),
                      &c->out[1]);
}
static void focal(const CpuCall *c) {
  c->k->cross_entropy(c->team, &c->in[0], &c->in[1], vector(c, 2), c->node->attrs.value, c->out[0].data, NULL,
                      NULL);
}
static void focal_dx(const CpuCall *c) {
  c->k->cross_entropy(c->team, &c->in[1], &c->in[2], vector(c, 3), c->node->attrs.value, NULL, vector(c, 0),
                      &c->out[0]);
}
static void dice(const CpuCall *c) {
  c->k->dice(c->team, &c->in[0], &c->in[1], c->out[0].data, NULL, NULL);
}
static void dice_dx(const CpuCall *c) {
  c->k->dice(c->team, &c->in[1], &c->in[2], NULL, vector(c, 0), &c->out[0]);
}

static void argmax(const CpuCall *c) {
  c->k->argmax(c->team, &c->in[0], &c->out[0]);
}
static void confusion(const CpuCall *c) {
  c->k->confusion(c->team, &c->in[0], &c->in[1], c->out[0].data);
}

static const CpuRun table[TM_FUSED_END] = {
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
    [TM_FUSED_CROSS_ENTROPY_GRAD] = cross_entropy_grad,
};

CpuRun tm_cpu_step_run(int op) {
  return op >= 0 && op < TM_FUSED_END ? table[op] : NULL;
}

gboolean tm_cpu_step_takes_slice(int op, int operand) {
  return tm_cpu_step_run(op) && !tm_step_operand_is_dense(op, operand);
}
