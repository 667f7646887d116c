/* The part of cuDNN's backend API that a UNet needs, on the host: conv
 * forward, backward data and backward weight, pointwise add, multiply,
 * ReLU and identity, and sums by channel, as operation graphs (cudnn_math.c
 * computes them, cudnn_engines.c says who would). It is stricter than cuDNN
 * where cuDNN would be slow or only sometimes work. Compiles against the real
 * cudnn.h or against include/cudnn.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_cudnn.h"

struct cudnnContext {
  cudaStream_t stream;
};

static char last_error[256];
static cudnnStatus_t err(cudnnStatus_t st, const char *why) {
  snprintf(last_error, sizeof last_error, "%s", why);
  return st;
}
#define BAD(why) return err(CUDNN_STATUS_BAD_PARAM, why)

/* --- which attributes a descriptor takes --------------------------------- */
enum { OPT, REQ, GET }; /* optional, required to finalize, may only be read */
static const struct rule {
  cudnnBackendDescriptorType_t d;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int min, max, need;
} rules[] = {
    {T(TENSOR), A(TENSOR_DATA_TYPE), CUDNN_TYPE_DATA_TYPE, 1, 1, REQ},
    {T(TENSOR), A(TENSOR_DIMENSIONS), CUDNN_TYPE_INT64, DIMS, DIMS, REQ},
    {T(TENSOR), A(TENSOR_STRIDES), CUDNN_TYPE_INT64, DIMS, DIMS, REQ},
    {T(TENSOR), A(TENSOR_UNIQUE_ID), CUDNN_TYPE_INT64, 1, 1, REQ},
    {T(TENSOR), A(TENSOR_BYTE_ALIGNMENT), CUDNN_TYPE_INT64, 1, 1, REQ},
    {T(TENSOR), A(TENSOR_IS_VIRTUAL), CUDNN_TYPE_BOOLEAN, 1, 1, OPT},
    {T(CONVOLUTION), A(CONVOLUTION_SPATIAL_DIMS), CUDNN_TYPE_INT64, 1, 1, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_COMP_TYPE), CUDNN_TYPE_DATA_TYPE, 1, 1, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_CONV_MODE), CUDNN_TYPE_CONVOLUTION_MODE, 1, 1, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_PRE_PADDINGS), CUDNN_TYPE_INT64, 2, 2, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_POST_PADDINGS), CUDNN_TYPE_INT64, 2, 2, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_FILTER_STRIDES), CUDNN_TYPE_INT64, 2, 2, REQ},
    {T(CONVOLUTION), A(CONVOLUTION_DILATIONS), CUDNN_TYPE_INT64, 2, 2, REQ},
    {T(POINTWISE), A(POINTWISE_MODE), CUDNN_TYPE_POINTWISE_MODE, 1, 1, REQ},
    {T(POINTWISE), A(POINTWISE_MATH_PREC), CUDNN_TYPE_DATA_TYPE, 1, 1, REQ},
#define CONV(d, p, X, W, Y)                                                                                  \
  {T(d), A(p##_ALPHA), CUDNN_TYPE_FLOAT, 1, 1, REQ}, {T(d), A(p##_BETA), CUDNN_TYPE_FLOAT, 1, 1, REQ},       \
      {T(d), A(p##_CONV_DESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},                                    \
      {T(d), A(p##_##X), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},                                          \
      {T(d), A(p##_##W), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ}, {                                        \
    T(d), A(p##_##Y), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ                                               \
  }
    CONV(OPERATION_CONVOLUTION_FORWARD, OPERATION_CONVOLUTION_FORWARD, X, W, Y),
    CONV(OPERATION_CONVOLUTION_BACKWARD_DATA, OPERATION_CONVOLUTION_BWD_DATA, DX, W, DY),
    CONV(OPERATION_CONVOLUTION_BACKWARD_FILTER, OPERATION_CONVOLUTION_BWD_FILTER, X, DW, DY),
    {T(OPERATION_POINTWISE), A(OPERATION_POINTWISE_PW_DESCRIPTOR), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATION_POINTWISE), A(OPERATION_POINTWISE_XDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATION_POINTWISE), A(OPERATION_POINTWISE_BDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, OPT},
    {T(OPERATION_POINTWISE), A(OPERATION_POINTWISE_YDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATION_GEN_STATS), A(OPERATION_GENSTATS_MODE), CUDNN_TYPE_GENSTATS_MODE, 1, 1, REQ},
    {T(OPERATION_GEN_STATS), A(OPERATION_GENSTATS_MATH_PREC), CUDNN_TYPE_DATA_TYPE, 1, 1, REQ},
    {T(OPERATION_GEN_STATS), A(OPERATION_GENSTATS_XDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATION_GEN_STATS), A(OPERATION_GENSTATS_SUMDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATION_GEN_STATS), A(OPERATION_GENSTATS_SQSUMDESC), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(OPERATIONGRAPH), A(OPERATIONGRAPH_HANDLE), CUDNN_TYPE_HANDLE, 1, 1, REQ},
    {T(OPERATIONGRAPH), A(OPERATIONGRAPH_OPS), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, MAX_OPS, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_OPERATION_GRAPH), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_MODE), CUDNN_TYPE_HEUR_MODE, 1, 1, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_RESULTS), CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, 1 << 20, GET},
    {T(ENGINE), A(ENGINE_OPERATION_GRAPH), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(ENGINE), A(ENGINE_GLOBAL_INDEX), CUDNN_TYPE_INT64, 1, 1, REQ},
    {T(ENGINE), A(ENGINE_NUMERICAL_NOTE), CUDNN_TYPE_NUMERICAL_NOTE, 0, 1 << 20, GET},
    {T(KNOB_CHOICE), A(KNOB_CHOICE_KNOB_TYPE), CUDNN_TYPE_KNOB_TYPE, 1, 1, REQ},
    {T(KNOB_CHOICE), A(KNOB_CHOICE_KNOB_VALUE), CUDNN_TYPE_INT64, 1, 1, REQ},
    {T(ENGINECFG), A(ENGINECFG_ENGINE), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(ENGINECFG), A(ENGINECFG_KNOB_CHOICES), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 64, OPT},
    {T(EXECUTION_PLAN), A(EXECUTION_PLAN_HANDLE), CUDNN_TYPE_HANDLE, 1, 1, REQ},
    {T(EXECUTION_PLAN), A(EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(EXECUTION_PLAN), A(EXECUTION_PLAN_WORKSPACE_SIZE), CUDNN_TYPE_INT64, 1, 1, GET},
    {T(VARIANT_PACK), A(VARIANT_PACK_UNIQUE_IDS), CUDNN_TYPE_INT64, 1, MAX_UIDS, REQ},
    {T(VARIANT_PACK), A(VARIANT_PACK_DATA_POINTERS), CUDNN_TYPE_VOID_PTR, 1, MAX_UIDS, REQ},
    {T(VARIANT_PACK), A(VARIANT_PACK_WORKSPACE), CUDNN_TYPE_VOID_PTR, 1, 1, REQ},
};
enum { NRULES = sizeof rules / sizeof *rules };

static const struct rule *rule(cudnnBackendDescriptorType_t d, cudnnBackendAttributeName_t n) {
  for (int i = 0; i < NRULES; i++)
    if (rules[i].d == d && rules[i].name == n) return &rules[i];
  return NULL;
}
static size_t size_of(cudnnBackendAttributeType_t t) {
  return t == CUDNN_TYPE_INT64 || t == CUDNN_TYPE_BACKEND_DESCRIPTOR || t == CUDNN_TYPE_VOID_PTR ||
                 t == CUDNN_TYPE_HANDLE || t == CUDNN_TYPE_DOUBLE
             ? 8
         : t == CUDNN_TYPE_BOOLEAN ? sizeof(bool)
                                   : 4;
}
const struct attr *fake_get(const struct fake *f, cudnnBackendAttributeName_t n) {
  for (int i = 0; i < f->n; i++)
    if (f->a[i].name == n) return &f->a[i];
  return NULL;
}
int64_t *fake_ints(const struct fake *f, cudnnBackendAttributeName_t n) {
  return fake_get(f, n)->v;
}
int fake_number(const struct fake *f, cudnnBackendAttributeName_t n) {
  return *(int *)fake_get(f, n)->v;
}
struct fake *fake_child(const struct fake *f, cudnnBackendAttributeName_t n) {
  const struct attr *a = fake_get(f, n);
  return a ? *(struct fake **)a->v : NULL;
}
void fake_drop(struct fake *f) {
  if (--f->refs) return;
  for (int i = 0; i < f->n; i++) {
    for (int64_t k = 0; f->a[i].type == CUDNN_TYPE_BACKEND_DESCRIPTOR && k < f->a[i].n; k++)
      fake_drop(((struct fake **)f->a[i].v)[k]);
    free(f->a[i].v);
  }
  free(f);
}

/* --- reading a convolution ------------------------------------------------ */
int fake_direction(const struct fake *op) {
  return op->type == T(OPERATION_CONVOLUTION_FORWARD)           ? FWD
         : op->type == T(OPERATION_CONVOLUTION_BACKWARD_DATA)   ? DATA
         : op->type == T(OPERATION_CONVOLUTION_BACKWARD_FILTER) ? WEIGHT
                                                                : -1;
}
struct conv fake_conv(const struct fake *op) {
  switch (fake_direction(op)) {
  case FWD:
    return (struct conv){fake_child(op, A(OPERATION_CONVOLUTION_FORWARD_CONV_DESC)),
                         fake_child(op, A(OPERATION_CONVOLUTION_FORWARD_X)),
                         fake_child(op, A(OPERATION_CONVOLUTION_FORWARD_W)),
                         fake_child(op, A(OPERATION_CONVOLUTION_FORWARD_Y))};
  case DATA:
    return (struct conv){fake_child(op, A(OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_DATA_DX)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_DATA_W)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_DATA_DY))};
  default:
    return (struct conv){fake_child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_X)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_DW)),
                         fake_child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_DY))};
  }
}
int64_t fake_dim(const struct fake *t, int i) {
  return fake_ints(t, A(TENSOR_DIMENSIONS))[i];
}
bool fake_virtual(const struct fake *t) {
  const struct attr *a = fake_get(t, A(TENSOR_IS_VIRTUAL));
  return a && *(bool *)a->v;
}
int64_t fake_uid(const struct fake *t) {
  return *fake_ints(t, A(TENSOR_UNIQUE_ID));
}
int fake_operands(const struct fake *op, struct fake *t[MOST_OPERANDS], int *outs) {
  int d = fake_direction(op), n = 0;
  *outs = 1;
  if (d >= 0) {
    struct conv c = fake_conv(op);
    t[0] = d == DATA ? c.y : c.x;
    t[1] = d == WEIGHT ? c.y : c.w;
    t[2] = d == FWD ? c.y : d == DATA ? c.x : c.w;
    return 3;
  }
  if (op->type == T(OPERATION_GEN_STATS)) {
    t[0] = fake_child(op, A(OPERATION_GENSTATS_XDESC));
    t[1] = fake_child(op, A(OPERATION_GENSTATS_SUMDESC));
    t[2] = fake_child(op, A(OPERATION_GENSTATS_SQSUMDESC));
    *outs = 2;
    return 3;
  }
  t[n++] = fake_child(op, A(OPERATION_POINTWISE_XDESC));
  if (fake_child(op, A(OPERATION_POINTWISE_BDESC))) t[n++] = fake_child(op, A(OPERATION_POINTWISE_BDESC));
  t[n++] = fake_child(op, A(OPERATION_POINTWISE_YDESC));
  return n;
}

/* --- checks on finalize ----------------------------------------------------- */
static cudnnStatus_t check_tensor(const struct fake *f) {
  int64_t *d = fake_ints(f, A(TENSOR_DIMENSIONS)), *s = fake_ints(f, A(TENSOR_STRIDES)),
          al = *fake_ints(f, A(TENSOR_BYTE_ALIGNMENT));
  int type = fake_number(f, A(TENSOR_DATA_TYPE));
  for (int i = 0; i < DIMS; i++)
    if (d[i] <= 0 || s[i] <= 0) BAD("tensor: dimension or stride not positive");
  if (al <= 0 || (al & (al - 1))) BAD("tensor: alignment not a power of two");
  if (type != CUDNN_DATA_BFLOAT16 && type != CUDNN_DATA_HALF && type != CUDNN_DATA_FLOAT)
    return err(CUDNN_STATUS_NOT_SUPPORTED, "tensor: type");
  if (s[1] != 1 || s[3] < d[1] || s[2] < d[3] * s[3] || s[0] < d[2] * s[2])
    return err(CUDNN_STATUS_NOT_SUPPORTED, "tensor: not NHWC");
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_conv(const struct fake *op) {
  struct conv c = fake_conv(op);
  int64_t *pre = fake_ints(c.d, A(CONVOLUTION_PRE_PADDINGS)),
          *post = fake_ints(c.d, A(CONVOLUTION_POST_PADDINGS));
  int64_t *st = fake_ints(c.d, A(CONVOLUTION_FILTER_STRIDES)),
          *dil = fake_ints(c.d, A(CONVOLUTION_DILATIONS));
  if (fake_dim(c.x, 0) != fake_dim(c.y, 0) || fake_dim(c.x, 1) % fake_dim(c.w, 1) ||
      fake_dim(c.y, 1) != fake_dim(c.w, 0) || fake_dim(c.y, 1) % (fake_dim(c.x, 1) / fake_dim(c.w, 1)))
    BAD("convolution: n, c or k differ");
  for (int i = 0; i < 2; i++) {
    int64_t want =
        (fake_dim(c.x, 2 + i) + pre[i] + post[i] - (dil[i] * (fake_dim(c.w, 2 + i) - 1) + 1)) / st[i] + 1;
    if (want != fake_dim(c.y, 2 + i)) BAD("convolution: output size");
  }
  struct fake *t[3] = {c.x, c.w, c.y};
  for (int i = 0; i < 3; i++) {
    if (fake_number(t[i], A(TENSOR_DATA_TYPE)) == CUDNN_DATA_FLOAT || fake_virtual(t[i])) continue;
    if (fake_dim(t[i], 1) % 8 || fake_ints(t[i], A(TENSOR_STRIDES))[3] % 8 ||
        *fake_ints(t[i], A(TENSOR_BYTE_ALIGNMENT)) % 16)
      return err(CUDNN_STATUS_NOT_SUPPORTED,
                 "convolution: 16-bit channels not a multiple of 8, or alignment under 16");
  }
  /* cuDNN's compiled-in engines have no float result for bf16 operands. */
  if (fake_direction(op) != FWD)
    for (int i = 0; i < 3; i++)
      if (fake_number(t[i], A(TENSOR_DATA_TYPE)) != fake_number(t[0], A(TENSOR_DATA_TYPE)))
        return err(CUDNN_STATUS_NOT_SUPPORTED, "convolution: operands and gradient of different types");
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_pointwise(const struct fake *op) {
  struct fake *t[MOST_OPERANDS];
  int outs, n = fake_operands(op, t, &outs),
            mode = fake_number(fake_child(op, A(OPERATION_POINTWISE_PW_DESCRIPTOR)), A(POINTWISE_MODE));
  bool two = mode == CUDNN_POINTWISE_ADD || mode == CUDNN_POINTWISE_MUL;
  if (!two && mode != CUDNN_POINTWISE_RELU_FWD && mode != CUDNN_POINTWISE_IDENTITY)
    return err(CUDNN_STATUS_NOT_SUPPORTED, "pointwise: mode");
  if ((n == 3) != two) BAD("pointwise: wrong number of operands");
  for (int k = 0; k < n - 1; k++)
    for (int i = 0; i < DIMS; i++)
      if (fake_dim(t[k], i) != fake_dim(t[n - 1], i) && fake_dim(t[k], i) != 1)
        BAD("pointwise: shapes do not broadcast");
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_sums(const struct fake *op) {
  struct fake *t[MOST_OPERANDS];
  int outs;
  fake_operands(op, t, &outs);
  for (int k = 1; k < 3; k++) {
    if (fake_dim(t[k], 1) != fake_dim(t[0], 1) ||
        fake_dim(t[k], 0) * fake_dim(t[k], 2) * fake_dim(t[k], 3) != 1)
      BAD("sums: not one for each channel");
    if (fake_number(t[k], A(TENSOR_DATA_TYPE)) != CUDNN_DATA_FLOAT)
      return err(CUDNN_STATUS_NOT_SUPPORTED, "sums: not f32");
  }
  return CUDNN_STATUS_SUCCESS;
}
/* What no compiled-in engine takes, seen over a whole graph: other types than the convolution's at its ends,
 * and sums of anything but f16. */
static cudnnStatus_t check_types(const struct attr *ops) {
  struct fake *first = ((struct fake **)ops->v)[0];
  if (fake_direction(first) < 0)
    return err(CUDNN_STATUS_NOT_SUPPORTED, "graph: begins without a convolution");
  int type = fake_number(fake_conv(first).x, A(TENSOR_DATA_TYPE));
  for (int64_t i = 1; i < ops->n; i++) {
    struct fake *op = ((struct fake **)ops->v)[i], *t[MOST_OPERANDS];
    int outs, n = fake_operands(op, t, &outs);
    if (op->type == T(OPERATION_GEN_STATS) && type != CUDNN_DATA_HALF)
      return err(CUDNN_STATUS_NOT_SUPPORTED, "graph: sums of another type than f16");
    for (int k = 0; k < n - (op->type == T(OPERATION_GEN_STATS) ? outs : 0); k++)
      if (!fake_virtual(t[k]) && fake_number(t[k], A(TENSOR_DATA_TYPE)) != type)
        return err(CUDNN_STATUS_NOT_SUPPORTED, "graph: an operand of another type");
  }
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_graph(const struct fake *g) {
  const struct attr *ops = fake_get(g, A(OPERATIONGRAPH_OPS));
  struct fake *seen[3 * MAX_OPS];
  bool written[3 * MAX_OPS] = {false};
  int n = 0, convs = 0;
  for (int64_t i = 0; i < ops->n; i++) {
    struct fake *op = ((struct fake **)ops->v)[i], *t[MOST_OPERANDS];
    int outs, nt = fake_operands(op, t, &outs);
    convs += fake_direction(op) >= 0;
    for (int k = 0; k < nt; k++) {
      int at = 0;
      bool out = k >= nt - outs;
      while (at < n && fake_uid(seen[at]) != fake_uid(t[k])) at++;
      if (at < n && seen[at] != t[k]) BAD("graph: two tensors with one unique id");
      if (at == n) seen[n++] = t[k];
      if (out && written[at]) BAD("graph: a tensor written twice");
      if (out)
        written[at] = true;
      else if (fake_virtual(t[k]) && !written[at])
        BAD("graph: virtual tensor read before it is written");
    }
  }
  return convs > 1 ? err(CUDNN_STATUS_NOT_SUPPORTED, "graph: more than one convolution") : check_types(ops);
}
static cudnnStatus_t check_pack(const struct fake *v) {
  const struct attr *u = fake_get(v, A(VARIANT_PACK_UNIQUE_IDS)),
                    *p = fake_get(v, A(VARIANT_PACK_DATA_POINTERS));
  if (u->n != p->n) BAD("variant pack: ids and pointers differ in number");
  for (int64_t i = 0; i < u->n; i++)
    for (int64_t k = 0; k < i; k++)
      if (((int64_t *)u->v)[i] == ((int64_t *)u->v)[k]) BAD("variant pack: an id twice");
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_engine(const struct fake *f) {
  return fake_engine_exists(fake_child(f, A(ENGINE_OPERATION_GRAPH)), *fake_ints(f, A(ENGINE_GLOBAL_INDEX)))
             ? CUDNN_STATUS_SUCCESS
             : err(CUDNN_STATUS_NOT_SUPPORTED, "engine: none of that number for this graph");
}
static cudnnStatus_t check_config(const struct fake *f) {
  const struct attr *knobs = fake_get(f, A(ENGINECFG_KNOB_CHOICES));
  int64_t index = *fake_ints(fake_child(f, A(ENGINECFG_ENGINE)), A(ENGINE_GLOBAL_INDEX));
  for (int64_t i = 0; knobs && i < knobs->n; i++) {
    struct fake *k = ((struct fake **)knobs->v)[i];
    if (!fake_knob_exists(index, fake_number(k, A(KNOB_CHOICE_KNOB_TYPE)),
                          *fake_ints(k, A(KNOB_CHOICE_KNOB_VALUE))))
      return err(CUDNN_STATUS_NOT_SUPPORTED, "engine configuration: the engine has no such knob or value");
  }
  return CUDNN_STATUS_SUCCESS;
}

/* --- the API -------------------------------------------------------------------- */
static cudnnStatus_t enter(const char *name) {
  return tm_host_fault(name) == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                            : err(CUDNN_STATUS_INTERNAL_ERROR, "injected fault");
}
#define ENTER()                                                                                              \
  do {                                                                                                       \
    if (enter(__func__) != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_INTERNAL_ERROR;                         \
  } while (0)

size_t cudnnGetVersion(void) {
  return CUDNN_VERSION;
}
const char *cudnnGetErrorString(cudnnStatus_t s) {
  return s == CUDNN_STATUS_SUCCESS         ? "CUDNN_STATUS_SUCCESS"
         : s == CUDNN_STATUS_BAD_PARAM     ? "CUDNN_STATUS_BAD_PARAM"
         : s == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                           : "cuDNN error";
}
void cudnnGetLastErrorString(char *m, size_t n) {
  snprintf(m, n, "%s", last_error);
}
cudnnStatus_t cudnnCreate(cudnnHandle_t *h) {
  ENTER();
  *h = calloc(1, sizeof **h);
  return *h ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_INTERNAL_ERROR;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t h) {
  free(h);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) {
  ENTER();
  h->stream = s;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t t, cudnnBackendDescriptor_t *d) {
  ENTER();
  bool known = false;
  for (int i = 0; i < NRULES; i++) known |= rules[i].d == t;
  if (!known) return err(CUDNN_STATUS_NOT_SUPPORTED, "descriptor type");
  struct fake *f = calloc(1, sizeof *f);
  if (!f) return CUDNN_STATUS_INTERNAL_ERROR;
  f->type = t;
  f->refs = 1;
  *d = f;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  if (d) fake_drop(d);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n, const void *v) {
  ENTER();
  struct fake *f = d;
  const struct rule *r = rule(f->type, name);
  if (f->done) BAD("attribute set after finalize");
  if (!r || r->need == GET) BAD("attribute not of this descriptor");
  if (r->type != type || n < r->min || n > r->max || !v) BAD("attribute type or count");
  if (f->n == MAX_ATTR) return CUDNN_STATUS_INTERNAL_ERROR;
  struct fake *const *kids = v;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t i = 0; i < n; i++)
      if (!kids[i] || !kids[i]->done) BAD("attribute is a descriptor not finalized");
    for (int64_t i = 0; i < n; i++) kids[i]->refs++;
  }
  struct attr *a = (struct attr *)fake_get(f, name);
  if (a) {
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->n; i++)
      fake_drop(((struct fake **)a->v)[i]);
    free(a->v);
  } else
    a = &f->a[f->n++];
  *a = (struct attr){name, type, n, malloc((size_t)n * size_of(type))};
  if (!a->v) abort();
  memcpy(a->v, v, (size_t)n * size_of(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  ENTER();
  struct fake *f = d;
  cudnnStatus_t st = CUDNN_STATUS_SUCCESS;
  for (int i = 0; i < NRULES; i++)
    if (rules[i].d == f->type && rules[i].need == REQ && !fake_get(f, rules[i].name))
      BAD("finalize: an attribute is missing");
  if (f->type == T(TENSOR))
    st = check_tensor(f);
  else if (fake_direction(f) >= 0)
    st = check_conv(f);
  else if (f->type == T(OPERATION_POINTWISE))
    st = check_pointwise(f);
  else if (f->type == T(OPERATION_GEN_STATS))
    st = check_sums(f);
  else if (f->type == T(OPERATIONGRAPH))
    st = check_graph(f);
  else if (f->type == T(ENGINE))
    st = check_engine(f);
  else if (f->type == T(ENGINECFG))
    st = check_config(f);
  else if (f->type == T(VARIANT_PACK))
    st = check_pack(f);
  f->done = st == CUDNN_STATUS_SUCCESS;
  return st;
}

static struct fake *engine_of_plan(const struct fake *plan) {
  return fake_child(fake_child(plan, A(EXECUTION_PLAN_ENGINE_CONFIG)), A(ENGINECFG_ENGINE));
}

/* Fills a descriptor that was made to receive another's value. */
static void receive(struct fake *to, const struct fake *from) {
  for (int i = 0; i < from->n; i++) {
    const struct attr *a = &from->a[i];
    struct attr *b = &to->a[to->n++];
    *b = *a;
    b->v = malloc((size_t)a->n * size_of(a->type));
    if (!b->v) abort();
    memcpy(b->v, a->v, (size_t)a->n * size_of(a->type));
    for (int64_t k = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && k < a->n; k++)
      ((struct fake **)a->v)[k]->refs++;
  }
  to->done = true;
}
/* Descriptors are received by those that the caller made; all else is copied. */
static cudnnStatus_t read_attribute(const struct attr *a, int64_t want, int64_t *n, void *v) {
  *n = a ? (want < a->n ? want : a->n) : 0; /* one that was not set has no elements */
  for (int64_t i = 0; i < *n && a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR; i++) {
    struct fake *to = ((struct fake **)v)[i], *from = ((struct fake **)a->v)[i];
    if (to->type != from->type || to->done) BAD("attribute read into another descriptor");
    receive(to, from);
  }
  if (*n && a->type != CUDNN_TYPE_BACKEND_DESCRIPTOR) memcpy(v, a->v, (size_t)*n * size_of(a->type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t want, int64_t *n, void *v) {
  ENTER();
  struct fake *f = d;
  const struct rule *r = rule(f->type, name);
  if (!f->done) return err(CUDNN_STATUS_NOT_INITIALIZED, "attribute read before finalize");
  if (!r || r->type != type) BAD("attribute not of this descriptor");
  if (name == A(ENGINEHEUR_RESULTS)) {
    for (int64_t i = 0; i < want; i++)
      if (((struct fake **)v)[i]->type != T(ENGINECFG)) BAD("results: not an engine configuration");
    *n = fake_heuristics(fake_child(f, A(ENGINEHEUR_OPERATION_GRAPH)),
                         (cudnnBackendHeurMode_t)fake_number(f, A(ENGINEHEUR_MODE)), v, (int)want);
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == A(ENGINE_NUMERICAL_NOTE)) {
    *n = fake_notes(*fake_ints(f, A(ENGINE_GLOBAL_INDEX)), v, (int)want);
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == A(EXECUTION_PLAN_WORKSPACE_SIZE)) {
    *(int64_t *)v = fake_workspace(*fake_ints(engine_of_plan(f), A(ENGINE_GLOBAL_INDEX)));
    *n = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  return read_attribute(fake_get(f, name), want, n, v);
}

static void drop_run(void *a) {
  fake_drop(((struct run *)a)->graph);
  free(a);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ENTER();
  struct fake *p = plan, *v = pack, *g;
  if (p->type != T(EXECUTION_PLAN) || !p->done || v->type != T(VARIANT_PACK) || !v->done)
    BAD("execute: not finalized");
  int64_t index = *fake_ints(engine_of_plan(p), A(ENGINE_GLOBAL_INDEX));
  g = fake_child(engine_of_plan(p), A(ENGINE_OPERATION_GRAPH));
  struct run *r = calloc(1, sizeof *r);
  if (!r) return CUDNN_STATUS_INTERNAL_ERROR;
  r->n = (int)fake_get(v, A(VARIANT_PACK_UNIQUE_IDS))->n;
  memcpy(r->uid, fake_get(v, A(VARIANT_PACK_UNIQUE_IDS))->v, (size_t)r->n * 8);
  memcpy(r->p, fake_get(v, A(VARIANT_PACK_DATA_POINTERS))->v, (size_t)r->n * 8);
  const char *why = NULL;
  if (fake_workspace(index) && tm_host_check_device(*(void **)fake_get(v, A(VARIANT_PACK_WORKSPACE))->v,
                                                    (size_t)fake_workspace(index)))
    why = "execute: workspace too small";
  const struct attr *ops = fake_get(g, A(OPERATIONGRAPH_OPS));
  for (int64_t i = 0; i < ops->n && !why; i++) {
    struct fake *t[MOST_OPERANDS];
    int outs, nt = fake_operands(((struct fake **)ops->v)[i], t, &outs);
    for (int k = 0; k < nt && !why; k++) {
      if (fake_virtual(t[k])) continue;
      char *q = fake_pointer(r, fake_uid(t[k]));
      size_t size = fake_number(t[k], A(TENSOR_DATA_TYPE)) != CUDNN_DATA_FLOAT ? 2 : 4, last = 0;
      for (int m = 0; m < DIMS; m++)
        last += (size_t)((fake_dim(t[k], m) - 1) * fake_ints(t[k], A(TENSOR_STRIDES))[m]);
      if (!q)
        why = "execute: a tensor's id is not in the variant pack";
      else if ((uintptr_t)q % (uintptr_t)*fake_ints(t[k], A(TENSOR_BYTE_ALIGNMENT)))
        why = "execute: pointer not aligned as promised";
      else if (tm_host_check_device(q, (last + 1) * size))
        why = "execute: tensor outside device memory";
    }
  }
  if (why) {
    free(r);
    BAD(why);
  }
  r->graph = g;
  r->tf32 = fake_rounds_to_tf32(index);
  g->refs++;
  return tm_host_submit(h->stream, "execute", fake_run_graph, r, drop_run) == cudaSuccess
             ? CUDNN_STATUS_SUCCESS
             : err(CUDNN_STATUS_EXECUTION_FAILED, "execute: stream");
}
