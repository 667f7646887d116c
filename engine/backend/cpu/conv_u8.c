/* conv_u8.c: the convolutions of quantised nets, by own kernels whatever the processor. */
#include "engine/backend/cpu/conv_way.h"

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)b;
  (void)s;
  (void)type;
  return TRUE; /* the ops' shape rules allow nothing else */
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  (void)error;
  const TmShape w = v->shape.weights;
  const gboolean up = v->shape.op == TM_OP_CONV_TRANSPOSE_U8;
  v->packed_bytes = tm_kernels_conv8_packed(up ? w.c : w.n, up ? w.n : w.c, w.h * w.w);
  if (v->shape.op == TM_OP_WINOGRAD_U8) v->team_work = tm_kernels_winograd8_work(c->in[0].shape);
  if (v->shape.op == TM_OP_CONV_U8) v->team_work = tm_kernels_conv8_work(c->in[0].shape, w.h);
  if (v->shape.op == TM_OP_ARGMAX_U8) v->team_work = tm_kernels_head_work(c->out[0].shape.w, w.n);
  return TRUE;
}

static gboolean pack(CpuConv *v, const CpuCall *c, const float *weights, GError **error) {
  (void)error;
  const TmShape w = v->shape.weights;
  if (v->shape.op == TM_OP_CONV_TRANSPOSE_U8)
    c->k->up2_u8_pack(c->team, weights, w.n, w.c, v->packed);
  else
    c->k->conv_u8_pack(c->team, weights, v->shape.op == TM_OP_ARGMAX_U8 ? NULL : c->in[4].data, w.n, w.c, w.h,
                       v->packed);
  return TRUE;
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  (void)scratch;
  (void)error;
  const float *scale = c->in[2].data, *offset = c->in[3].data;
  const TmAttrs *a = &c->node->attrs;
  switch (v->shape.op) {
  case TM_OP_CONV_U8:
    c->k->conv_u8(c->team, &c->in[0], v->packed, scale, offset, v->shape.weights.h, &c->out[0]);
    break;
  case TM_OP_WINOGRAD_U8:
    c->k->winograd_u8(c->team, &c->in[0], v->packed, scale, offset, &c->out[0]);
    break;
  case TM_OP_CONV_TRANSPOSE_U8:
    c->k->up2_u8(c->team, &c->in[0], v->packed, scale, offset, &c->out[0]);
    break;
  default:
    c->k->argmax_u8(c->team, &c->in[0], v->packed, scale, offset, v->shape.weights.n, a->top, a->left,
                    &c->out[0]);
    break;
  }
  return TRUE;
}

const CpuConvWay tm_cpu_conv_u8 = {
    .name = "u8", .slices = TRUE, .takes = takes, .prepare = prepare, .pack = pack, .run = run};
