/* The part of cuDNN's backend API that a UNet needs, on the host: conv
 * forward, backward data and backward weight, and pointwise add, multiply,
 * ReLU and identity, as operation graphs run by plain loops in float. It is
 * stricter than cuDNN where cuDNN would be slow or only sometimes work.
 * Compiles against the real cudnn.h or against host/include/cudnn.h. */
#include <cudnn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tm_host.h"

enum { MAX_ATTR = 12, DIMS = 4, WORKSPACE = 1024, MAX_OPS = 8, MAX_UIDS = 16 };

struct attr {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t n;
  void *v;
};
struct fake {
  cudnnBackendDescriptorType_t type;
  bool done, loose; /* loose: its sums have no fixed order */
  int refs, n;
  struct attr a[MAX_ATTR];
};
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
#define T(x) CUDNN_BACKEND_##x##_DESCRIPTOR
#define A(x) CUDNN_ATTR_##x
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
    {T(OPERATIONGRAPH), A(OPERATIONGRAPH_HANDLE), CUDNN_TYPE_HANDLE, 1, 1, REQ},
    {T(OPERATIONGRAPH), A(OPERATIONGRAPH_OPS), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, MAX_OPS, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_OPERATION_GRAPH), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_MODE), CUDNN_TYPE_HEUR_MODE, 1, 1, REQ},
    {T(ENGINEHEUR), A(ENGINEHEUR_RESULTS), CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, 1 << 20, GET},
    {T(ENGINECFG), A(ENGINECFG_ENGINE), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, REQ},
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
static const struct attr *get(const struct fake *f, cudnnBackendAttributeName_t n) {
  for (int i = 0; i < f->n; i++)
    if (f->a[i].name == n) return &f->a[i];
  return NULL;
}
static int64_t *ints(const struct fake *f, cudnnBackendAttributeName_t n) {
  return get(f, n)->v;
}
static int number(const struct fake *f, cudnnBackendAttributeName_t n) {
  return *(int *)get(f, n)->v;
}
static struct fake *child(const struct fake *f, cudnnBackendAttributeName_t n) {
  const struct attr *a = get(f, n);
  return a ? *(struct fake **)a->v : NULL;
}
static void drop(struct fake *f) {
  if (--f->refs) return;
  for (int i = 0; i < f->n; i++) {
    for (int64_t k = 0; f->a[i].type == CUDNN_TYPE_BACKEND_DESCRIPTOR && k < f->a[i].n; k++)
      drop(((struct fake **)f->a[i].v)[k]);
    free(f->a[i].v);
  }
  free(f);
}

/* --- reading a convolution ------------------------------------------------ */
enum { FWD, DATA, WEIGHT };
static int direction(const struct fake *op) {
  return op->type == T(OPERATION_CONVOLUTION_FORWARD)           ? FWD
         : op->type == T(OPERATION_CONVOLUTION_BACKWARD_DATA)   ? DATA
         : op->type == T(OPERATION_CONVOLUTION_BACKWARD_FILTER) ? WEIGHT
                                                                : -1;
}
struct conv {
  struct fake *d, *x, *w, *y;
};
static struct conv conv_of(const struct fake *op) {
  switch (direction(op)) {
  case FWD:
    return (struct conv){
        child(op, A(OPERATION_CONVOLUTION_FORWARD_CONV_DESC)), child(op, A(OPERATION_CONVOLUTION_FORWARD_X)),
        child(op, A(OPERATION_CONVOLUTION_FORWARD_W)), child(op, A(OPERATION_CONVOLUTION_FORWARD_Y))};
  case DATA:
    return (struct conv){child(op, A(OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_DATA_DX)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_DATA_W)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_DATA_DY))};
  default:
    return (struct conv){child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_X)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_DW)),
                         child(op, A(OPERATION_CONVOLUTION_BWD_FILTER_DY))};
  }
}
static int64_t dim(const struct fake *t, int i) {
  return ints(t, A(TENSOR_DIMENSIONS))[i];
}
static bool virt(const struct fake *t) {
  const struct attr *a = get(t, A(TENSOR_IS_VIRTUAL));
  return a && *(bool *)a->v;
}
static int64_t uid(const struct fake *t) {
  return *ints(t, A(TENSOR_UNIQUE_ID));
}
/* inputs then output; returns how many */
static int operands(const struct fake *op, struct fake *t[3]) {
  int d = direction(op);
  if (d >= 0) {
    struct conv c = conv_of(op);
    t[0] = d == DATA ? c.y : c.x;
    t[1] = d == WEIGHT ? c.y : c.w;
    t[2] = d == FWD ? c.y : d == DATA ? c.x : c.w;
    return 3;
  }
  int n = 0;
  t[n++] = child(op, A(OPERATION_POINTWISE_XDESC));
  if (child(op, A(OPERATION_POINTWISE_BDESC))) t[n++] = child(op, A(OPERATION_POINTWISE_BDESC));
  t[n++] = child(op, A(OPERATION_POINTWISE_YDESC));
  return n;
}

/* --- checks on finalize ----------------------------------------------------- */
static cudnnStatus_t check_tensor(const struct fake *f) {
  int64_t *d = ints(f, A(TENSOR_DIMENSIONS)), *s = ints(f, A(TENSOR_STRIDES)),
          al = *ints(f, A(TENSOR_BYTE_ALIGNMENT));
  int type = number(f, A(TENSOR_DATA_TYPE));
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
  struct conv c = conv_of(op);
  int64_t *pre = ints(c.d, A(CONVOLUTION_PRE_PADDINGS)), *post = ints(c.d, A(CONVOLUTION_POST_PADDINGS));
  int64_t *st = ints(c.d, A(CONVOLUTION_FILTER_STRIDES)), *dil = ints(c.d, A(CONVOLUTION_DILATIONS));
  if (dim(c.x, 0) != dim(c.y, 0) || dim(c.x, 1) % dim(c.w, 1) || dim(c.y, 1) != dim(c.w, 0) ||
      dim(c.y, 1) % (dim(c.x, 1) / dim(c.w, 1)))
    BAD("convolution: n, c or k differ");
  for (int i = 0; i < 2; i++) {
    int64_t want = (dim(c.x, 2 + i) + pre[i] + post[i] - (dil[i] * (dim(c.w, 2 + i) - 1) + 1)) / st[i] + 1;
    if (want != dim(c.y, 2 + i)) BAD("convolution: output size");
  }
  struct fake *t[3] = {c.x, c.w, c.y};
  for (int i = 0; i < 3; i++) {
    if (number(t[i], A(TENSOR_DATA_TYPE)) == CUDNN_DATA_FLOAT) continue;
    if (dim(t[i], 1) % 8 || ints(t[i], A(TENSOR_STRIDES))[3] % 8 ||
        *ints(t[i], A(TENSOR_BYTE_ALIGNMENT)) % 16)
      return err(CUDNN_STATUS_NOT_SUPPORTED,
                 "convolution: 16-bit channels not a multiple of 8, or alignment under 16");
  }
  /* cuDNN's compiled-in engines have no float result for bf16 operands. */
  if (direction(op) != FWD)
    for (int i = 0; i < 3; i++)
      if (number(t[i], A(TENSOR_DATA_TYPE)) != number(t[0], A(TENSOR_DATA_TYPE)))
        return err(CUDNN_STATUS_NOT_SUPPORTED, "convolution: operands and gradient of different types");
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_pointwise(const struct fake *op) {
  struct fake *t[3];
  int n = operands(op, t), mode = number(child(op, A(OPERATION_POINTWISE_PW_DESCRIPTOR)), A(POINTWISE_MODE));
  bool two = mode == CUDNN_POINTWISE_ADD || mode == CUDNN_POINTWISE_MUL;
  if (!two && mode != CUDNN_POINTWISE_RELU_FWD && mode != CUDNN_POINTWISE_IDENTITY)
    return err(CUDNN_STATUS_NOT_SUPPORTED, "pointwise: mode");
  if ((n == 3) != two) BAD("pointwise: wrong number of operands");
  for (int k = 0; k < n - 1; k++)
    for (int i = 0; i < DIMS; i++)
      if (dim(t[k], i) != dim(t[n - 1], i) && dim(t[k], i) != 1) BAD("pointwise: shapes do not broadcast");
  if (two && !virt(t[1]) && number(t[1], A(TENSOR_DATA_TYPE)) != CUDNN_DATA_BFLOAT16)
    return err(CUDNN_STATUS_NOT_SUPPORTED, "pointwise: operand not bf16");
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_graph(const struct fake *g) {
  const struct attr *ops = get(g, A(OPERATIONGRAPH_OPS));
  struct fake *seen[3 * MAX_OPS];
  bool written[3 * MAX_OPS] = {false};
  int n = 0, convs = 0;
  for (int64_t i = 0; i < ops->n; i++) {
    struct fake *op = ((struct fake **)ops->v)[i], *t[3];
    int nt = operands(op, t);
    convs += direction(op) >= 0;
    for (int k = 0; k < nt; k++) {
      int at = 0;
      bool out = k == nt - 1;
      while (at < n && uid(seen[at]) != uid(t[k])) at++;
      if (at < n && seen[at] != t[k]) BAD("graph: two tensors with one unique id");
      if (at == n) seen[n++] = t[k];
      if (out && written[at]) BAD("graph: a tensor written twice");
      if (out)
        written[at] = true;
      else if (virt(t[k]) && !written[at])
        BAD("graph: virtual tensor read before it is written");
    }
  }
  return convs > 1 ? err(CUDNN_STATUS_NOT_SUPPORTED, "graph: more than one convolution")
                   : CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t check_pack(const struct fake *v) {
  const struct attr *u = get(v, A(VARIANT_PACK_UNIQUE_IDS)), *p = get(v, A(VARIANT_PACK_DATA_POINTERS));
  if (u->n != p->n) BAD("variant pack: ids and pointers differ in number");
  for (int64_t i = 0; i < u->n; i++)
    for (int64_t k = 0; k < i; k++)
      if (((int64_t *)u->v)[i] == ((int64_t *)u->v)[k]) BAD("variant pack: an id twice");
  return CUDNN_STATUS_SUCCESS;
}

/* --- running a graph ---------------------------------------------------------- */
/* Both 16-bit types by the runtime's stand-in headers, which are checked against CUDA's bit by bit. */
float tm_host_from16(int half, uint16_t h);
uint16_t tm_host_to16(int half, float f);
struct run {
  struct fake *graph;
  int n;
  int64_t uid[MAX_UIDS];
  void *p[MAX_UIDS];
  struct {
    int64_t uid;
    float *v;
  } virt[MAX_OPS];
  int nvirt;
};
static void *pointer(const struct run *r, int64_t id) {
  for (int i = 0; i < r->n; i++)
    if (r->uid[i] == id) return r->p[i];
  return NULL;
}
static size_t count(const struct fake *t) {
  return (size_t)(dim(t, 0) * dim(t, 1) * dim(t, 2) * dim(t, 3));
}
/* To and from dense NHWC floats. dir 0 reads, 1 writes. */
static void convert(const struct fake *t, void *p, float *f, int dir) {
  int64_t *d = ints(t, A(TENSOR_DIMENSIONS)), *s = ints(t, A(TENSOR_STRIDES));
  int type = number(t, A(TENSOR_DATA_TYPE));
  bool half = type != CUDNN_DATA_FLOAT;
  for (int64_t n = 0; n < d[0]; n++)
    for (int64_t y = 0; y < d[2]; y++)
      for (int64_t x = 0; x < d[3]; x++)
        for (int64_t c = 0; c < d[1]; c++, f++) {
          size_t at = (size_t)(n * s[0] + y * s[2] + x * s[3] + c);
          if (dir && half)
            ((uint16_t *)p)[at] = tm_host_to16(type == CUDNN_DATA_HALF, *f);
          else if (dir)
            ((float *)p)[at] = *f;
          else
            *f = half ? tm_host_from16(type == CUDNN_DATA_HALF, ((uint16_t *)p)[at]) : ((float *)p)[at];
        }
}
static float *load(struct run *r, const struct fake *t) {
  float *f = malloc(count(t) * sizeof *f);
  if (!f) abort();
  if (!virt(t)) {
    convert(t, pointer(r, uid(t)), f, 0);
    return f;
  }
  for (int i = 0; i < r->nvirt; i++)
    if (r->virt[i].uid == uid(t)) memcpy(f, r->virt[i].v, count(t) * sizeof *f);
  return f;
}
static void store(struct run *r, const struct fake *t, float *f) { /* takes f */
  if (virt(t)) {
    r->virt[r->nvirt].uid = uid(t);
    r->virt[r->nvirt++].v = f;
    return;
  }
  convert(t, pointer(r, uid(t)), f, 1);
  free(f);
}
/* All three directions visit the same (x, w, y) triples. */
static void run_conv(struct run *r, const struct fake *op) {
  struct conv c = conv_of(op);
  int dir = direction(op);
  int64_t *pre = ints(c.d, A(CONVOLUTION_PRE_PADDINGS)), *st = ints(c.d, A(CONVOLUTION_FILTER_STRIDES)),
          *dl = ints(c.d, A(CONVOLUTION_DILATIONS));
  int64_t N = dim(c.x, 0), C = dim(c.w, 1), CX = dim(c.x, 1), H = dim(c.x, 2), W = dim(c.x, 3),
          K = dim(c.w, 0), R = dim(c.w, 2), S = dim(c.w, 3), OH = dim(c.y, 2), OW = dim(c.y, 3);
  float *x = dir == DATA ? calloc(count(c.x), sizeof *x) : load(r, c.x);
  float *w = dir == WEIGHT ? calloc(count(c.w), sizeof *w) : load(r, c.w);
  float *y = dir == FWD ? calloc(count(c.y), sizeof *y) : load(r, c.y);
  if (!x || !w || !y) abort();
  for (int64_t n = 0; n < N; n++)
    for (int64_t oy = 0; oy < OH; oy++)
      for (int64_t ox = 0; ox < OW; ox++)
        for (int64_t k = 0; k < K; k++) {
          float *py = &y[((n * OH + oy) * OW + ox) * K + k], sum = 0, g = *py;
          for (int64_t i = 0; i < R; i++)
            for (int64_t j = 0; j < S; j++) {
              int64_t iy = oy * st[0] + i * dl[0] - pre[0], ix = ox * st[1] + j * dl[1] - pre[1];
              if (iy < 0 || iy >= H || ix < 0 || ix >= W) continue;
              float *px = &x[((n * H + iy) * W + ix) * CX + k / (K / (CX / C)) * C],
                    *pw = &w[((k * R + i) * S + j) * C];
              if (dir == FWD)
                for (int64_t e = 0; e < C; e++) sum += px[e] * pw[e];
              else if (dir == DATA)
                for (int64_t e = 0; e < C; e++) px[e] += g * pw[e];
              else
                for (int64_t e = 0; e < C; e++) pw[e] += g * px[e];
            }
          if (dir == FWD) *py = sum;
        }
  if (dir == FWD)
    store(r, c.y, y);
  else
    free(y);
  if (dir == DATA)
    store(r, c.x, x);
  else
    free(x);
  if (dir == WEIGHT)
    store(r, c.w, w);
  else
    free(w);
}
static void run_pointwise(struct run *r, const struct fake *op) {
  struct fake *t[3];
  int n = operands(op, t), mode = number(child(op, A(OPERATION_POINTWISE_PW_DESCRIPTOR)), A(POINTWISE_MODE));
  float *in[2] = {load(r, t[0]), n == 3 ? load(r, t[1]) : NULL}, *out = malloc(count(t[n - 1]) * sizeof *out);
  if (!out) abort();
  int64_t *d = ints(t[n - 1], A(TENSOR_DIMENSIONS)), at = 0;
  for (int64_t b = 0; b < d[0]; b++)
    for (int64_t y = 0; y < d[2]; y++)
      for (int64_t x = 0; x < d[3]; x++)
        for (int64_t c = 0; c < d[1]; c++, at++) {
          float v[2] = {0, 0};
          for (int k = 0; k < n - 1; k++) { /* a dimension of 1 broadcasts */
            int64_t *e = ints(t[k], A(TENSOR_DIMENSIONS));
            v[k] = in[k][((b % e[0] * e[2] + y % e[2]) * e[3] + x % e[3]) * e[1] + c % e[1]];
          }
          out[at] = mode == CUDNN_POINTWISE_ADD        ? v[0] + v[1]
                    : mode == CUDNN_POINTWISE_MUL      ? v[0] * v[1]
                    : mode == CUDNN_POINTWISE_RELU_FWD ? (v[0] > 0 ? v[0] : 0)
                                                       : v[0];
        }
  free(in[0]);
  free(in[1]);
  store(r, t[n - 1], out);
}
static void run_graph(void *a) {
  struct run *r = a;
  const struct attr *ops = get(r->graph, A(OPERATIONGRAPH_OPS));
  r->nvirt = 0;
  for (int64_t i = 0; i < ops->n; i++) {
    struct fake *op = ((struct fake **)ops->v)[i];
    if (direction(op) >= 0)
      run_conv(r, op);
    else
      run_pointwise(r, op);
  }
  while (r->nvirt > 0) free(r->virt[--r->nvirt].v);
}
static void drop_run(void *a) {
  drop(((struct run *)a)->graph);
  free(a);
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
  bool known = t == T(ENGINE);
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
  if (d) drop(d);
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
  struct attr *a = (struct attr *)get(f, name);
  if (a) {
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->n; i++)
      drop(((struct fake **)a->v)[i]);
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
    if (rules[i].d == f->type && rules[i].need == REQ && !get(f, rules[i].name))
      BAD("finalize: an attribute is missing");
  if (f->type == T(TENSOR))
    st = check_tensor(f);
  else if (direction(f) >= 0)
    st = check_conv(f);
  else if (f->type == T(OPERATION_POINTWISE))
    st = check_pointwise(f);
  else if (f->type == T(OPERATIONGRAPH))
    st = check_graph(f);
  else if (f->type == T(VARIANT_PACK))
    st = check_pack(f);
  f->done = st == CUDNN_STATUS_SUCCESS;
  return st;
}

/* An engine configuration's "engine" is the graph itself. */
static struct fake *graph_of_plan(const struct fake *plan) {
  return child(child(plan, A(EXECUTION_PLAN_ENGINE_CONFIG)), A(ENGINECFG_ENGINE));
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t want, int64_t *n, void *v) {
  ENTER();
  struct fake *f = d;
  if (!f->done) return err(CUDNN_STATUS_NOT_INITIALIZED, "attribute read before finalize");
  if (name == A(ENGINEHEUR_RESULTS) && f->type == T(ENGINEHEUR) && type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    struct fake **out = v, *g = child(f, A(ENGINEHEUR_OPERATION_GRAPH));
    *n = want < 2 ? want : 2; /* two, so that autotuning has a choice */
    for (int64_t i = 0; i < *n; i++) {
      if (out[i]->type != T(ENGINECFG)) BAD("results: not an engine configuration");
      struct fake **kid = malloc(sizeof *kid);
      if (!kid) abort();
      *kid = g;
      g->refs++;
      out[i]->a[out[i]->n++] = (struct attr){A(ENGINECFG_ENGINE), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, kid};
      out[i]->done = true;
      out[i]->loose = i == 0;
    }
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == A(ENGINECFG_ENGINE) && f->type == T(ENGINECFG)) {
    (*(struct fake **)v)->done = true;
    (*(struct fake **)v)->loose = f->loose;
    *n = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == A(ENGINE_NUMERICAL_NOTE) && f->type == T(ENGINE) && type == CUDNN_TYPE_NUMERICAL_NOTE) {
    int *out = v;
    *n = 0;
    if (want > 0) out[(*n)++] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    if (want > 1 && f->loose) out[(*n)++] = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == A(EXECUTION_PLAN_WORKSPACE_SIZE) && f->type == T(EXECUTION_PLAN) && type == CUDNN_TYPE_INT64) {
    *(int64_t *)v = WORKSPACE;
    *n = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  return err(CUDNN_STATUS_NOT_SUPPORTED, "attribute cannot be read");
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ENTER();
  struct fake *p = plan, *v = pack, *g;
  if (p->type != T(EXECUTION_PLAN) || !p->done || v->type != T(VARIANT_PACK) || !v->done)
    BAD("execute: not finalized");
  g = graph_of_plan(p);
  struct run *r = calloc(1, sizeof *r);
  if (!r) return CUDNN_STATUS_INTERNAL_ERROR;
  r->n = (int)get(v, A(VARIANT_PACK_UNIQUE_IDS))->n;
  memcpy(r->uid, get(v, A(VARIANT_PACK_UNIQUE_IDS))->v, (size_t)r->n * 8);
  memcpy(r->p, get(v, A(VARIANT_PACK_DATA_POINTERS))->v, (size_t)r->n * 8);
  const char *why = NULL;
  if (tm_host_check_device(*(void **)get(v, A(VARIANT_PACK_WORKSPACE))->v, WORKSPACE))
    why = "execute: workspace too small";
  const struct attr *ops = get(g, A(OPERATIONGRAPH_OPS));
  for (int64_t i = 0; i < ops->n && !why; i++) {
    struct fake *t[3];
    int nt = operands(((struct fake **)ops->v)[i], t);
    for (int k = 0; k < nt && !why; k++) {
      if (virt(t[k])) continue;
      char *q = pointer(r, uid(t[k]));
      size_t size = number(t[k], A(TENSOR_DATA_TYPE)) != CUDNN_DATA_FLOAT ? 2 : 4, last = 0;
      for (int m = 0; m < DIMS; m++) last += (size_t)((dim(t[k], m) - 1) * ints(t[k], A(TENSOR_STRIDES))[m]);
      if (!q)
        why = "execute: a tensor's id is not in the variant pack";
      else if ((uintptr_t)q % (uintptr_t)*ints(t[k], A(TENSOR_BYTE_ALIGNMENT)))
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
  g->refs++;
  return tm_host_submit(h->stream, "execute", run_graph, r, drop_run) == cudaSuccess
             ? CUDNN_STATUS_SUCCESS
             : err(CUDNN_STATUS_EXECUTION_FAILED, "execute: stream");
}
