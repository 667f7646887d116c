/* conv_onednn.c: convolutions by oneDNN primitives: any kernel, stride, dilation and groups. It takes dense
 * activations only: a channel slice makes it fall back to its slow reference. */
#include "engine/backend/cpu/conv_way.h"

#include "engine/core/tensor.h"

#include <glib/gi18n.h>

enum { MAX_ARGS = 5 };

/* CpuConv.made. */
typedef struct {
  dnnl_primitive_t primitive, pack,
      unpack; /* pack: master to the primitive's layout; unpack: its weight gradient to O,kH,kW,I */
  dnnl_memory_t wide, deep, weights, master, bias, scratch;
  void *inner; /* the weights, or their gradient, in the primitive's layout */
  gsize inner_bytes;
  const float *late_bias; /* added after a primitive that takes none */
} Made;

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)s;
  return type == TM_F32 || b->bf16_convolutions;
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
static gboolean weights(dnnl_memory_desc_t *d, const CpuConvShape *g, dnnl_data_type_t t, gboolean master,
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

static gboolean describe_attributes(Description *d, gboolean relu, GError **error) {
  dnnl_post_ops_t after = NULL;
  if (!ok(dnnl_primitive_attr_create(&d->attr), "attributes", error) ||
      !ok(dnnl_primitive_attr_set_scratchpad_mode(d->attr, dnnl_scratchpad_mode_user), "attributes", error))
    return FALSE;
  if (!relu) return TRUE;
  const gboolean made = ok(dnnl_post_ops_create(&after), "ReLU", error) &&
                        ok(dnnl_post_ops_append_eltwise(after, dnnl_eltwise_relu, 0, 0), "ReLU", error) &&
                        ok(dnnl_primitive_attr_set_post_ops(d->attr, after), "ReLU", error);
  if (after) dnnl_post_ops_destroy(after);
  return made;
}

static gboolean describe_parts(Description *d, const CpuConvShape *g, TmDType type, gboolean relu,
                               GError **error) {
  const dnnl_dims_t outs = {g->deep.c};
  return pictures(&d->wide, g->wide, type, error) && pictures(&d->deep, g->deep, type, error) &&
         weights(&d->weights, g, g->op == TM_OP_CONV_DW ? dnnl_f32 : type_of(type), FALSE, error) &&
         weights(&d->hint_weights, g, type_of(type), FALSE, error) &&
         weights(&d->master, g, dnnl_f32, TRUE, error) &&
         ok(dnnl_memory_desc_create_with_tag(&d->bias, 1, outs, dnnl_f32, dnnl_a), "bias", error) &&
         describe_attributes(d, relu, error);
}

static gboolean describe(Description *d, const CpuConv *v, GError **error) {
  CpuBackend *b = v->backend;
  const CpuConvShape *g = &v->shape;
  const dnnl_dims_t stride = {g->stride, g->stride}, dilation = {g->dilation - 1, g->dilation - 1},
                    pad = {g->pad, g->pad};
  const dnnl_alg_kind_t direct = dnnl_convolution_direct;
  const gboolean forward = g->op == TM_OP_CONV;
  if (!describe_parts(d, g, v->type, v->relu, error)) return FALSE;
  const dnnl_status_t made = dnnl_convolution_forward_primitive_desc_create(
      forward ? &d->primitive : &d->hint, b->engine, dnnl_forward_training, direct, d->wide, d->hint_weights,
      forward && v->bias ? d->bias : NULL, d->deep, stride, dilation, pad, pad, d->attr);
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
static gboolean make_inner(CpuConv *v, Made *m, const_dnnl_memory_desc_t inner,
                           const_dnnl_memory_desc_t master, void *data, GError **error) {
  CpuBackend *b = v->backend;
  if (!memory(&m->master, b, master, data, error)) return FALSE;
  if (!v->folded && dnnl_memory_desc_equal(inner, master)) return memory(&m->weights, b, master, data, error);
  m->inner_bytes = v->held = dnnl_memory_desc_get_size(inner);
  m->inner = tm_host_alloc(m->inner_bytes);
  if (!m->inner) return ok(dnnl_out_of_memory, "weights", error);
  if (!memory(&m->weights, b, inner, m->inner, error)) return FALSE;
  return v->shape.op == TM_OP_CONV_DW ? reorder(&m->unpack, b, inner, master, error)
                                      : reorder(&m->pack, b, master, inner, error);
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  CpuBackend *b = v->backend;
  Made *m = v->made = g_new0(Made, 1);
  const int op = v->shape.op;
  const gboolean dw = op == TM_OP_CONV_DW, forward = op == TM_OP_CONV;
  const TmView *wide = op == TM_OP_CONV_TRANSPOSE ? &c->out[0] : &c->in[0];
  const TmView *deep = forward ? &c->out[0] : dw ? &c->in[1] : &c->in[0];
  g_auto(Description) d = {0};
  if (!describe(&d, v, error) || !ok(dnnl_primitive_create(&m->primitive, d.primitive), "primitive", error))
    return FALSE;
  const_dnnl_memory_desc_t inner =
      dnnl_primitive_desc_query_md(d.primitive, dw ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(d.primitive, dnnl_query_scratchpad_md, 0);
  v->scratch = dnnl_memory_desc_get_size(scratch);
  if (!memory(&m->wide, b, d.wide, wide->data, error) || !memory(&m->deep, b, d.deep, deep->data, error) ||
      !memory(&m->scratch, b, scratch, DNNL_MEMORY_NONE, error) ||
      !make_inner(v, m, inner, d.master, dw ? c->out[0].data : c->in[1].data, error))
    return FALSE;
  if (!forward) m->late_bias = v->bias;
  return !v->bias || !forward || memory(&m->bias, b, d.bias, (void *)v->bias, error);
}

static void clear(CpuConv *v) {
  Made *m = v->made;
  if (!m) return;
  const dnnl_primitive_t primitives[] = {m->primitive, m->pack, m->unpack};
  const dnnl_memory_t memories[] = {m->wide, m->deep, m->weights, m->master, m->bias, m->scratch};
  for (guint i = 0; i < G_N_ELEMENTS(primitives); i++)
    if (primitives[i]) dnnl_primitive_destroy(primitives[i]);
  for (guint i = 0; i < G_N_ELEMENTS(memories); i++)
    if (memories[i]) dnnl_memory_destroy(memories[i]);
  tm_host_free(m->inner, m->inner_bytes);
  g_free(m);
}

static gboolean run_reorder(CpuConv *v, dnnl_primitive_t p, dnnl_memory_t from, dnnl_memory_t to,
                            GError **error) {
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return ok(dnnl_primitive_execute(p, v->backend->stream, 2, args), "reorder", error);
}

static gboolean pack(CpuConv *v, const CpuCall *c, const float *w, GError **error) {
  (void)c;
  const Made *m = v->made;
  return !m->pack || (ok(dnnl_memory_set_data_handle(m->master, (void *)w), "weights", error) &&
                      run_reorder(v, m->pack, m->master, m->weights, error));
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  const Made *m = v->made;
  const int op = v->shape.op;
  dnnl_exec_arg_t args[MAX_ARGS] = {{DNNL_ARG_SRC, m->wide},
                                    {DNNL_ARG_DST, m->deep},
                                    {DNNL_ARG_WEIGHTS, m->weights},
                                    {DNNL_ARG_SCRATCHPAD, m->scratch}};
  if (op != TM_OP_CONV) args[1].arg = DNNL_ARG_DIFF_DST;
  if (op == TM_OP_CONV_TRANSPOSE) args[0].arg = DNNL_ARG_DIFF_SRC;
  if (op == TM_OP_CONV_DW) args[2].arg = DNNL_ARG_DIFF_WEIGHTS;
  if (m->bias) args[4] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, m->bias};
  if (!ok(dnnl_memory_set_data_handle(m->scratch, scratch), "scratchpad", error) ||
      !ok(dnnl_primitive_execute(m->primitive, v->backend->stream, m->bias ? 5 : 4, args), "run", error))
    return FALSE;
  if (m->unpack && !run_reorder(v, m->unpack, m->weights, m->master, error)) return FALSE;
  if (m->late_bias) c->k->bias(c->team, &c->out[0], m->late_bias, &c->out[0]);
  return TRUE;
}

const CpuConvWay tm_cpu_conv_onednn = {.name = "onednn",
                                       .folds = TRUE,
                                       .takes = takes,
                                       .prepare = prepare,
                                       .clear = clear,
                                       .pack = pack,
                                       .run = run};
