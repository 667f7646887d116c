/* conv_up2.c: the 2x2 transposed convolution that doubles a picture, by own kernels: its result is half of a
 * concat, a channel slice, for which oneDNN falls back to its slow reference. */
#include "engine/backend/cpu/conv_way.h"

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)b;
  (void)type;
  return tm_cpu_conv_is_up2(s);
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  (void)c;
  (void)error;
  const CpuConvShape *s = &v->shape;
  if (s->op == TM_OP_CONV_DW)
    v->team_work = tm_kernels_up2_work(s->deep, s->wide.c);
  else
    v->packed_bytes = tm_kernels_up2_packed(s->deep.c, s->wide.c);
  return TRUE;
}

static gboolean pack(CpuConv *v, const CpuCall *c, const float *w, GError **error) {
  (void)error;
  const TmShape s = v->shape.weights;
  c->k->up2_pack(c->team, w, s.n, s.c, v->type, v->shape.op == TM_OP_CONV, v->packed);
  return TRUE;
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  (void)scratch;
  (void)error;
  if (v->shape.op == TM_OP_CONV_DW)
    c->k->up2_dw(c->team, &c->in[1], &c->in[0], c->out[0].data);
  else if (v->shape.op == TM_OP_CONV)
    c->k->up2_dx(c->team, &c->in[0], v->packed, v->bias, &c->out[0]);
  else
    c->k->up2(c->team, &c->in[0], v->packed, v->bias, &c->out[0]);
  return TRUE;
}

const CpuConvWay tm_cpu_conv_up2 = {
    .name = "up2", .slices = TRUE, .takes = takes, .prepare = prepare, .pack = pack, .run = run};
