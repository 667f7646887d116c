/* conv_direct.c: 3x3 convolutions by own kernels, without rearranging more than a few rows. Measured on Zen
 * 4, one core, against the processor's peak: forward and adjoint alike with oneDNN 3.2 (0.93 in bf16, 0.95 in
 * f32), weights 0.84 against 0.77 in bf16 and 0.91 against 0.76 in f32; and the statistics come with it. */
#include "engine/backend/cpu/conv_way.h"

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)b;
  (void)type;
  return tm_cpu_conv_is_3x3(s);
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  (void)c;
  (void)error;
  const CpuConvShape *s = &v->shape;
  if (s->op == TM_OP_CONV_DW) {
    v->team_work = tm_kernels_conv3_dw_work(s->wide, v->type, s->deep.c);
    return TRUE;
  }
  const TmShape x = s->op == TM_OP_CONV_TRANSPOSE ? s->deep : s->wide;
  v->team_work = tm_kernels_conv3_work(x, v->type);
  v->scratch = v->with_stats ? tm_kernels_conv3_shared(x, v->type, s->deep.c) : 0;
  v->packed_bytes = tm_kernels_conv3_packed(s->deep.c, s->wide.c);
  return TRUE;
}

static gboolean pack(CpuConv *v, const CpuCall *c, const float *w, GError **error) {
  (void)error;
  const TmShape s = v->shape.weights;
  c->k->conv3_pack(c->team, w, s.n, s.c, v->type, v->shape.op == TM_OP_CONV_TRANSPOSE, v->packed);
  return TRUE;
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  (void)scratch;
  (void)error;
  if (v->shape.op == TM_OP_CONV_DW)
    c->k->conv3_dw(c->team, &c->in[0], &c->in[1], c->out[0].data);
  else
    c->k->conv3(c->team, &c->in[0], v->packed, v->bias, v->relu, &c->out[0],
                v->with_stats ? c->out[1].data : NULL);
  return TRUE;
}

const CpuConvWay tm_cpu_conv_direct = {.name = "direct",
                                       .slices = TRUE,
                                       .stats = TRUE,
                                       .folds = TRUE,
                                       .takes = takes,
                                       .prepare = prepare,
                                       .pack = pack,
                                       .run = run};
