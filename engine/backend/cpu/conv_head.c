/* conv_head.c: the last 1x1 convolution and the class of the largest result in one pass: the pattern
 * CONV_ARGMAX, whose operands are x, w and perhaps a bias, and which may cut a border off. */
#include "engine/backend/cpu/conv_way.h"

static gboolean takes(const CpuBackend *b, const CpuConvShape *s, TmDType type) {
  (void)b;
  (void)type;
  return s->weights.h == 1 && s->weights.w == 1 && s->stride == 1 && s->pad == 0 && s->groups == 1;
}

static gboolean prepare(CpuConv *v, const CpuCall *c, GError **error) {
  (void)error;
  const TmShape w = v->shape.weights;
  v->team_work = tm_kernels_head_work(c->out[0].shape.w, w.n);
  v->packed_bytes = tm_kernels_head_packed(w.n, w.c);
  return TRUE;
}

static gboolean pack(CpuConv *v, const CpuCall *c, const float *w, GError **error) {
  (void)error;
  c->k->head_pack(c->team, w, v->shape.weights.n, v->shape.weights.c, v->type, v->packed);
  return TRUE;
}

static gboolean run(CpuConv *v, const CpuCall *c, void *scratch, GError **error) {
  (void)scratch;
  (void)error;
  const TmNode *scores = c->made[0]->in[0];
  const gboolean cut = scores->op == TM_OP_CROP;
  c->k->head(c->team, &c->in[0], v->packed, v->bias, v->shape.weights.n, cut ? scores->attrs.top : 0,
             cut ? scores->attrs.left : 0, &c->out[0]);
  return TRUE;
}

const CpuConvWay tm_cpu_conv_head = {
    .name = "head", .slices = TRUE, .takes = takes, .prepare = prepare, .pack = pack, .run = run};
