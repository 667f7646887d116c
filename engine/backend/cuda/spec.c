#include "engine/backend/cuda/spec.h"

static cudnnDataType_t data_type(TmDType t) {
  return t == TM_BF16 ? CUDNN_DATA_BFLOAT16 : t == TM_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

/* Extents go in n, c, h, w order; the strides make it NHWC. A virtual tensor never reaches memory. */
static CudnnDesc tensor(CudnnDescs *d, gint64 uid, TmDType type, TmShape s, gboolean inner) {
  CudnnDesc t = tm_cudnn_make(d, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t of = data_type(type);
  const gint64 c = s.c, w = s.w, h = s.h, align = 16;
  const gint64 extent[] = {s.n, c, h, w}, stride[] = {h * w * c, 1, w * c, c};
  const _Bool yes = 1;
  tm_cudnn_set(d, t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &of);
  tm_cudnn_set_ints(d, t, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, extent);
  tm_cudnn_set_ints(d, t, CUDNN_ATTR_TENSOR_STRIDES, 4, stride);
  tm_cudnn_set_ints(d, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1, &uid);
  tm_cudnn_set_ints(d, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1, &align);
  if (inner) tm_cudnn_set(d, t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
  return tm_cudnn_finish(d, t, "tensor");
}

static CudnnDesc convolution(CudnnDescs *d, const CudnnSpec *s) {
  CudnnDesc c = tm_cudnn_make(d, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const gint64 axes = 2, pad[] = {s->pad, s->pad}, stride[] = {s->stride, s->stride},
               dilation[] = {s->dilation, s->dilation};
  tm_cudnn_set_ints(d, c, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, &axes);
  tm_cudnn_set(d, c, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  tm_cudnn_set(d, c, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  tm_cudnn_set_ints(d, c, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, pad);
  tm_cudnn_set_ints(d, c, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, pad);
  tm_cudnn_set_ints(d, c, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, stride);
  tm_cudnn_set_ints(d, c, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, dilation);
  return tm_cudnn_finish(d, c, "convolution");
}

/* The attribute names of the three directions, in one table. */
static const struct {
  const char *text;
  cudnnBackendDescriptorType_t op;
  cudnnBackendAttributeName_t alpha, beta, conv, x, w, y;
} names[] = {
    {"forward", CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {"backward by data", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {"backward by weights", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
};

static CudnnDesc conv_op(CudnnDescs *d, const CudnnSpec *s, CudnnDesc y) {
  const float one = 1, zero = 0;
  CudnnDesc x = tensor(d, CUDNN_UID_X, s->type, s->x, FALSE),
            w = tensor(d, CUDNN_UID_W, s->type, s->w, FALSE);
  CudnnDesc conv = convolution(d, s), op = tm_cudnn_make(d, names[s->direction].op);
  tm_cudnn_set_desc(d, op, names[s->direction].conv, conv);
  tm_cudnn_set_desc(d, op, names[s->direction].x, x);
  tm_cudnn_set_desc(d, op, names[s->direction].w, w);
  tm_cudnn_set_desc(d, op, names[s->direction].y, y);
  tm_cudnn_set(d, op, names[s->direction].alpha, CUDNN_TYPE_FLOAT, 1, &one);
  tm_cudnn_set(d, op, names[s->direction].beta, CUDNN_TYPE_FLOAT, 1, &zero);
  return tm_cudnn_finish(d, op, "convolution operation");
}

/* b NULL: of one operand. */
static CudnnDesc pointwise(CudnnDescs *d, cudnnPointwiseMode_t mode, CudnnDesc x, CudnnDesc b, CudnnDesc y) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  CudnnDesc p = tm_cudnn_make(d, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  tm_cudnn_set(d, p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  tm_cudnn_set(d, p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  tm_cudnn_finish(d, p, "pointwise");
  CudnnDesc op = tm_cudnn_make(d, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  return tm_cudnn_finish(d, op, "pointwise operation");
}

static CudnnDesc sums_op(CudnnDescs *d, const CudnnSpec *s, CudnnDesc y) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
  const TmShape vector = {1, s->y.c, 1, 1};
  CudnnDesc sum = tensor(d, CUDNN_UID_SUM, TM_F32, vector, FALSE),
            squares = tensor(d, CUDNN_UID_SQUARES, TM_F32, vector, FALSE);
  CudnnDesc op = tm_cudnn_make(d, CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  tm_cudnn_set(d, op, CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, &mode);
  tm_cudnn_set(d, op, CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum);
  tm_cudnn_set_desc(d, op, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares);
  return tm_cudnn_finish(d, op, "sums operation");
}

/* What lies between the convolution and the end of an epilogue is f32 and never reaches memory. */
static gint64 operations(CudnnDescs *d, const CudnnSpec *s, CudnnDesc *ops) {
  gint64 n = 0;
  const gboolean biased = s->epilogue == CUDNN_BIASED || s->epilogue == CUDNN_BIASED_RELU;
  CudnnDesc y = tensor(d, CUDNN_UID_Y, s->type, s->y, FALSE);
  CudnnDesc raw = biased ? tensor(d, CUDNN_UID_INNER, TM_F32, s->y, TRUE) : y;
  ops[n++] = conv_op(d, s, raw);
  if (s->epilogue == CUDNN_SUMS) ops[n++] = sums_op(d, s, y);
  if (!biased) return n;
  const gboolean relu = s->epilogue == CUDNN_BIASED_RELU;
  CudnnDesc b = tensor(d, CUDNN_UID_B, s->type, TM_SHAPE(1, s->y.c, 1, 1), FALSE);
  CudnnDesc sum = relu ? tensor(d, CUDNN_UID_INNER + 1, TM_F32, s->y, TRUE) : y;
  ops[n++] = pointwise(d, CUDNN_POINTWISE_ADD, raw, b, sum);
  if (relu) ops[n++] = pointwise(d, CUDNN_POINTWISE_RELU_FWD, sum, NULL, y);
  return n;
}

CudnnDesc tm_cudnn_graph(CudnnDescs *d, const CudnnSpec *s, cudnnHandle_t handle) {
  CudnnDesc ops[4] = {NULL};
  const gint64 n = operations(d, s, ops);
  CudnnDesc g = tm_cudnn_make(d, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle) tm_cudnn_set(d, g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  tm_cudnn_set(d, g, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, ops);
  return tm_cudnn_finish(d, g, "operation graph");
}

char *tm_cudnn_spec_text(const CudnnSpec *s) {
  static const char *const epilogues[] = {"", " and bias", " and bias and ReLU", " and sums"};
  return g_strdup_printf("%s%s %s %dx%dx%dx%d by %dx%dx%dx%d to %dx%d pad %d stride %d dilation %d",
                         names[s->direction].text, epilogues[s->epilogue], tm_dtype_name(s->type), s->x.n,
                         s->x.h, s->x.w, s->x.c, s->w.n, s->w.h, s->w.w, s->w.c, s->y.h, s->y.w, s->pad,
                         s->stride, s->dilation);
}
