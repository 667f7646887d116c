/* The rows of the op table: what each says of itself, the shapes it gives, and what it refuses. */
#include <math.h>
#include <string.h>

#include "tests/ops/op_cases.h"

/* ---- what every row must say ---- */

static void test_row(gconstpointer data) {
  const TmOp op = (TmOp)GPOINTER_TO_INT(data);
  const TmOpInfo *info = tm_op_info(op);
  g_assert_cmpint(tm_op_by_name(info->name), ==, op);
  g_assert_cmpuint(info->min_in, <=, info->max_in);
  g_assert_cmpuint(info->max_in, <=, TM_MAX_INPUTS);
  g_assert_nonnull(info->shape);
  g_assert_nonnull(info->explain);
  const gsize n = strlen(info->explain);
  g_assert_cmpuint(n, >=, 60);
  g_assert_cmpuint(n, <=, 600);
  g_assert_true(g_ascii_isupper(info->explain[0]) && info->explain[n - 1] == '.');
  g_assert_null(strstr(info->explain, "  "));
  if (info->max_in == 0) return;

  /* Costs, at the shapes of the table. Ops that only move numbers have none. */
  const gboolean moves = op == TM_OP_CONCAT || op == TM_OP_SLICE || op == TM_OP_SLICE_DX || op == TM_OP_PAD ||
                         op == TM_OP_PAD_DX || op == TM_OP_CROP || op == TM_OP_CROP_DX ||
                         op == TM_OP_UPSAMPLE_NEAREST;
  guint n_cases;
  const TmOpCase *cases = tm_op_cases(&n_cases);
  for (guint i = 0; i < n_cases; i++) {
    if (cases[i].op != op) continue;
    g_autoptr(TmGraph) g = tm_graph_new();
    g_autoptr(GError) error = NULL;
    TmNode *in[TM_MAX_INPUTS], *out;
    tm_op_case_graph(&cases[i], g, in, &out, &error);
    g_assert_no_error(error);
    g_assert_true(moves || tm_node_flops(out) > 0);
    g_assert_cmpfloat(tm_node_bytes(out, 4), >=, 4);
    g_assert_cmpfloat(tm_node_bytes(out, 2), <=, tm_node_bytes(out, 4));
  }
}

static void test_names_of_onnx(void) {
  static const struct {
    TmOp op;
    const char *name;
  } rows[] = {
      {TM_OP_CONV, "Conv"},
      {TM_OP_CONV_TRANSPOSE, "ConvTranspose"},
      {TM_OP_BN_INFER, "BatchNormalization"},
      {TM_OP_RELU, "Relu"},
      {TM_OP_SIGMOID, "Sigmoid"},
      {TM_OP_ADD, "Add"},
      {TM_OP_MUL, "Mul"},
      {TM_OP_SCALE, "Mul"},
      {TM_OP_DROPOUT, "Dropout"},
      {TM_OP_MAX_POOL, "MaxPool"},
      {TM_OP_UPSAMPLE_NEAREST, "Resize"},
      {TM_OP_UPSAMPLE_BILINEAR, "Resize"},
      {TM_OP_CONCAT, "Concat"},
      {TM_OP_SLICE, "Slice"},
      {TM_OP_PAD, "Pad"},
      {TM_OP_CROP, "Slice"},
      {TM_OP_SOFTMAX, "Softmax"},
      {TM_OP_ARGMAX, "ArgMax"},
  };
  guint named = 0;
  for (int op = 0; op < TM_N_OPS; op++) named += tm_op_info((TmOp)op)->onnx != NULL;
  g_assert_cmpuint(named, ==, G_N_ELEMENTS(rows));
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    g_assert_cmpstr(tm_op_info(rows[i].op)->onnx, ==, rows[i].name);
}

/* ---- shapes and costs by hand ---- */

static TmNode *act(TmGraph *g, int n, int c, int h, int w) {
  return tm_graph_source(g, TM_OP_INPUT, TM_KIND_ACT, TM_SHAPE(n, c, h, w), NULL);
}

static void expect_shape(const TmNode *n, int a, int b, int c, int d) {
  g_assert_cmpint(n->shape.n, ==, a);
  g_assert_cmpint(n->shape.c, ==, b);
  g_assert_cmpint(n->shape.h, ==, c);
  g_assert_cmpint(n->shape.w, ==, d);
}

static void test_conv_shapes(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = act(g, 2, 6, 9, 8);
  expect_shape(tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.pad = 1}), x, act(g, 5, 6, 3, 3)), 2, 5, 9, 8);
  expect_shape(tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.stride = 2, .pad = 1}), x, act(g, 5, 6, 3, 3)), 2, 5,
               5, 4);
  expect_shape(tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.dilation = 3}), x, act(g, 4, 3, 3, 2)), 1, 1, 1,
               1); /* wrong channels */
  g_assert_false(tm_graph_check(g, NULL));
}

static void test_conv_transpose_shapes(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = act(g, 2, 6, 9, 8);
  expect_shape(tm_node(g, TM_OP_CONV_TRANSPOSE, NULL, (&(TmAttrs){.stride = 2}), x, act(g, 6, 5, 2, 2)), 2, 5,
               18, 16);
  expect_shape(
      tm_node(g, TM_OP_CONV_TRANSPOSE, NULL, (&(TmAttrs){.stride = 2, .groups = 3}), x, act(g, 6, 5, 2, 2)),
      2, 15, 18, 16);
  expect_shape(
      tm_node(g, TM_OP_CONV_TRANSPOSE, NULL, (&(TmAttrs){.stride = 2, .pad = 1}), x, act(g, 6, 5, 3, 3)), 2,
      5, 17, 15);
  expect_shape(tm_node(g, TM_OP_CONV_TRANSPOSE, NULL,
                       (&(TmAttrs){.stride = 2, .pad = 1, .out_h = 18, .out_w = 16}), x, act(g, 6, 5, 3, 3)),
               2, 5, 18, 16);
  g_assert_true(tm_graph_check(g, NULL));
}

static void test_costs(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = act(g, 2, 6, 9, 8),
         *w = tm_graph_source(g, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(4, 3, 3, 3), "w");
  TmNode *bias = tm_graph_source(g, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(1, 4, 1, 1), "b");
  const TmAttrs a = {.pad = 1, .groups = 2};
  const TmNode *plain = tm_node(g, TM_OP_CONV, NULL, &a, x, w),
               *with_bias = tm_node(g, TM_OP_CONV, NULL, &a, x, w, bias);
  g_assert_cmpfloat(tm_node_flops(plain), ==, 2.0 * 2 * 4 * 72 * 27);
  g_assert_cmpfloat(tm_node_flops(with_bias) - tm_node_flops(plain), ==, 2 * 4 * 72);
  g_assert_cmpfloat(tm_node_bytes(plain, 2), ==, 2 * (2 * 6 * 72 + 2 * 4 * 72) + 4 * 4 * 27);
  /* Forward, by x and by w each take the same multiplications. */
  TmNode *dx[3] = {NULL};
  tm_op_info(TM_OP_CONV)->gradient(g, (TmNode *)plain, (TmNode *)with_bias, (gboolean[]){TRUE, TRUE}, dx);
  g_assert_cmpfloat(tm_node_flops(dx[0]), ==, tm_node_flops(plain));
  g_assert_cmpfloat(tm_node_flops(dx[1]), ==, tm_node_flops(plain));
  const TmNode *part = tm_node(g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = 1, .count = 2}), x);
  g_assert_cmpfloat(tm_node_bytes(part, 4), ==, 2 * 4 * 2 * 2 * 72);
  g_assert_true(tm_graph_check(g, NULL));
}

/* ---- what is refused ---- */

#define S(a, b, c_, d)                                                                                       \
  { .n = a, .c = b, .h = c_, .w = d }
#define A(...)                                                                                               \
  { .shape = S(__VA_ARGS__), .kind = TM_KIND_ACT }
#define L(...)                                                                                               \
  { .shape = S(__VA_ARGS__), .kind = TM_KIND_LABEL }
#define P(...)                                                                                               \
  { .shape = S(__VA_ARGS__), .kind = TM_KIND_PIXEL }
#define N(...)                                                                                               \
  { .shape = S(__VA_ARGS__), .kind = TM_KIND_COUNT }
#define BAD(label, OP, inputs, says, ...)                                                                    \
  { label, TM_OP_##OP, inputs, says, __VA_ARGS__ }
#define IN(...)                                                                                              \
  { __VA_ARGS__ }

typedef struct {
  const char *name;
  TmOp op;
  guint n_in;
  const char *says; /* part of the sentence */
  struct {
    TmShape shape;
    TmKind kind;
  } in[TM_MAX_INPUTS];
  TmAttrs attrs;
} Refusal;

/* clang-format off */
static const Refusal refusals[] = {
  BAD("conv/channels", CONV, 2, "4 channels", IN(A(1, 3, 8, 8), A(5, 4, 3, 3))),
  BAD("conv/kernel too large", CONV, 2, "5×5 kernel", IN(A(1, 3, 4, 8), A(5, 3, 5, 5))),
  BAD("conv/dilated kernel too large", CONV, 2, "does not fit", IN(A(1, 3, 8, 8), A(5, 3, 3, 3)), {.dilation = 4}),
  BAD("conv/groups", CONV, 2, "2 groups", IN(A(1, 3, 8, 8), A(4, 1, 3, 3)), {.groups = 2}),
  BAD("conv/groups of results", CONV, 2, "5 channels", IN(A(1, 4, 8, 8), A(5, 2, 3, 3)), {.groups = 2}),
  BAD("conv/bias", CONV, 3, "vector of 5", IN(A(1, 3, 8, 8), A(5, 3, 3, 3), A(1, 4, 1, 1))),
  BAD("conv/negative stride", CONV, 2, "stride -1", IN(A(1, 3, 8, 8), A(5, 3, 3, 3)), {.stride = -1}),
  BAD("conv/negative pad", CONV, 2, "pad -2", IN(A(1, 3, 8, 8), A(5, 3, 3, 3)), {.pad = -2}),
  BAD("conv/huge pad", CONV, 2, "at most", IN(A(1, 3, 8, 8), A(5, 3, 3, 3)), {.pad = G_MAXINT}),
  BAD("conv/too large", CONV, 2, "too large", IN(A(1 << 20, 1, 1, 1), A(1 << 20, 1, 1, 1)), {.pad = 1 << 20}),
  BAD("conv/labels", CONV, 2, "real numbers", IN(L(1, 3, 8, 8), A(5, 3, 3, 3))),
  BAD("conv_transpose/channels", CONV_TRANSPOSE, 2, "4 channels", IN(A(1, 3, 8, 8), A(4, 5, 2, 2))),
  BAD("conv_transpose/size", CONV_TRANSPOSE, 2, "16×16", IN(A(1, 3, 8, 8), A(3, 5, 2, 2)), {.stride = 2, .out_h = 18, .out_w = 16}),
  BAD("conv_transpose/size below", CONV_TRANSPOSE, 2, "cannot be", IN(A(1, 3, 8, 8), A(3, 5, 2, 2)), {.stride = 2, .out_h = 15}),
  BAD("conv_transpose/all padding", CONV_TRANSPOSE, 2, "too small", IN(A(1, 3, 2, 2), A(3, 5, 2, 2)), {.pad = 4}),
  BAD("conv_transpose/bias", CONV_TRANSPOSE, 3, "vector of 5", IN(A(1, 3, 8, 8), A(3, 5, 2, 2), A(1, 3, 1, 1)), {.stride = 2}),
  BAD("conv_dw/kernel", CONV_DW, 2, "0×0", IN(A(1, 3, 8, 8), A(1, 4, 8, 8))),
  BAD("conv_dw/sizes", CONV_DW, 2, "gives 6×6", IN(A(1, 3, 8, 8), A(1, 4, 8, 8)), {.kernel_h = 3, .kernel_w = 3}),
  BAD("conv_dw/batch", CONV_DW, 2, "2 pictures", IN(A(1, 3, 8, 8), A(2, 4, 8, 8)), {.kernel_h = 1, .kernel_w = 1}),
  BAD("conv_u8/kind", CONV_U8, 5, "picture bytes", IN(A(1, 3, 8, 8), A(4, 3, 3, 3), A(1, 4, 1, 1), A(1, 4, 1, 1), A(1, 3, 1, 1))),
  BAD("conv_u8/kernel", CONV_U8, 5, "2×2 kernel", IN(P(1, 3, 8, 8), A(4, 3, 2, 2), A(1, 4, 1, 1), A(1, 4, 1, 1), A(1, 3, 1, 1))),
  BAD("conv_u8/zero", CONV_U8, 5, "vector of 3", IN(P(1, 3, 8, 8), A(4, 3, 3, 3), A(1, 4, 1, 1), A(1, 4, 1, 1), A(1, 4, 1, 1))),
  BAD("conv_u8/sums", CONV_U8, 5, "32 bits", IN(P(1, 8000, 2, 2), A(4, 8000, 3, 3), A(1, 4, 1, 1), A(1, 4, 1, 1), A(1, 8000, 1, 1))),
  BAD("winograd_u8/kernel", WINOGRAD_U8, 5, "4×4, not 3×3", IN(P(1, 3, 8, 8), A(4, 3, 3, 3), A(16, 4, 1, 1), A(16, 4, 1, 1), A(1, 3, 1, 1))),
  BAD("winograd_u8/scale", WINOGRAD_U8, 5, "16×4×1×1", IN(P(1, 3, 8, 8), A(4, 3, 4, 4), A(1, 4, 1, 1), A(16, 4, 1, 1), A(1, 3, 1, 1))),
  BAD("conv_transpose_u8/kernel", CONV_TRANSPOSE_U8, 4, "2×2 can", IN(P(1, 3, 8, 8), A(3, 4, 3, 3), A(1, 4, 1, 1), A(1, 4, 1, 1))),
  BAD("argmax_u8/channels", ARGMAX_U8, 4, "takes 4 channels", IN(P(1, 3, 8, 8), A(5, 4, 1, 1), A(1, 5, 1, 1), A(1, 5, 1, 1))),
  BAD("argmax_u8/nothing left", ARGMAX_U8, 4, "too small", IN(P(1, 3, 8, 8), A(5, 3, 1, 1), A(1, 5, 1, 1), A(1, 5, 1, 1)), {.top = 8}),
  BAD("concat/bytes", CONCAT, 2, "picture bytes", IN(P(1, 3, 8, 8), A(1, 3, 8, 8))),
  BAD("channel_sum/labels", CHANNEL_SUM, 1, "real numbers", IN(L(1, 1, 8, 8))),
  BAD("bn_stats/pixels", BN_STATS, 1, "real numbers", IN(P(1, 3, 8, 8))),
  BAD("bn_apply/statistics", BN_APPLY, 4, "vector of 6", IN(A(1, 3, 8, 8), A(1, 3, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 1e-5f}),
  BAD("bn_apply/gamma", BN_APPLY, 4, "vector of 3", IN(A(1, 3, 8, 8), A(1, 6, 1, 1), A(1, 4, 1, 1), A(1, 3, 1, 1)), {.value = 1e-5f}),
  BAD("bn_apply/eps", BN_APPLY, 4, "eps is 0", IN(A(1, 3, 8, 8), A(1, 6, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1))),
  BAD("bn_infer/mean", BN_INFER, 5, "vector of 3", IN(A(1, 3, 8, 8), A(1, 6, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 1e-5f}),
  BAD("bn_reduce/sizes", BN_REDUCE, 3, "alike", IN(A(1, 3, 8, 8), A(1, 3, 8, 7), A(1, 6, 1, 1)), {.value = 1e-5f}),
  BAD("bn_dx/sums", BN_DX, 5, "vector of 6", IN(A(1, 3, 8, 8), A(1, 3, 8, 8), A(1, 6, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 1e-5f}),
  BAD("bn_running/momentum", BN_RUNNING, 3, "momentum is 1.5", IN(A(1, 6, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 1.5f, .count = 4}),
  BAD("bn_running/count", BN_RUNNING, 3, "0 values", IN(A(1, 6, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 0.1f}),
  BAD("bn_running/statistics", BN_RUNNING, 3, "vector of 6", IN(A(1, 3, 1, 1), A(1, 3, 1, 1), A(1, 3, 1, 1)), {.value = 0.1f, .count = 4}),
  BAD("relu/labels", RELU, 1, "real numbers", IN(L(1, 1, 8, 8))),
  BAD("relu_dx/sizes", RELU_DX, 2, "alike", IN(A(1, 3, 8, 8), A(1, 3, 8, 7))),
  BAD("sigmoid/count", SIGMOID, 1, "real numbers", IN(N(1, 1, 1, 1))),
  BAD("sigmoid_dx/sizes", SIGMOID_DX, 2, "alike", IN(A(1, 3, 8, 8), A(2, 3, 8, 8))),
  BAD("add/sizes", ADD, 2, "1×3×8×8", IN(A(1, 3, 8, 8), A(1, 4, 8, 8))),
  BAD("mul/sizes", MUL, 2, "alike", IN(A(1, 3, 8, 8), A(1, 3, 1, 1))),
  BAD("scale/factor", SCALE, 1, "finite", IN(A(1, 3, 8, 8)), {.value = INFINITY}),
  BAD("dropout/share", DROPOUT, 2, "share to drop is 1", IN(A(1, 3, 8, 8), N(1, 1, 1, 1)), {.value = 1}),
  BAD("dropout/tick", DROPOUT, 2, "whole counts", IN(A(1, 3, 8, 8), A(1, 1, 1, 1)), {.value = 0.5f}),
  BAD("dropout/tick size", DROPOUT, 2, "vector of 1", IN(A(1, 3, 8, 8), N(1, 2, 1, 1)), {.value = 0.5f}),
  BAD("normalize/kind", NORMALIZE, 3, "picture bytes", IN(A(1, 3, 8, 8), A(1, 3, 1, 1), A(1, 3, 1, 1))),
  BAD("normalize/mean", NORMALIZE, 3, "vector of 3", IN(P(1, 3, 8, 8), A(1, 1, 1, 1), A(1, 3, 1, 1))),
  BAD("max_pool/too small", MAX_POOL, 1, "smaller than the 2×2 window", IN(A(1, 3, 1, 8)), {.factor = 2}),
  BAD("max_pool/factor", MAX_POOL, 1, "factor of 0", IN(A(1, 3, 8, 8))),
  BAD("max_pool_dx/sizes", MAX_POOL_DX, 3, "not what pooling", IN(A(1, 3, 4, 4), A(1, 3, 10, 8), A(1, 3, 4, 4)), {.factor = 2}),
  BAD("upsample_nearest/factor", UPSAMPLE_NEAREST, 1, "factor of -1", IN(A(1, 3, 8, 8)), {.factor = -1}),
  BAD("upsample_nearest_dx/sizes", UPSAMPLE_NEAREST_DX, 1, "7×8", IN(A(1, 3, 7, 8)), {.factor = 2}),
  BAD("upsample_bilinear/too large", UPSAMPLE_BILINEAR, 1, "too large", IN(A(1, 3, 8, 8)), {.factor = G_MAXINT}),
  BAD("upsample_bilinear_dx/sizes", UPSAMPLE_BILINEAR_DX, 1, "8×7", IN(A(1, 3, 8, 7)), {.factor = 2}),
  BAD("concat/sizes", CONCAT, 2, "only channels", IN(A(1, 3, 8, 8), A(1, 3, 8, 7))),
  BAD("concat/batch", CONCAT, 2, "only channels", IN(A(1, 3, 8, 8), A(2, 3, 8, 8))),
  BAD("slice/beyond", SLICE, 1, "3 channels from 2", IN(A(1, 4, 8, 8)), {.from = 2, .count = 3}),
  BAD("slice/none", SLICE, 1, "0 channels", IN(A(1, 4, 8, 8))),
  BAD("slice/overflow", SLICE, 1, "cannot be taken", IN(A(1, 4, 8, 8)), {.from = G_MAXINT, .count = G_MAXINT}),
  BAD("slice_dx/beyond", SLICE_DX, 1, "do not fit", IN(A(1, 4, 8, 8)), {.from = 2, .count = 5}),
  BAD("pad/negative", PAD, 1, "negative", IN(A(1, 4, 8, 8)), {.top = -1}),
  BAD("pad_dx/nothing left", PAD_DX, 1, "leaves nothing", IN(A(1, 4, 8, 8)), {.left = 4, .right = 4}),
  BAD("crop/nothing left", CROP, 1, "leaves nothing", IN(A(1, 4, 8, 8)), {.top = 8}),
  BAD("crop_dx/negative", CROP_DX, 1, "negative", IN(A(1, 4, 8, 8)), {.bottom = -3}),
  BAD("softmax/labels", SOFTMAX, 1, "real numbers", IN(L(1, 1, 8, 8))),
  BAD("cross_entropy/labels", CROSS_ENTROPY, 3, "need labels of 1×1×8×8", IN(A(1, 4, 8, 8), L(1, 1, 8, 7), A(1, 4, 1, 1))),
  BAD("cross_entropy/kind", CROSS_ENTROPY, 3, "class labels", IN(A(1, 4, 8, 8), A(1, 1, 8, 8), A(1, 4, 1, 1))),
  BAD("cross_entropy/weights", CROSS_ENTROPY, 3, "vector of 4", IN(A(1, 4, 8, 8), L(1, 1, 8, 8), A(1, 3, 1, 1))),
  BAD("cross_entropy/classes", CROSS_ENTROPY, 3, "255 is the most", IN(A(1, 256, 8, 8), L(1, 1, 8, 8), A(1, 256, 1, 1))),
  BAD("cross_entropy_dx/loss", CROSS_ENTROPY_DX, 4, "vector of 1", IN(A(1, 2, 1, 1), A(1, 4, 8, 8), L(1, 1, 8, 8), A(1, 4, 1, 1))),
  BAD("dice/labels", DICE, 2, "need labels", IN(A(1, 4, 8, 8), L(2, 1, 8, 8))),
  BAD("dice_dx/labels", DICE_DX, 3, "need labels", IN(A(1, 1, 1, 1), A(1, 4, 8, 8), L(1, 2, 8, 8))),
  BAD("focal/gamma", FOCAL, 3, "gamma is -1", IN(A(1, 4, 8, 8), L(1, 1, 8, 8), A(1, 4, 1, 1)), {.value = -1}),
  BAD("focal_dx/weights", FOCAL_DX, 4, "vector of 4", IN(A(1, 1, 1, 1), A(1, 4, 8, 8), L(1, 1, 8, 8), A(1, 1, 1, 1)), {.value = 2}),
  BAD("argmax/classes", ARGMAX, 1, "255 is the most", IN(A(1, 256, 8, 8))),
  BAD("confusion/labels", CONFUSION, 2, "need labels", IN(A(1, 4, 8, 8), L(1, 1, 4, 4))),
};
/* clang-format on */

static void test_refusal(gconstpointer data) {
  const Refusal *r = data;
  g_autoptr(TmGraph) g = tm_graph_new();
  g_autoptr(GError) error = NULL;
  TmNode *in[TM_MAX_INPUTS];
  for (guint i = 0; i < r->n_in; i++)
    in[i] = tm_graph_source(g, TM_OP_INPUT, r->in[i].kind, r->in[i].shape, NULL);
  g_assert_true(tm_graph_check(g, NULL));
  tm_graph_add(g, r->op, NULL, &r->attrs, r->n_in, in);
  g_assert_false(tm_graph_check(g, &error));
  g_assert_true(error->code == TM_ERROR_SHAPE || error->code == TM_ERROR_SETTING);
  g_assert_true(g_str_has_prefix(error->message, tm_op_info(r->op)->name));
  g_assert_true(g_str_has_suffix(error->message, "."));
  if (!strstr(error->message, r->says)) g_test_fail_printf("“%s” does not say “%s”", error->message, r->says);
}

/* Every op with inputs must be in the list of refusals. */
static void test_all_refuse(void) {
  for (int op = 0; op < TM_N_OPS; op++) {
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) n += (int)refusals[i].op == op;
    if (n == 0 && tm_op_info((TmOp)op)->max_in > 0) g_test_fail_printf("%s", tm_op_info((TmOp)op)->name);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (int op = 0; op < TM_N_OPS; op++) {
    g_autofree char *path = g_strdup_printf("/row/%s", tm_op_info((TmOp)op)->name);
    g_test_add_data_func(path, GINT_TO_POINTER(op), test_row);
  }
  g_test_add_func("/onnx", test_names_of_onnx);
  g_test_add_func("/shape/conv", test_conv_shapes);
  g_test_add_func("/shape/conv_transpose", test_conv_transpose_shapes);
  g_test_add_func("/costs", test_costs);
  g_test_add_func("/refuses/all", test_all_refuse);
  for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
    g_autofree char *path = g_strdup_printf("/refuses/%s", refusals[i].name);
    g_test_add_data_func(path, &refusals[i], test_refusal);
  }
  return g_test_run();
}
