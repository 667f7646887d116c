#include "engine/backend/cuda/conv.h"

#include "engine/backend/cuda/timing.h"
#include "engine/graph/fused.h"

#include <glib/gi18n.h>

enum { ALIGN = 256 };

/* One operand as the step has it and as cuDNN sees it; packed.data is NULL until bound. */
typedef struct {
  TmView own, packed;
  gboolean copied; /* packed is a copy */
  gsize scratch;   /* where in the scratch memory */
} Operand;

struct _CudaConv {
  int op;
  CudnnSpec spec;
  Operand x, w, y;
  const float *bias; /* or NULL */
  TmBatchNorm bn;    /* of the patterns with it: over running statistics */
  float *stats;      /* of the pattern that makes them */
  CudnnPlan *plan;
  gsize workspace, scratch; /* where it begins, and bytes in all */
  void *weights;            /* device: the packed weights, owned unless they are another's */
  void *vectors;            /* device, owned: the folded bias, or two sums, by channel of the packed y */
  gboolean packs;           /* packs its weights itself */
};

gboolean tm_cuda_is_conv(int op) {
  return op == TM_OP_CONV || op == TM_OP_CONV_TRANSPOSE || op == TM_OP_CONV_DW || op == TM_FUSED_CONV_STATS ||
         op == TM_FUSED_CONV_BN_INFER || op == TM_FUSED_CONV_BN_INFER_RELU;
}

static gboolean folds(int op) {
  return op == TM_FUSED_CONV_BN_INFER || op == TM_FUSED_CONV_BN_INFER_RELU;
}

/* cuDNN sums in f16 only, and groups have engines of their own, which add nothing. */
gboolean tm_cuda_conv_supports(int op, const TmNode *node, TmDType precision) {
  const gboolean whole = node->attrs.groups <= 1;
  if (op == TM_FUSED_CONV_STATS) return whole && precision == TM_F16;
  return !folds(op) || whole;
}

/* Slices are packed; weights and biases are whole. */
gboolean tm_cuda_conv_takes_slice(int op, int operand) {
  return op == TM_OP_CONV_DW ? operand >= 0 : operand == 0 || operand == ~0;
}

static int or_one(int attr) {
  return attr ? attr : 1;
}

/* The step's operands as those of the convolution x * w = y. */
static void assign(CudaConv *v, const CudaCall *c) {
  const TmView *first = &c->in[0], *second = &c->in[1], *out = &c->out[0];
  const int op = (int)c->node->op; /* a pattern's first */
  v->op = c->op;
  v->spec.direction = op == TM_OP_CONV             ? CUDNN_FORWARD
                      : op == TM_OP_CONV_TRANSPOSE ? CUDNN_BACKWARD_DATA
                                                   : CUDNN_BACKWARD_WEIGHTS;
  v->x.own = op == TM_OP_CONV_TRANSPOSE ? *out : *first;
  v->y.own = op == TM_OP_CONV ? *out : op == TM_OP_CONV_TRANSPOSE ? *first : *second;
  v->w.own = op == TM_OP_CONV_DW ? *out : *second;
  v->spec.epilogue = c->op == TM_FUSED_CONV_STATS           ? CUDNN_SUMS
                     : c->op == TM_FUSED_CONV_BN_INFER      ? CUDNN_BIASED
                     : c->op == TM_FUSED_CONV_BN_INFER_RELU ? CUDNN_BIASED_RELU
                                                            : CUDNN_RAW;
  if (folds(c->op)) {
    const TmNode *last = c->made[0];
    v->bn = (TmBatchNorm){.mean = c->in[2].data,
                          .var = c->in[3].data,
                          .gamma = c->in[4].data,
                          .beta = c->in[5].data,
                          .eps = (last->op == TM_OP_RELU ? last->in[0] : last)->attrs.value};
  } else {
    v->bias = op != TM_OP_CONV_DW && c->n_in > 2 ? c->in[2].data : NULL;
  }
  if (c->op == TM_FUSED_CONV_STATS) v->stats = c->out[1].data;
  v->spec.pad = c->node->attrs.pad;
  v->spec.stride = or_one(c->node->attrs.stride);
  v->spec.dilation = or_one(c->node->attrs.dilation);
}

static int rounded_up(int channels, TmDType type) {
  return type == TM_F32 ? channels : (channels + 7) / 8 * 8;
}

/* Groups whose channels would have to be padded one by one are computed in f32, which needs no padding. */
static TmDType type_of(const CudaConv *v, TmDType precision) {
  const gboolean grouped = v->w.own.shape.c != v->x.own.shape.c;
  return grouped && (v->w.own.shape.c % 8 || v->w.own.shape.n % 8) ? TM_F32 : precision;
}

static void shape_operands(CudaConv *v) {
  const TmDType t = v->spec.type;
  Operand *all[] = {&v->x, &v->w, &v->y};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    Operand *o = all[i];
    o->packed = (TmView){.dtype = t, .shape = o->own.shape};
    o->packed.shape.c = rounded_up(o->own.shape.c, t);
    if (o == &v->w) o->packed.shape.n = rounded_up(o->own.shape.n, t);
    o->packed.ld = o->packed.shape.c;
    o->copied = o->own.dtype != t || !tm_shape_equal(o->packed.shape, o->own.shape) ||
                !tm_view_dense(&o->own) || (gsize)o->own.data % 16;
  }
  v->spec.x = v->x.packed.shape;
  v->spec.w = v->w.packed.shape;
  v->spec.y = v->y.packed.shape;
}

static void describe(CudaConv *v, const CudaCall *c, TmDType precision) {
  assign(v, c);
  v->spec.type = type_of(v, precision);
  shape_operands(v);
}

CudnnSpec tm_cuda_conv_spec(const CudaCall *c, TmDType precision) {
  CudaConv v = {0};
  describe(&v, c, precision);
  return v.spec;
}

static gsize bytes_of(const TmView *v) {
  return (tm_shape_count(v->shape) * tm_dtype_size(v->dtype) + ALIGN - 1) / ALIGN * ALIGN;
}

static gsize vector_bytes(const CudaConv *v) {
  return ((gsize)v->spec.y.c * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
}

static void lay_out(CudaConv *v) {
  Operand *all[] = {&v->x, &v->y, &v->w};
  const guint n =
      v->spec.direction == CUDNN_BACKWARD_WEIGHTS ? 3 : 2; /* weights that are read are kept elsewhere */
  for (guint i = 0; i < n; i++) {
    if (!all[i]->copied) continue;
    all[i]->scratch = v->scratch;
    v->scratch += bytes_of(&all[i]->packed);
  }
  v->workspace = v->scratch;
  v->scratch += MAX(tm_cudnn_plan_workspace(v->plan), ALIGN);
}

static gboolean has_sums(const CudaConv *v) {
  return v->spec.epilogue == CUDNN_SUMS;
}
static gboolean has_bias(const CudaConv *v) {
  return v->spec.epilogue == CUDNN_BIASED || v->spec.epilogue == CUDNN_BIASED_RELU;
}

/* Room for what the epilogue reads or writes beside y: zeros where the packed y has more channels. */
static gboolean keep_vectors(CudaConv *v, cudaStream_t stream, GError **error) {
  if (!has_bias(v) && !has_sums(v)) return TRUE;
  const gsize bytes = 2 * vector_bytes(v);
  cudaError_t e = cudaMalloc(&v->vectors, bytes);
  if (e == cudaSuccess) e = cudaMemsetAsync(v->vectors, 0, bytes, stream);
  return tm_cuda_ok(e, _("reserving memory"), error);
}

static gboolean keep_weights(CudaConv *v, CudaConv *packed, cudaStream_t stream, GError **error) {
  if (v->spec.direction == CUDNN_BACKWARD_WEIGHTS || (!v->w.copied && !has_bias(v))) return TRUE;
  if (packed && !has_bias(v)) {
    v->w.packed.data = packed->w.packed.data;
    return TRUE;
  }
  const gsize bytes = bytes_of(&v->w.packed);
  v->packs = TRUE;
  cudaError_t e = cudaMalloc(&v->weights, bytes);
  if (e == cudaSuccess)
    e = cudaMemsetAsync(v->weights, 0, bytes, stream); /* what the master does not have stays 0 */
  v->w.packed.data = v->weights;
  return tm_cuda_ok(e, _("reserving memory"), error);
}

/* What the epilogue would do, by own kernels on the convolution's result. */
static cudaError_t own_epilogue(const CudaConv *v, const TmView *y, const TmCudaQueue *q) {
  if (v->stats) return tm_cuda_bn_stats(q, y, v->stats);
  return tm_cuda_bn_apply(q, y, &v->bn, v->op == TM_FUSED_CONV_BN_INFER_RELU, y, NULL);
}

typedef struct {
  const CudaConv *v;
  const TmCudaQueue *q;
} Epilogue;

static gboolean run_epilogue(gpointer data) {
  const Epilogue *e = data;
  return own_epilogue(e->v, &e->v->y.own, e->q) == cudaSuccess;
}

/* Milliseconds of it, remembered; negative: unknown. */
static float own_time(const CudnnTarget *t, const CudaConv *v, const TmCudaQueue *q) {
  Epilogue e = {v, q};
  g_autofree char *text = tm_cudnn_spec_text(&v->spec), *key = g_strconcat("own kernels after ", text, NULL);
  g_autofree char *known = t->cache ? tm_machine_cache_get(t->cache, key) : NULL;
  if (known) return (float)g_ascii_strtod(known, NULL);
  const float ms = tm_cuda_time(q->stream, run_epilogue, &e);
  char text_ms[G_ASCII_DTOSTR_BUF_SIZE];
  if (ms >= 0 && t->cache)
    tm_machine_cache_set(t->cache, key, g_ascii_formatd(text_ms, sizeof text_ms, "%.6g", (double)ms));
  return ms;
}

/* With the epilogue, or without it and own kernels afterwards: the faster; where nobody knows, with. */
static gboolean choose_plan(CudaConv *v, const CudnnTarget *t, const TmCudaQueue *q, GError **error) {
  g_autoptr(GError) none = NULL;
  v->plan = tm_cudnn_plan_new(t, &v->spec, v->spec.epilogue == CUDNN_RAW ? error : &none);
  if (v->spec.epilogue == CUDNN_RAW) return v->plan != NULL;
  CudnnSpec raw = v->spec;
  raw.epilogue = CUDNN_RAW;
  CudnnPlan *alone = tm_cudnn_plan_new(t, &raw, v->plan ? NULL : error);
  if (!v->plan && !alone) return FALSE;
  const float with = v->plan ? tm_cudnn_plan_time(v->plan) : -1,
              without = alone ? tm_cudnn_plan_time(alone) : -1,
              own = v->plan && with >= 0 && without >= 0 ? own_time(t, v, q) : -1;
  if (!v->plan || (own >= 0 && without + own < with)) {
    tm_cudnn_plan_free(v->plan);
    v->plan = g_steal_pointer(&alone);
    v->spec = raw;
  }
  tm_cudnn_plan_free(alone);
  return TRUE;
}

CudaConv *tm_cuda_conv_new(const CudnnTarget *target, const CudaCall *c, TmDType precision, CudaConv *packed,
                           GError **error) {
  CudaConv *v = g_new0(CudaConv, 1);
  describe(v, c, precision);
  if (choose_plan(v, target, c->q, error) && keep_weights(v, packed, c->q->stream, error) &&
      keep_vectors(v, c->q->stream, error)) {
    lay_out(v);
    return v;
  }
  tm_cuda_conv_free(v);
  return NULL;
}

void tm_cuda_conv_free(CudaConv *v) {
  if (!v) return;
  tm_cudnn_plan_free(v->plan);
  cudaFree(v->weights);
  cudaFree(v->vectors);
  g_free(v);
}

gboolean tm_cuda_conv_same_weights(const CudaConv *v, const CudaCall *c, TmDType precision) {
  CudaConv other = {0};
  assign(&other, c);
  return v->packs && !has_bias(v) && other.spec.direction != CUDNN_BACKWARD_WEIGHTS &&
         other.w.own.data == v->w.own.data && type_of(&other, precision) == v->spec.type &&
         tm_shape_equal(other.w.own.shape, v->w.own.shape);
}

gsize tm_cuda_conv_scratch(const CudaConv *v) {
  return v->scratch;
}

gboolean tm_cuda_conv_bind(CudaConv *v, void *scratch, GError **error) {
  Operand *all[] = {&v->x, &v->w, &v->y};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (!all[i]->packed.data)
      all[i]->packed.data = all[i]->copied ? (char *)scratch + all[i]->scratch : all[i]->own.data;
  const CudnnOperands o = {.x = v->x.packed.data,
                           .w = v->w.packed.data,
                           .y = v->y.packed.data,
                           .b = v->vectors,
                           .sum = v->vectors,
                           .squares = v->vectors ? (char *)v->vectors + vector_bytes(v) : NULL,
                           .workspace = (char *)scratch + v->workspace};
  return tm_cudnn_plan_bind(v->plan, &o, error);
}

/* The first rows of the packed weights: those that the master has. */
static TmView first_rows(const Operand *w) {
  TmView v = w->packed;
  v.shape.n = w->own.shape.n;
  return v;
}

static cudaError_t pack(const CudaConv *v, const TmCudaQueue *q) {
  cudaError_t e = cudaSuccess;
  const gboolean forward = v->spec.direction == CUDNN_FORWARD,
                 weights = v->spec.direction == CUDNN_BACKWARD_WEIGHTS;
  if (v->packs) {
    const TmView rows = first_rows(&v->w);
    e = has_bias(v) ? tm_cuda_fold_bn(q, &v->w.own, &v->bn, &rows, v->vectors)
                    : tm_cuda_window(q, &v->w.own, 0, 0, &rows);
  }
  if (e == cudaSuccess && v->x.copied && (forward || weights))
    e = tm_cuda_window(q, &v->x.own, 0, 0, &v->x.packed);
  if (e == cudaSuccess && v->y.copied && !forward) e = tm_cuda_window(q, &v->y.own, 0, 0, &v->y.packed);
  return e;
}

/* What a pattern adds to @y, the result: cuDNN has done it, or made the sums. */
static cudaError_t finish(const CudaConv *v, const TmView *y, const TmCudaQueue *q) {
  if (has_sums(v))
    return tm_cuda_bn_from_sums(q, v->vectors, (float *)((char *)v->vectors + vector_bytes(v)),
                                tm_shape_pixels(y->shape), y->shape.c, v->stats);
  return (v->stats || folds(v->op)) && !has_bias(v) ? own_epilogue(v, y, q) : cudaSuccess;
}

/* The result to where it belongs, with the bias of its channels: added before the result is rounded to
 * another type. */
static cudaError_t unpack(const CudaConv *v, const TmCudaQueue *q) {
  if (v->spec.direction == CUDNN_BACKWARD_WEIGHTS) {
    const TmView rows = first_rows(&v->w);
    return v->w.copied ? tm_cuda_window(q, &rows, 0, 0, &v->w.own) : cudaSuccess;
  }
  const Operand *o = v->spec.direction == CUDNN_FORWARD ? &v->y : &v->x;
  TmView made = o->packed;
  made.shape.c = o->own.shape.c;
  if (v->bias && made.dtype == o->own.dtype) return tm_cuda_bias(q, &made, v->bias, &o->own);
  const cudaError_t e = v->bias ? tm_cuda_bias(q, &made, v->bias, &made) : finish(v, &made, q);
  return e == cudaSuccess && o->copied ? tm_cuda_window(q, &made, 0, 0, &o->own) : e;
}

gboolean tm_cuda_conv_run(const CudaConv *v, const CudaCall *c, GError **error) {
  return tm_cuda_ok(pack(v, c->q), _("computing a convolution"), error) &&
         tm_cudnn_plan_run(v->plan, error) &&
         tm_cuda_ok(unpack(v, c->q), _("computing a convolution"), error);
}
