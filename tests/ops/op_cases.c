#include "tests/ops/op_cases.h"

#include "engine/core/random.h"

/* Short forms for the table. */
#define S(n_, c_, h_, w_)                                                                                    \
  { .n = (n_), .c = (c_), .h = (h_), .w = (w_) }
#define ACT(n, c, h, w)                                                                                      \
  { S(n, c, h, w), TM_KIND_ACT, TM_FILL_NORMAL }
#define DISTINCT(n, c, h, w)                                                                                 \
  { S(n, c, h, w), TM_KIND_ACT, TM_FILL_DISTINCT }
#define UNIT(n, c, h, w)                                                                                     \
  { S(n, c, h, w), TM_KIND_ACT, TM_FILL_UNIT }
#define PARAM(n, c, h, w)                                                                                    \
  { S(n, c, h, w), TM_KIND_PARAM, TM_FILL_NORMAL }
#define VECTOR(c)                                                                                            \
  { S(1, c, 1, 1), TM_KIND_PARAM, TM_FILL_NORMAL }
#define STAT(n, c, h, w)                                                                                     \
  { S(n, c, h, w), TM_KIND_STAT, TM_FILL_NORMAL }
#define STATE(c)                                                                                             \
  { S(1, c, 1, 1), TM_KIND_STATE, TM_FILL_NORMAL }
#define WEIGHTS(c)                                                                                           \
  { S(1, c, 1, 1), TM_KIND_STATE, TM_FILL_POSITIVE }
#define STATS(c)                                                                                             \
  { S(1, 2 * (c), 1, 1), TM_KIND_STAT, TM_FILL_STATS }
#define LABEL(n, h, w)                                                                                       \
  { S(n, 1, h, w), TM_KIND_LABEL, TM_FILL_LABEL }
#define ALL_VOID(n, h, w)                                                                                    \
  { S(n, 1, h, w), TM_KIND_LABEL, TM_FILL_VOID }
#define TICK                                                                                                 \
  { S(1, 1, 1, 1), TM_KIND_COUNT, TM_FILL_TICK }
#define MADE_STATS                                                                                           \
  { S(1, 1, 1, 1), TM_KIND_STAT, TM_FILL_MADE_STATS }
#define MADE_POOL                                                                                            \
  { S(1, 1, 1, 1), TM_KIND_ACT, TM_FILL_MADE_POOL }

#define BYTES(n, c, h, w)                                                                                    \
  { S(n, c, h, w), TM_KIND_PIXEL, TM_FILL_PIXEL }
#define WHOLE(n, c, h, w)                                                                                    \
  { S(n, c, h, w), TM_KIND_STATE, TM_FILL_WHOLE }
#define SMALL(c)                                                                                             \
  { S(1, c, 1, 1), TM_KIND_STATE, TM_FILL_SMALL }
#define PLANES(c)                                                                                            \
  { S(16, c, 1, 1), TM_KIND_STATE, TM_FILL_SMALL }
#define OFFSETS(c)                                                                                           \
  { S(16, c, 1, 1), TM_KIND_STATE, TM_FILL_NORMAL }
#define BYTE(c)                                                                                              \
  { S(1, c, 1, 1), TM_KIND_STATE, TM_FILL_PIXEL }

#define CASE(label, OP, inputs, by, ...)                                                                     \
  { .name = label, .op = TM_OP_##OP, .n_in = (inputs), .gradient_by = (by), __VA_ARGS__ }
#define IN(...) .in = {__VA_ARGS__}
#define WITH(...) .attrs = {__VA_ARGS__}

/* clang-format off */
static const TmOpCase cases[] = {
  /* Convolutions. */
  CASE("conv/3x3", CONV, 2, 3, IN(ACT(2, 3, 5, 7), PARAM(4, 3, 3, 3)), WITH(.pad = 1)),
  CASE("conv/3x3 bias", CONV, 3, 7, IN(ACT(1, 5, 6, 5), PARAM(7, 5, 3, 3), VECTOR(7)), WITH(.pad = 1)),
  CASE("conv/1x1 head", CONV, 3, 7, IN(ACT(2, 16, 5, 3), PARAM(11, 16, 1, 1), VECTOR(11))),
  CASE("conv/1x1 stride 2", CONV, 2, 3, IN(ACT(1, 4, 5, 6), PARAM(6, 4, 1, 1)), WITH(.stride = 2)),
  CASE("conv/3x3 stride 2 odd", CONV, 2, 3, IN(ACT(2, 3, 9, 8), PARAM(5, 3, 3, 3)), WITH(.stride = 2, .pad = 1)),
  CASE("conv/3x3 stride 3", CONV, 2, 3, IN(ACT(1, 2, 11, 10), PARAM(3, 2, 3, 3)), WITH(.stride = 3)),
  CASE("conv/dilation 2", CONV, 2, 3, IN(ACT(1, 3, 9, 7), PARAM(4, 3, 3, 3)), WITH(.pad = 2, .dilation = 2)),
  CASE("conv/dilation 3 stride 2", CONV, 2, 3, IN(ACT(1, 2, 13, 11), PARAM(3, 2, 3, 3)), WITH(.stride = 2, .pad = 3, .dilation = 3)),
  CASE("conv/groups 2", CONV, 3, 7, IN(ACT(2, 6, 5, 5), PARAM(4, 3, 3, 3), VECTOR(4)), WITH(.pad = 1, .groups = 2)),
  CASE("conv/groups 3 stride 2", CONV, 2, 3, IN(ACT(1, 9, 7, 6), PARAM(6, 3, 3, 3)), WITH(.stride = 2, .pad = 1, .groups = 3)),
  CASE("conv/depthwise", CONV, 2, 3, IN(ACT(2, 8, 6, 7), PARAM(8, 1, 3, 3)), WITH(.pad = 1, .groups = 8)),
  CASE("conv/depthwise times two", CONV, 2, 3, IN(ACT(1, 3, 6, 5), PARAM(6, 1, 3, 3)), WITH(.pad = 1, .groups = 3)),
  CASE("conv/5x5", CONV, 2, 3, IN(ACT(1, 2, 7, 6), PARAM(3, 2, 5, 5)), WITH(.pad = 2)),
  CASE("conv/2x3 kernel no pad", CONV, 2, 3, IN(ACT(1, 3, 5, 6), PARAM(4, 3, 2, 3))),
  CASE("conv/1x1 picture", CONV, 3, 7, IN(ACT(3, 4, 1, 1), PARAM(5, 4, 3, 3), VECTOR(5)), WITH(.pad = 1)),
  CASE("conv/one row", CONV, 2, 3, IN(ACT(1, 3, 1, 17), PARAM(4, 3, 3, 3)), WITH(.pad = 1)),
  CASE("conv/first layer", CONV, 2, 3, IN(ACT(2, 3, 17, 31), PARAM(16, 3, 3, 3)), WITH(.pad = 1)),
  CASE("conv/16 to 32", CONV, 2, 3, IN(ACT(2, 16, 9, 10), PARAM(32, 16, 3, 3)), WITH(.pad = 1)),
  CASE("conv/64 to 32", CONV, 2, 3, IN(ACT(1, 64, 12, 20), PARAM(32, 64, 3, 3)), WITH(.pad = 1)),
  CASE("conv/24 to 40 odd", CONV, 2, 3, IN(ACT(1, 24, 7, 33), PARAM(40, 24, 3, 3)), WITH(.pad = 1)),
  CASE("conv/pad beyond the kernel", CONV, 2, 3, IN(ACT(1, 2, 3, 4), PARAM(3, 2, 2, 2)), WITH(.pad = 3)),

  CASE("conv_transpose/2x2 stride 2", CONV_TRANSPOSE, 3, 7, IN(ACT(2, 6, 5, 4), PARAM(6, 3, 2, 2), VECTOR(3)), WITH(.stride = 2)),
  CASE("conv_transpose/3x3 stride 2 even", CONV_TRANSPOSE, 2, 3, IN(ACT(1, 3, 4, 5), PARAM(3, 4, 3, 3)),
       WITH(.stride = 2, .pad = 1, .out_h = 8, .out_w = 10)),
  CASE("conv_transpose/3x3 stride 2 odd", CONV_TRANSPOSE, 2, 3, IN(ACT(1, 3, 4, 5), PARAM(3, 4, 3, 3)), WITH(.stride = 2, .pad = 1)),
  CASE("conv_transpose/3x3 stride 1", CONV_TRANSPOSE, 2, 3, IN(ACT(1, 4, 5, 3), PARAM(4, 2, 3, 3)), WITH(.pad = 1)),
  CASE("conv_transpose/groups 2", CONV_TRANSPOSE, 3, 7, IN(ACT(1, 4, 3, 5), PARAM(4, 3, 2, 2), VECTOR(6)), WITH(.stride = 2, .groups = 2)),
  CASE("conv_transpose/dilation 2", CONV_TRANSPOSE, 2, 3, IN(ACT(1, 2, 4, 3), PARAM(2, 3, 3, 3)), WITH(.stride = 2, .pad = 1, .dilation = 2)),
  CASE("conv_transpose/1x1 picture", CONV_TRANSPOSE, 3, 7, IN(ACT(2, 8, 1, 1), PARAM(8, 4, 2, 2), VECTOR(4)), WITH(.stride = 2)),
  CASE("conv_transpose/32 to 16", CONV_TRANSPOSE, 3, 7, IN(ACT(2, 32, 5, 9), PARAM(32, 16, 2, 2), VECTOR(16)), WITH(.stride = 2)),

  CASE("conv_dw/3x3", CONV_DW, 2, 0, IN(ACT(2, 3, 5, 7), ACT(2, 4, 5, 7)), WITH(.pad = 1, .kernel_h = 3, .kernel_w = 3)),
  CASE("conv_dw/stride 2 groups 2", CONV_DW, 2, 0, IN(ACT(1, 4, 9, 8), ACT(1, 6, 5, 4)),
       WITH(.stride = 2, .pad = 1, .groups = 2, .kernel_h = 3, .kernel_w = 3)),
  CASE("conv_dw/dilation 2", CONV_DW, 2, 0, IN(ACT(1, 2, 9, 7), ACT(1, 3, 9, 7)), WITH(.pad = 2, .dilation = 2, .kernel_h = 3, .kernel_w = 3)),
  CASE("conv_dw/of a transposed one", CONV_DW, 2, 0, IN(ACT(2, 3, 10, 8), ACT(2, 6, 5, 4)), WITH(.stride = 2, .kernel_h = 2, .kernel_w = 2)),
  CASE("conv_dw/32 to 32", CONV_DW, 2, 0, IN(ACT(2, 32, 10, 13), ACT(2, 32, 10, 13)), WITH(.pad = 1, .kernel_h = 3, .kernel_w = 3)),
  CASE("conv_dw/1x1 head", CONV_DW, 2, 0, IN(ACT(2, 16, 6, 5), ACT(2, 11, 6, 5)), WITH(.kernel_h = 1, .kernel_w = 1)),
  CASE("channel_sum/odd", CHANNEL_SUM, 1, 0, IN(ACT(3, 5, 4, 7))),
  CASE("channel_sum/11 classes", CHANNEL_SUM, 1, 0, IN(ACT(2, 11, 9, 9))),
  CASE("channel_sum/1x1", CHANNEL_SUM, 1, 0, IN(ACT(1, 1, 1, 1))),

  /* Quantised. */
  CASE("conv_u8/3x3", CONV_U8, 5, 0, IN(BYTES(2, 3, 5, 17), WHOLE(33, 3, 3, 3), SMALL(33), BYTE(33), BYTE(3))),
  CASE("conv_u8/1x1", CONV_U8, 5, 0, IN(BYTES(1, 6, 4, 5), WHOLE(7, 6, 1, 1), SMALL(7), BYTE(7), BYTE(6))),
  CASE("conv_u8/5x5", CONV_U8, 5, 0, IN(BYTES(1, 5, 7, 3), WHOLE(4, 5, 5, 5), SMALL(4), BYTE(4), BYTE(5))),
  CASE("conv_u8/32 to 64", CONV_U8, 5, 0, IN(BYTES(1, 32, 9, 30), WHOLE(64, 32, 3, 3), SMALL(64), BYTE(64), BYTE(32))),
  CASE("conv_u8/70 to 40", CONV_U8, 5, 0, IN(BYTES(1, 70, 3, 13), WHOLE(40, 70, 3, 3), SMALL(40), BYTE(40), BYTE(70))),
  CASE("conv_u8/1x1 picture", CONV_U8, 5, 0, IN(BYTES(3, 4, 1, 1), WHOLE(5, 4, 3, 3), SMALL(5), BYTE(5), BYTE(4))),
  CASE("winograd_u8/odd", WINOGRAD_U8, 5, 0, IN(BYTES(2, 3, 5, 17), WHOLE(33, 3, 4, 4), PLANES(33), OFFSETS(33), BYTE(3))),
  CASE("winograd_u8/32 to 64", WINOGRAD_U8, 5, 0, IN(BYTES(1, 32, 9, 30), WHOLE(64, 32, 4, 4), PLANES(64), OFFSETS(64), BYTE(32))),
  CASE("winograd_u8/70 to 40", WINOGRAD_U8, 5, 0, IN(BYTES(1, 70, 6, 13), WHOLE(40, 70, 4, 4), PLANES(40), OFFSETS(40), BYTE(70))),
  CASE("winograd_u8/1x1 picture", WINOGRAD_U8, 5, 0, IN(BYTES(3, 4, 1, 1), WHOLE(5, 4, 4, 4), PLANES(5), OFFSETS(5), BYTE(4))),
  CASE("winograd_u8/wide", WINOGRAD_U8, 5, 0, IN(BYTES(1, 33, 4, 90), WHOLE(7, 33, 4, 4), PLANES(7), OFFSETS(7), BYTE(33))),
  CASE("conv_transpose_u8/odd", CONV_TRANSPOSE_U8, 4, 0, IN(BYTES(2, 5, 3, 7), WHOLE(5, 6, 2, 2), SMALL(6), BYTE(6))),
  CASE("conv_transpose_u8/64 to 33", CONV_TRANSPOSE_U8, 4, 0, IN(BYTES(1, 64, 5, 14), WHOLE(64, 33, 2, 2), SMALL(33), BYTE(33))),
  CASE("argmax_u8/11 classes", ARGMAX_U8, 4, 0, IN(BYTES(2, 32, 6, 19), WHOLE(11, 32, 1, 1), SMALL(11), BYTE(11))),
  CASE("argmax_u8/cut", ARGMAX_U8, 4, 0, IN(BYTES(1, 7, 8, 23), WHOLE(40, 7, 1, 1), SMALL(40), BYTE(40)),
       WITH(.top = 1, .left = 2, .bottom = 3, .right = 1)),
  CASE("max_pool/bytes", MAX_POOL, 1, 0, IN(BYTES(2, 35, 7, 5)), WITH(.factor = 2)),
  CASE("max_pool/bytes by 3", MAX_POOL, 1, 0, IN(BYTES(1, 64, 7, 9)), WITH(.factor = 3)),
  CASE("concat/bytes", CONCAT, 2, 0, IN(BYTES(2, 3, 4, 5), BYTES(2, 6, 4, 5))),
  CASE("pad/bytes", PAD, 1, 0, IN(BYTES(1, 3, 4, 5)), WITH(.top = 2, .left = 1, .right = 3, .pad_mode = TM_PAD_REFLECT)),

  /* Batch normalisation. */
  CASE("bn_stats/odd", BN_STATS, 1, 0, IN(ACT(2, 5, 7, 3))),
  CASE("bn_stats/32", BN_STATS, 1, 0, IN(ACT(2, 32, 9, 11))),
  CASE("bn_stats/one value", BN_STATS, 1, 0, IN(ACT(1, 3, 1, 1))),
  CASE("bn_apply/odd", BN_APPLY, 4, 1 | 4 | 8, IN(ACT(2, 5, 7, 3), MADE_STATS, VECTOR(5), VECTOR(5)), WITH(.value = 1e-5f)),
  CASE("bn_apply/16", BN_APPLY, 4, 1 | 4 | 8, IN(ACT(2, 16, 6, 5), MADE_STATS, VECTOR(16), VECTOR(16)), WITH(.value = 1e-5f)),
  CASE("bn_infer/odd", BN_INFER, 5, 1, IN(ACT(2, 5, 7, 3), STATE(5), WEIGHTS(5), VECTOR(5), VECTOR(5)), WITH(.value = 1e-5f)),
  CASE("bn_infer/32", BN_INFER, 5, 1, IN(ACT(1, 32, 6, 9), STATE(32), WEIGHTS(32), VECTOR(32), VECTOR(32)), WITH(.value = 1e-3f)),
  CASE("bn_reduce/odd", BN_REDUCE, 3, 0, IN(ACT(2, 5, 7, 3), ACT(2, 5, 7, 3), MADE_STATS), WITH(.value = 1e-5f)),
  CASE("bn_reduce/32", BN_REDUCE, 3, 0, IN(ACT(2, 32, 5, 9), ACT(2, 32, 5, 9), MADE_STATS), WITH(.value = 1e-5f)),
  CASE("bn_dx/odd", BN_DX, 5, 0, IN(ACT(2, 5, 7, 3), ACT(2, 5, 7, 3), MADE_STATS, VECTOR(5), STAT(1, 10, 1, 1)), WITH(.value = 1e-5f)),
  CASE("bn_dx/32", BN_DX, 5, 0, IN(ACT(1, 32, 7, 9), ACT(1, 32, 7, 9), MADE_STATS, VECTOR(32), STAT(1, 64, 1, 1)), WITH(.value = 1e-5f)),
  CASE("bn_running/odd", BN_RUNNING, 3, 0, IN(STATS(5), STATE(5), WEIGHTS(5)), WITH(.value = 0.1f, .count = 42)),
  CASE("bn_running/one value", BN_RUNNING, 3, 0, IN(STATS(3), STATE(3), WEIGHTS(3)), WITH(.value = 0.1f, .count = 1)),

  /* Elementwise. */
  CASE("relu/odd", RELU, 1, 1, IN(DISTINCT(2, 3, 5, 7))),
  CASE("relu/32", RELU, 1, 1, IN(DISTINCT(1, 32, 5, 3))),
  CASE("relu_dx/odd", RELU_DX, 2, 0, IN(ACT(2, 3, 5, 7), DISTINCT(2, 3, 5, 7))),
  CASE("sigmoid/odd", SIGMOID, 1, 1, IN(ACT(2, 3, 5, 7))),
  CASE("sigmoid_dx/odd", SIGMOID_DX, 2, 0, IN(ACT(1, 3, 5, 7), UNIT(1, 3, 5, 7))),
  CASE("add/odd", ADD, 2, 3, IN(ACT(2, 3, 5, 7), ACT(2, 3, 5, 7))),
  CASE("add/scalars", ADD, 2, 3, IN(STAT(1, 1, 1, 1), STAT(1, 1, 1, 1))),
  CASE("add/vectors", ADD, 2, 3, IN(STAT(1, 7, 1, 1), STAT(1, 7, 1, 1))),
  CASE("mul/odd", MUL, 2, 3, IN(ACT(2, 3, 5, 7), ACT(2, 3, 5, 7))),
  CASE("mul/scalars", MUL, 2, 3, IN(STAT(1, 1, 1, 1), STAT(1, 1, 1, 1))),
  CASE("scale/odd", SCALE, 1, 1, IN(ACT(2, 3, 5, 7)), WITH(.value = -0.375f)),
  CASE("scale/scalar", SCALE, 1, 1, IN(STAT(1, 1, 1, 1)), WITH(.value = 0.5f)),
  CASE("dropout/odd", DROPOUT, 2, 1, IN(ACT(2, 3, 5, 7), TICK), WITH(.value = 0.3f, .key = 42)),
  CASE("dropout/none", DROPOUT, 2, 1, IN(ACT(1, 8, 5, 7), TICK), WITH(.value = 0.0f, .key = 7)),
  CASE("normalize/odd", NORMALIZE, 3, 0, IN({S(2, 3, 5, 7), TM_KIND_PIXEL, TM_FILL_PIXEL}, STATE(3), WEIGHTS(3))),

  /* Space and channels. */
  CASE("max_pool/2", MAX_POOL, 1, 1, IN(DISTINCT(2, 3, 6, 8)), WITH(.factor = 2)),
  CASE("max_pool/2 odd", MAX_POOL, 1, 1, IN(DISTINCT(2, 3, 7, 5)), WITH(.factor = 2)),
  CASE("max_pool/3 odd", MAX_POOL, 1, 1, IN(DISTINCT(1, 2, 8, 10)), WITH(.factor = 3)),
  CASE("max_pool/32", MAX_POOL, 1, 1, IN(DISTINCT(1, 32, 4, 6)), WITH(.factor = 2)),
  CASE("max_pool_dx/2", MAX_POOL_DX, 3, 0, IN(ACT(2, 3, 3, 4), DISTINCT(2, 3, 6, 8), MADE_POOL), WITH(.factor = 2)),
  CASE("max_pool_dx/2 odd", MAX_POOL_DX, 3, 0, IN(ACT(2, 3, 3, 2), DISTINCT(2, 3, 7, 5), MADE_POOL), WITH(.factor = 2)),
  CASE("max_pool_dx/3 odd", MAX_POOL_DX, 3, 0, IN(ACT(1, 2, 2, 3), DISTINCT(1, 2, 8, 10), MADE_POOL), WITH(.factor = 3)),
  CASE("upsample_nearest/2", UPSAMPLE_NEAREST, 1, 1, IN(ACT(2, 3, 5, 4)), WITH(.factor = 2)),
  CASE("upsample_nearest/3", UPSAMPLE_NEAREST, 1, 1, IN(ACT(1, 16, 2, 3)), WITH(.factor = 3)),
  CASE("upsample_nearest_dx/2", UPSAMPLE_NEAREST_DX, 1, 0, IN(ACT(2, 3, 10, 8)), WITH(.factor = 2)),
  CASE("upsample_bilinear/2", UPSAMPLE_BILINEAR, 1, 1, IN(ACT(2, 3, 5, 4)), WITH(.factor = 2)),
  CASE("upsample_bilinear/3", UPSAMPLE_BILINEAR, 1, 1, IN(ACT(1, 5, 2, 3)), WITH(.factor = 3)),
  CASE("upsample_bilinear/4 from 1x1", UPSAMPLE_BILINEAR, 1, 1, IN(ACT(1, 2, 1, 1)), WITH(.factor = 4)),
  CASE("upsample_bilinear/32", UPSAMPLE_BILINEAR, 1, 1, IN(ACT(1, 32, 4, 7)), WITH(.factor = 2)),
  CASE("upsample_bilinear_dx/2", UPSAMPLE_BILINEAR_DX, 1, 0, IN(ACT(2, 3, 10, 8)), WITH(.factor = 2)),
  CASE("upsample_bilinear_dx/3", UPSAMPLE_BILINEAR_DX, 1, 0, IN(ACT(1, 4, 6, 9)), WITH(.factor = 3)),
  CASE("concat/two", CONCAT, 2, 3, IN(ACT(2, 3, 5, 7), ACT(2, 4, 5, 7))),
  CASE("concat/three", CONCAT, 3, 7, IN(ACT(1, 1, 3, 2), ACT(1, 5, 3, 2), ACT(1, 2, 3, 2))),
  CASE("concat/eight", CONCAT, 8, 255,
       IN(ACT(1, 1, 2, 3), ACT(1, 2, 2, 3), ACT(1, 3, 2, 3), ACT(1, 1, 2, 3), ACT(1, 1, 2, 3), ACT(1, 4, 2, 3), ACT(1, 1, 2, 3), ACT(1, 2, 2, 3))),
  CASE("slice/middle", SLICE, 1, 1, IN(ACT(2, 7, 3, 5)), WITH(.from = 2, .count = 3)),
  CASE("slice/vector", SLICE, 1, 1, IN(STAT(1, 10, 1, 1)), WITH(.from = 5, .count = 5)),
  CASE("slice_dx/middle", SLICE_DX, 1, 0, IN(ACT(2, 3, 3, 5)), WITH(.from = 2, .count = 7)),
  CASE("pad/zero", PAD, 1, 1, IN(ACT(2, 3, 5, 4)), WITH(.top = 1, .left = 2, .bottom = 3, .right = 0)),
  CASE("pad/reflect", PAD, 1, 1, IN(ACT(2, 3, 5, 4)), WITH(.top = 2, .left = 3, .bottom = 4, .right = 1, .pad_mode = TM_PAD_REFLECT)),
  CASE("pad/reflect too small", PAD, 1, 1, IN(ACT(1, 3, 2, 1)),
       WITH(.top = 3, .left = 4, .bottom = 5, .right = 2, .pad_mode = TM_PAD_REFLECT)),
  CASE("pad_dx/zero", PAD_DX, 1, 0, IN(ACT(2, 3, 9, 6)), WITH(.top = 1, .left = 2, .bottom = 3, .right = 0)),
  CASE("pad_dx/reflect", PAD_DX, 1, 0, IN(ACT(2, 3, 11, 8)), WITH(.top = 2, .left = 3, .bottom = 4, .right = 1, .pad_mode = TM_PAD_REFLECT)),
  CASE("crop/odd", CROP, 1, 1, IN(ACT(2, 3, 9, 8)), WITH(.top = 1, .left = 2, .bottom = 3, .right = 0)),
  CASE("crop_dx/odd", CROP_DX, 1, 0, IN(ACT(2, 3, 5, 6)), WITH(.top = 1, .left = 2, .bottom = 3, .right = 0)),

  /* Losses and readings. */
  CASE("softmax/odd", SOFTMAX, 1, 0, IN(ACT(2, 5, 3, 7))),
  CASE("softmax/11", SOFTMAX, 1, 0, IN(ACT(1, 11, 4, 5))),
  CASE("cross_entropy/odd", CROSS_ENTROPY, 3, 1, IN(ACT(2, 5, 3, 7), LABEL(2, 3, 7), WEIGHTS(5))),
  CASE("cross_entropy/11", CROSS_ENTROPY, 3, 1, IN(ACT(2, 11, 9, 10), LABEL(2, 9, 10), WEIGHTS(11))),
  CASE("cross_entropy/all void", CROSS_ENTROPY, 3, 1, IN(ACT(1, 4, 3, 3), ALL_VOID(1, 3, 3), WEIGHTS(4))),
  CASE("cross_entropy_dx/odd", CROSS_ENTROPY_DX, 4, 0, IN(STAT(1, 1, 1, 1), ACT(2, 5, 3, 7), LABEL(2, 3, 7), WEIGHTS(5)), .classes_of = 1),
  CASE("cross_entropy_dx/11", CROSS_ENTROPY_DX, 4, 0, IN(STAT(1, 1, 1, 1), ACT(1, 11, 9, 7), LABEL(1, 9, 7), WEIGHTS(11)), .classes_of = 1),
  CASE("dice/odd", DICE, 2, 1, IN(ACT(2, 5, 3, 7), LABEL(2, 3, 7))),
  CASE("dice/absent classes", DICE, 2, 1, IN(ACT(1, 9, 2, 3), LABEL(1, 2, 3))),
  CASE("dice/all void", DICE, 2, 1, IN(ACT(1, 4, 3, 3), ALL_VOID(1, 3, 3))),
  CASE("dice_dx/odd", DICE_DX, 3, 0, IN(STAT(1, 1, 1, 1), ACT(2, 5, 3, 7), LABEL(2, 3, 7)), .classes_of = 1),
  CASE("focal/odd", FOCAL, 3, 1, IN(ACT(2, 5, 3, 7), LABEL(2, 3, 7), WEIGHTS(5)), WITH(.value = 2.0f)),
  CASE("focal/gamma 0", FOCAL, 3, 1, IN(ACT(1, 3, 4, 5), LABEL(1, 4, 5), WEIGHTS(3)), WITH(.value = 0.0f)),
  CASE("focal/all void", FOCAL, 3, 1, IN(ACT(1, 4, 3, 3), ALL_VOID(1, 3, 3), WEIGHTS(4)), WITH(.value = 2.0f)),
  CASE("focal_dx/odd", FOCAL_DX, 4, 0, IN(STAT(1, 1, 1, 1), ACT(2, 5, 3, 7), LABEL(2, 3, 7), WEIGHTS(5)), WITH(.value = 1.5f), .classes_of = 1),
  CASE("argmax/odd", ARGMAX, 1, 0, IN(DISTINCT(2, 5, 3, 7))),
  CASE("argmax/11", ARGMAX, 1, 0, IN(DISTINCT(1, 11, 5, 6))),
  CASE("confusion/odd", CONFUSION, 2, 0, IN(DISTINCT(2, 5, 3, 7), LABEL(2, 3, 7))),
};
/* clang-format on */

const TmOpCase *tm_op_cases(guint *n) {
  *n = G_N_ELEMENTS(cases);
  return cases;
}

gboolean tm_op_case_is_made(const TmOpCase *c, guint i) {
  return c->in[i].fill == TM_FILL_MADE_STATS || c->in[i].fill == TM_FILL_MADE_POOL;
}

gboolean tm_op_case_graph(const TmOpCase *c, TmGraph *g, TmNode **in, TmNode **out, GError **error) {
  for (guint i = 0; i < c->n_in; i++) {
    const TmOpCaseInput *x = &c->in[i];
    const char name[] = {'i', 'n', (char)('0' + i), '\0'};
    if (x->fill == TM_FILL_MADE_STATS) {
      in[i] = tm_node(g, TM_OP_BN_STATS, name, NULL, in[i - 1]);
    } else if (x->fill == TM_FILL_MADE_POOL) {
      in[i] = tm_node(g, TM_OP_MAX_POOL, name, &c->attrs, in[i - 1]);
    } else {
      const TmOp op = x->kind == TM_KIND_PARAM   ? TM_OP_PARAM
                      : x->kind == TM_KIND_STATE ? TM_OP_STATE
                                                 : TM_OP_INPUT;
      in[i] = tm_graph_source(g, op, x->kind, x->shape, name);
    }
  }
  *out = tm_graph_add(g, c->op, "out", &c->attrs, c->n_in, in);
  return tm_graph_check(g, error);
}

static void fill_labels(TmRandom *r, guint classes, float *dst, gsize n) {
  for (gsize k = 0; k < n; k++) {
    const guint u = tm_random_int(r, 16);
    dst[k] = u == 0 ? (float)TM_VOID : u == 1 ? (float)classes : (float)tm_random_int(r, classes);
  }
}

/* The multiples of 1/32 but 0, in an order of which each stretch of 512 is the same permutation. */
static void fill_distinct(TmRandom *r, float *dst, gsize n) {
  guint order[512];
  for (guint k = 0; k < 512; k++) order[k] = k;
  tm_random_shuffle(r, order, 512);
  for (gsize k = 0; k < n; k++) {
    const int v = (int)order[k % 512] - 256;
    dst[k] = (float)(v >= 0 ? v + 1 : v) / 32;
  }
}

void tm_op_case_fill(const TmOpCase *c, guint i, guint64 seed, float *dst) {
  const TmOpCaseInput *x = &c->in[i];
  const gsize n = tm_shape_count(x->shape);
  TmRandom r;
  tm_random_seed(&r, tm_random_hash(seed, i, g_str_hash(c->name)));
  switch (x->fill) {
  case TM_FILL_LABEL:
    fill_labels(&r, (guint)c->in[c->classes_of].shape.c, dst, n);
    return;
  case TM_FILL_DISTINCT:
    fill_distinct(&r, dst, n);
    return;
  default:
    break;
  }
  for (gsize k = 0; k < n; k++) switch (x->fill) {
    case TM_FILL_POSITIVE:
      dst[k] = tm_random_range(&r, 0.5f, 2);
      break;
    case TM_FILL_UNIT:
      dst[k] = tm_random_range(&r, 0.1f, 0.9f);
      break;
    case TM_FILL_WHOLE:
      dst[k] = (float)tm_random_int(&r, 255) - 127;
      break;
    case TM_FILL_SMALL:
      dst[k] = tm_random_range(&r, 0.0002f, 0.001f);
      break;
    case TM_FILL_PIXEL:
      dst[k] = (float)tm_random_int(&r, 256);
      break;
    case TM_FILL_VOID:
      dst[k] = TM_VOID;
      break;
    case TM_FILL_TICK:
      dst[k] = (float)(1 + tm_random_int(&r, 1000));
      break;
    case TM_FILL_STATS:
      dst[k] = k < n / 2 ? tm_random_normal(&r) : tm_random_range(&r, 0.5f, 2);
      break;
    default:
      dst[k] = tm_random_normal(&r);
      break;
    }
}

gboolean tm_op_case_load_one(const TmOpCase *c, TmProgram *p, TmParams *params, TmNode *const *in, guint i,
                             const float *values, GError **error) {
  const TmKind kind = c->in[i].kind;
  if (kind != TM_KIND_PARAM && kind != TM_KIND_STATE)
    return tm_program_write(p, in[i], values, TM_F32, error);
  const TmParam *which = tm_params_find(params, in[i]->name);
  if (!which) {
    g_set_error(error, TM_ERROR, TM_ERROR_FAILED, "no parameter called %s", in[i]->name);
    return FALSE;
  }
  return tm_params_write(params, which, values, error);
}

gboolean tm_op_case_load(const TmOpCase *c, TmProgram *p, TmParams *params, TmNode *const *in, guint64 seed,
                         GError **error) {
  for (guint i = 0; i < c->n_in; i++) {
    if (tm_op_case_is_made(c, i)) continue;
    g_autofree float *values = g_new(float, tm_shape_count(c->in[i].shape));
    tm_op_case_fill(c, i, seed, values);
    if (!tm_op_case_load_one(c, p, params, in, i, values, error)) return FALSE;
  }
  return TRUE;
}

gboolean tm_op_case_sliceable(TmBackend *b, const TmGraph *g, const TmNode *n, TmDType precision) {
  if (tm_shape_pixels(n->shape) == 1) return FALSE; /* contiguous whatever the stride */
  for (guint id = 0; id < tm_graph_n_nodes(g); id++) {
    const TmNode *u = tm_graph_node(g, id);
    if (u->n_in == 0) continue;
    if (u == n && !tm_backend_takes_slice(b, (int)u->op, u, ~0, precision)) return FALSE;
    for (guint i = 0; i < u->n_in; i++)
      if (u->in[i] == n && !tm_backend_takes_slice(b, (int)u->op, u, (int)i, precision)) return FALSE;
  }
  return TRUE;
}
