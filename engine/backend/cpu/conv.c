/* conv.c: convolutions. A conv, the conv_transpose that is its adjoint, and the gradient of both by their
 * weights are one geometry seen from three sides: pictures that a kernel slides over ("wide", w.c * groups
 * channels) and pictures with one value a position ("deep", w.n channels).
 *
 * oneDNN takes dense activations only: a channel slice makes it fall back to its slow reference. The 2x2
 * transposed convolution, whose result is half of a concat, therefore has own kernels. */
#include "engine/backend/cpu/conv.h"

#include "engine/core/tensor.h"
#include "engine/graph/fused.h"

#include <glib/gi18n.h>

typedef enum {
  BY_ONEDNN,
  BY_UP2,
  BY_UP2_DX,
  BY_UP2_DW,
  BY_CONV3,
  BY_CONV3_DX,
  BY_CONV3_DW,
  BY_WINOGRAD,
  BY_WINOGRAD_DX,
  BY_WINOGRAD_DW
} Way;

enum { MAX_ARGS = 5 };

struct _CpuConv {
  CpuBackend *backend;
  int op;
  Way way;
  gboolean with_stats; /* the pattern CONV_STATS */
  /* own kernels */
  void *packed;
  gsize packed_bytes, team_work, team_shared;
  /* oneDNN */
  dnnl_primitive_t primitive, pack,
      unpack; /* pack: master to the primitive's layout; unpack: its weight gradient to O,kH,kW,I */
  dnnl_memory_t wide, deep, weights, master, bias, scratch;
  gsize scratch_bytes;
  const float *late_bias; /* added after a primitive that takes none */
};

typedef struct {
  int op;
  TmShape wide, deep, weights;
  int stride, pad, dilation, groups;
  gboolean bias;
} Geometry;

static Geometry geometry(int op, const TmNode *n) {
  const TmAttrs *a = &n->attrs;
  Geometry g = {.op = op,
                .stride = MAX(a->stride, 1),
                .pad = a->pad,
                .dilation = MAX(a->dilation, 1),
                .groups = MAX(a->groups, 1)};
  g.bias = op != TM_OP_CONV_DW && n->n_in == 3;
  g.wide = op == TM_OP_CONV_TRANSPOSE ? n->shape : n->in[0]->shape;
  g.deep = op == TM_OP_CONV ? n->shape : op == TM_OP_CONV_TRANSPOSE ? n->in[0]->shape : n->in[1]->shape;
  g.weights = op == TM_OP_CONV_DW ? n->shape : n->in[1]->shape;
  return g;
}

static gboolean is_up2(const Geometry *g) {
  return g->weights.h == 2 && g->weights.w == 2 && g->stride == 2 && g->pad == 0 && g->dilation == 1 &&
         g->groups == 1 && g->wide.h == 2 * g->deep.h && g->wide.w == 2 * g->deep.w;
}

static gboolean is_conv3(const Geometry *g) {
  return g->weights.h == 3 && g->weights.w == 3 && g->stride == 1 && g->pad == 1 && g->dilation == 1 &&
         g->groups == 1;
}

/* Measured on Zen 4, one core, against the processor's peak: forward and adjoint alike with oneDNN 3.2 (0.93
 * in bf16, 0.95 in f32), weights 0.84 against 0.77 in bf16 and 0.91 against 0.76 in f32; and the statistics
 * come with it. Without AVX-512 oneDNN is the faster. */
static gboolean has_fast_conv3(const CpuBackend *b) {
  return b->kernels->bf16;
}

/* Winograd's noise is about 1.5 times that of the direct kernels in bf16, so it is asked for, not the
 * default. It pays from 32 channels on. */
static gboolean has_winograd(const CpuBackend *b, const Geometry *g, TmDType type) {
  return b->winograd && b->kernels->winograd && type == TM_BF16 && g->wide.c % 32 == 0 &&
         g->deep.c % 32 == 0 && !g->bias; /* which the kernel does not add */
}

static Way way_of(const CpuBackend *b, const Geometry *g, TmDType type) {
  static const Way up2[] = {
      [TM_OP_CONV] = BY_UP2_DX, [TM_OP_CONV_TRANSPOSE] = BY_UP2, [TM_OP_CONV_DW] = BY_UP2_DW};
  static const Way conv3[] = {
      [TM_OP_CONV] = BY_CONV3, [TM_OP_CONV_TRANSPOSE] = BY_CONV3_DX, [TM_OP_CONV_DW] = BY_CONV3_DW};
  static const Way winograd[] = {
      [TM_OP_CONV] = BY_WINOGRAD, [TM_OP_CONV_TRANSPOSE] = BY_WINOGRAD_DX, [TM_OP_CONV_DW] = BY_WINOGRAD_DW};
  if (is_up2(g)) return up2[g->op];
  if (!is_conv3(g) || !has_fast_conv3(b)) return BY_ONEDNN;
  return has_winograd(b, g, type) ? winograd[g->op] : conv3[g->op];
}

gboolean tm_cpu_is_conv(int op) {
  return op == TM_OP_CONV || op == TM_OP_CONV_TRANSPOSE || op == TM_OP_CONV_DW || op == TM_FUSED_CONV_STATS;
}

gboolean tm_cpu_conv_supports(const CpuBackend *b, int op, const TmNode *node, TmDType precision) {
  const Geometry g = geometry((int)node->op, node);
  const Way way = way_of(b, &g, precision);
  if (op == TM_FUSED_CONV_STATS) return way == BY_CONV3 || way == BY_WINOGRAD;
  return way != BY_ONEDNN || precision == TM_F32 || b->bf16_convolutions;
}

gboolean tm_cpu_conv_takes_slice(const CpuBackend *b, const TmNode *node, int operand) {
  const Geometry g = geometry((int)node->op, node);
  const gboolean weights = operand == (node->op == TM_OP_CONV_DW ? ~0 : 1);
  return !weights && way_of(b, &g, TM_F32) != BY_ONEDNN;
}

static gboolean ok(dnnl_status_t status, const char *what, GError **error) {
  if (status == dnnl_success) return TRUE;
  if (status == dnnl_out_of_memory)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("oneDNN ran out of memory (%s)."), what);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("oneDNN cannot run this convolution (%s, status %d). The ref back end can."), what,
                (int)status);
  return FALSE;
}

static dnnl_data_type_t type_of(TmDType t) {
  return t == TM_BF16 ? dnnl_bf16 : dnnl_f32;
}

static gboolean pictures(dnnl_memory_desc_t *d, TmShape s, TmDType t, GError **error) {
  const dnnl_dims_t dims = {s.n, s.c, s.h, s.w};
  return ok(dnnl_memory_desc_create_with_tag(d, 4, dims, type_of(t), dnnl_nhwc), "pictures", error);
}

/* The weights as the master has them (O,kH,kW,I; @master), or in whatever order suits the primitive. */
static gboolean weights(dnnl_memory_desc_t *d, const Geometry *g, dnnl_data_type_t t, gboolean master,
                        GError **error) {
  const dnnl_dim_t I = g->weights.c, kw = g->weights.w, kh = g->weights.h, O = g->weights.n / g->groups;
  const dnnl_dims_t dims = {O, I, kh, kw}, strides = {kh * kw * I, 1, kw * I, I};
  const dnnl_dims_t grouped = {g->groups, O, I, kh, kw},
                    group_strides = {O * kh * kw * I, kh * kw * I, 1, kw * I, I};
  const gboolean one = g->groups == 1;
  if (master)
    return ok(dnnl_memory_desc_create_with_strides(d, one ? 4 : 5, one ? dims : grouped, t,
                                                   one ? strides : group_strides),
              "weights", error);
  return ok(dnnl_memory_desc_create_with_tag(d, one ? 4 : 5, one ? dims : grouped, t, dnnl_format_tag_any),
            "weights", error);
}

/* What a primitive is described by; freed together. */
typedef struct {
  dnnl_memory_desc_t wide, deep, weights, hint_weights, master, bias;
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t hint, primitive;
} Description;

static void description_clear(Description *d) {
  dnnl_memory_desc_t *const all[] = {&d->wide, &d->deep, &d->weights, &d->hint_weights, &d->master, &d->bias};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (*all[i]) dnnl_memory_desc_destroy(*all[i]);
  if (d->attr) dnnl_primitive_attr_destroy(d->attr);
  if (d->hint) dnnl_primitive_desc_destroy(d->hint);
  if (d->primitive) dnnl_primitive_desc_destroy(d->primitive);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Description, description_clear)

static gboolean describe_parts(Description *d, const Geometry *g, TmDType type, GError **error) {
  const dnnl_dims_t outs = {g->deep.c};
  return pictures(&d->wide, g->wide, type, error) && pictures(&d->deep, g->deep, type, error) &&
         weights(&d->weights, g, g->op == TM_OP_CONV_DW ? dnnl_f32 : type_of(type), FALSE, error) &&
         weights(&d->hint_weights, g, type_of(type), FALSE, error) &&
         weights(&d->master, g, dnnl_f32, TRUE, error) &&
         ok(dnnl_memory_desc_create_with_tag(&d->bias, 1, outs, dnnl_f32, dnnl_a), "bias", error) &&
         ok(dnnl_primitive_attr_create(&d->attr), "attributes", error) &&
         ok(dnnl_primitive_attr_set_scratchpad_mode(d->attr, dnnl_scratchpad_mode_user), "attributes", error);
}

static gboolean describe(Description *d, CpuBackend *b, const Geometry *g, TmDType type, gboolean bias,
                         GError **error) {
  const dnnl_dims_t stride = {g->stride, g->stride}, dilation = {g->dilation - 1, g->dilation - 1},
                    pad = {g->pad, g->pad};
  const dnnl_alg_kind_t direct = dnnl_convolution_direct;
  const gboolean forward = g->op == TM_OP_CONV;
  if (!describe_parts(d, g, type, error)) return FALSE;
  const dnnl_status_t made = dnnl_convolution_forward_primitive_desc_create(
      forward ? &d->primitive : &d->hint, b->engine, dnnl_forward_training, direct, d->wide, d->hint_weights,
      forward && bias ? d->bias : NULL, d->deep, stride, dilation, pad, pad, d->attr);
  if (!ok(made, "convolution", error)) return FALSE;
  if (forward) return TRUE;
  const dnnl_status_t back =
      g->op == TM_OP_CONV_DW
          ? dnnl_convolution_backward_weights_primitive_desc_create(&d->primitive, b->engine, direct, d->wide,
                                                                    d->weights, NULL, d->deep, stride,
                                                                    dilation, pad, pad, d->hint, d->attr)
          : dnnl_convolution_backward_data_primitive_desc_create(&d->primitive, b->engine, direct, d->wide,
                                                                 d->weights, d->deep, stride, dilation, pad,
                                                                 pad, d->hint, d->attr);
  return ok(back, g->op == TM_OP_CONV_DW ? "weight gradient" : "transposed convolution", error);
}

static gboolean reorder(dnnl_primitive_t *p, CpuBackend *b, const_dnnl_memory_desc_t from,
                        const_dnnl_memory_desc_t to, GError **error) {
  dnnl_primitive_desc_t d;
  if (!ok(dnnl_reorder_primitive_desc_create(&d, from, b->engine, to, b->engine, NULL), "reorder", error))
    return FALSE;
  const gboolean made = ok(dnnl_primitive_create(p, d), "reorder", error);
  dnnl_primitive_desc_destroy(d);
  return made;
}

static gboolean memory(dnnl_memory_t *m, CpuBackend *b, const_dnnl_memory_desc_t d, void *data,
                       GError **error) {
  return ok(dnnl_memory_create(m, d, b->engine, data), "memory", error);
}

/* The primitive's own copy of the weights, or of their gradient, where its order is not the master's. */
static gboolean make_packed(CpuConv *v, const_dnnl_memory_desc_t inner, const_dnnl_memory_desc_t master,
                            void *data, GError **error) {
  if (!memory(&v->master, v->backend, master, data, error)) return FALSE;
  if (dnnl_memory_desc_equal(inner, master)) return memory(&v->weights, v->backend, master, data, error);
  v->packed_bytes = dnnl_memory_desc_get_size(inner);
  v->packed = tm_host_alloc(v->packed_bytes);
  if (!v->packed) return ok(dnnl_out_of_memory, "weights", error);
  if (!memory(&v->weights, v->backend, inner, v->packed, error)) return FALSE;
  return v->op == TM_OP_CONV_DW ? reorder(&v->unpack, v->backend, inner, master, error)
                                : reorder(&v->pack, v->backend, master, inner, error);
}

static gboolean make_onednn(CpuConv *v, const CpuCall *c, const Geometry *g, GError **error) {
  CpuBackend *b = v->backend;
  const gboolean dw = v->op == TM_OP_CONV_DW, bias = !dw && c->n_in == 3, forward = v->op == TM_OP_CONV;
  const TmView *wide = v->op == TM_OP_CONV_TRANSPOSE ? &c->out[0] : &c->in[0];
  const TmView *deep = forward ? &c->out[0] : dw ? &c->in[1] : &c->in[0];
  g_auto(Description) d = {0};
  if (!describe(&d, b, g, wide->dtype, bias, error) ||
      !ok(dnnl_primitive_create(&v->primitive, d.primitive), "primitive", error))
    return FALSE;
  const_dnnl_memory_desc_t inner =
      dnnl_primitive_desc_query_md(d.primitive, dw ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(d.primitive, dnnl_query_scratchpad_md, 0);
  v->scratch_bytes = dnnl_memory_desc_get_size(scratch);
  if (!memory(&v->wide, b, d.wide, wide->data, error) || !memory(&v->deep, b, d.deep, deep->data, error) ||
      !memory(&v->scratch, b, scratch, DNNL_MEMORY_NONE, error) ||
      !make_packed(v, inner, d.master, dw ? c->out[0].data : c->in[1].data, error))
    return FALSE;
  if (bias && !forward) v->late_bias = c->in[2].data;
  return !bias || !forward || memory(&v->bias, b, d.bias, c->in[2].data, error);
}

/* Sizes of the work space and the packed weights. */
static void measure_own(CpuConv *v, const Geometry *g, TmDType type) {
  const TmShape x = v->op == TM_OP_CONV_TRANSPOSE ? g->deep : g->wide;
  switch (v->way) {
  case BY_UP2_DW:
    v->team_work = tm_kernels_up2_work(g->deep, g->wide.c);
    break;
  case BY_CONV3_DW:
    v->team_work = tm_kernels_conv3_dw_work(g->wide, type, g->deep.c);
    break;
  case BY_WINOGRAD_DW:
    v->team_work = tm_kernels_winograd_dw_work(g->wide, g->deep.c);
    break;
  case BY_CONV3:
  case BY_CONV3_DX:
    v->team_work = tm_kernels_conv3_work(x, type);
    v->team_shared = v->with_stats ? tm_kernels_conv3_shared(x, type, g->deep.c) : 0;
    v->packed_bytes = tm_kernels_conv3_packed(g->deep.c, g->wide.c);
    break;
  case BY_WINOGRAD:
  case BY_WINOGRAD_DX:
    v->team_work = tm_kernels_winograd_work(x);
    v->team_shared = v->with_stats ? tm_kernels_winograd_shared(x, g->deep.c) : 0;
    v->packed_bytes = tm_kernels_winograd_packed(g->deep.c, g->wide.c);
    break;
  default:
    v->packed_bytes = tm_kernels_up2_packed(g->deep.c, g->wide.c);
    break;
  }
}

static gboolean make_own(CpuConv *v, const Geometry *g, TmDType type, GError **error) {
  measure_own(v, g, type);
  if (!v->packed_bytes) return TRUE;
  v->packed = tm_host_alloc(v->packed_bytes);
  return v->packed || ok(dnnl_out_of_memory, "weights", error);
}

CpuConv *tm_cpu_conv_new(CpuBackend *b, int op, const CpuCall *c, GError **error) {
  CpuConv *v = g_new0(CpuConv, 1);
  const Geometry g = geometry((int)c->node->op, c->node);
  v->backend = b;
  v->op = op == TM_FUSED_CONV_STATS ? TM_OP_CONV : op;
  v->with_stats = op == TM_FUSED_CONV_STATS;
  v->way = way_of(b, &g, c->in[0].dtype);
  if (v->way == BY_ONEDNN ? make_onednn(v, c, &g, error) : make_own(v, &g, c->in[0].dtype, error)) return v;
  tm_cpu_conv_free(v);
  return NULL;
}

void tm_cpu_conv_free(CpuConv *v) {
  if (!v) return;
  const dnnl_primitive_t primitives[] = {v->primitive, v->pack, v->unpack};
  const dnnl_memory_t memories[] = {v->wide, v->deep, v->weights, v->master, v->bias, v->scratch};
  for (guint i = 0; i < G_N_ELEMENTS(primitives); i++)
    if (primitives[i]) dnnl_primitive_destroy(primitives[i]);
  for (guint i = 0; i < G_N_ELEMENTS(memories); i++)
    if (memories[i]) dnnl_memory_destroy(memories[i]);
  tm_host_free(v->packed, v->packed_bytes);
  g_free(v);
}

gsize tm_cpu_conv_team_work(const CpuConv *v) {
  return v->team_work;
}
gsize tm_cpu_conv_scratch(const CpuConv *v) {
  return MAX(v->scratch_bytes, v->team_shared);
}

static gboolean run_reorder(CpuConv *v, dnnl_primitive_t p, dnnl_memory_t from, dnnl_memory_t to,
                            GError **error) {
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return ok(dnnl_primitive_execute(p, v->backend->stream, 2, args), "reorder", error);
}

gboolean tm_cpu_conv_pack(CpuConv *v, const CpuCall *c, GError **error) {
  if (v->pack) return run_reorder(v, v->pack, v->master, v->weights, error);
  if (!v->packed || v->op == TM_OP_CONV_DW) return TRUE;
  const TmShape w = c->in[1].shape;
  const TmDType type = c->in[0].dtype;
  const float *master = c->in[1].data;
  switch (v->way) {
  case BY_CONV3:
  case BY_CONV3_DX:
    c->k->conv3_pack(c->team, master, w.n, w.c, type, v->way == BY_CONV3_DX, v->packed);
    break;
  case BY_WINOGRAD:
  case BY_WINOGRAD_DX:
    c->k->winograd_pack(c->team, master, w.n, w.c, v->way == BY_WINOGRAD_DX, v->packed);
    break;
  default:
    c->k->up2_pack(c->team, master, w.n, w.c, type, v->way == BY_UP2_DX, v->packed);
    break;
  }
  return TRUE;
}

static gboolean run_onednn(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  dnnl_exec_arg_t args[MAX_ARGS] = {{DNNL_ARG_SRC, v->wide},
                                    {DNNL_ARG_DST, v->deep},
                                    {DNNL_ARG_WEIGHTS, v->weights},
                                    {DNNL_ARG_SCRATCHPAD, v->scratch}};
  if (v->op != TM_OP_CONV) args[1].arg = DNNL_ARG_DIFF_DST;
  if (v->op == TM_OP_CONV_TRANSPOSE) args[0].arg = DNNL_ARG_DIFF_SRC;
  if (v->op == TM_OP_CONV_DW) args[2].arg = DNNL_ARG_DIFF_WEIGHTS;
  if (v->bias) args[4] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, v->bias};
  if (!ok(dnnl_memory_set_data_handle(v->scratch, scratch), "scratchpad", error) ||
      !ok(dnnl_primitive_execute(v->primitive, v->backend->stream, v->bias ? 5 : 4, args), "run", error))
    return FALSE;
  if (v->unpack && !run_reorder(v, v->unpack, v->weights, v->master, error)) return FALSE;
  if (v->late_bias) c->k->bias(c->team, &c->out[0], v->late_bias, &c->out[0]);
  return TRUE;
}

gboolean tm_cpu_conv_run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  const float *bias = c->n_in == 3 ? c->in[2].data : NULL;
  float *stats = v->with_stats ? c->out[1].data : NULL;
  switch (v->way) {
  case BY_UP2:
    c->k->up2(c->team, &c->in[0], v->packed, bias, &c->out[0]);
    return TRUE;
  case BY_UP2_DX:
    c->k->up2_dx(c->team, &c->in[0], v->packed, bias, &c->out[0]);
    return TRUE;
  case BY_UP2_DW:
    c->k->up2_dw(c->team, &c->in[1], &c->in[0], c->out[0].data);
    return TRUE;
  case BY_CONV3:
  case BY_CONV3_DX:
    c->k->conv3(c->team, &c->in[0], v->packed, bias, &c->out[0], stats);
    return TRUE;
  case BY_CONV3_DW:
    c->k->conv3_dw(c->team, &c->in[0], &c->in[1], c->out[0].data);
    return TRUE;
  case BY_WINOGRAD:
  case BY_WINOGRAD_DX:
    c->k->winograd(c->team, &c->in[0], v->packed, &c->out[0], stats);
    return TRUE;
  case BY_WINOGRAD_DW:
    c->k->winograd_dw(c->team, &c->in[0], &c->in[1], c->out[0].data);
    return TRUE;
  default:
    return run_onednn(v, c, scratch, error);
  }
}
