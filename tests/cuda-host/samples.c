#include "tests/cuda-host/samples.h"

#include "engine/core/random.h"

static const Sampled rows[] = {
    {TM_OP_CHANNEL_SUM, "x", 0},
    {TM_OP_BN_STATS, "x", 0},
    {TM_OP_BN_APPLY, "xvcc", 0},
    {TM_OP_BN_REDUCE, "xxv", 0},
    {TM_OP_BN_DX, "xxvcr", 0},
    {TM_OP_RELU, "x", 0},
    {TM_OP_RELU_DX, "xx", 0},
    {TM_OP_SIGMOID, "x", 0},
    {TM_OP_SIGMOID_DX, "xx", 0},
    {TM_OP_ADD, "xx", 0},
    {TM_OP_MUL, "xx", 0},
    {TM_OP_SCALE, "x", 0},
    {TM_OP_DROPOUT, "xt", 0},
    {TM_OP_NORMALIZE, "pcw", 0},
    {TM_OP_MAX_POOL, "u", 0},
    {TM_OP_MAX_POOL_DX, "xDo", 0},
    {TM_OP_UPSAMPLE_NEAREST, "x", 0},
    {TM_OP_UPSAMPLE_NEAREST_DX, "u", 0},
    {TM_OP_UPSAMPLE_BILINEAR, "x", 0},
    {TM_OP_UPSAMPLE_BILINEAR_DX, "u", 0},
    {TM_OP_CONCAT, "xxx", 0},
    {TM_OP_SLICE, "x", 0},
    {TM_OP_SLICE_DX, "x", 0},
    {TM_OP_PAD, "x", 0},
    {TM_OP_PAD_DX, "b", 0},
    {TM_OP_CROP, "b", 0},
    {TM_OP_CROP_DX, "x", 0},
    {TM_OP_SOFTMAX, "x", 0},
    {TM_OP_CROSS_ENTROPY, "xlw", 0},
    {TM_OP_CROSS_ENTROPY_DX, "sxlw", 1},
    {TM_OP_DICE, "xl", 0},
    {TM_OP_DICE_DX, "sxl", 1},
    {TM_OP_FOCAL, "xlw", 0},
    {TM_OP_FOCAL_DX, "sxlw", 1},
    {TM_OP_ARGMAX, "x", 0},
    {TM_OP_CONFUSION, "xl", 0},
};

const Sampled *sampled_ops(guint *n) {
  *n = G_N_ELEMENTS(rows);
  return rows;
}

static TmOpCaseInput input(char letter, TmShape x, const TmAttrs *a) {
  const int f = a->factor;
  const TmShape vector = TM_SHAPE(1, x.c, 1, 1), one = TM_SHAPE(1, 1, 1, 1);
  switch (letter) {
  case 'D': /* what pools to x, with a rest */
    return (TmOpCaseInput){TM_SHAPE(x.n, x.c, x.h * f + (f > 2), x.w * f + f - 1), TM_KIND_ACT,
                           TM_FILL_DISTINCT};
  case 'u':
    return (TmOpCaseInput){TM_SHAPE(x.n, x.c, x.h * f, x.w * f), TM_KIND_ACT, TM_FILL_NORMAL};
  case 'b':
    return (TmOpCaseInput){TM_SHAPE(x.n, x.c, x.h + a->top + a->bottom, x.w + a->left + a->right),
                           TM_KIND_ACT, TM_FILL_NORMAL};
  case 'l':
    return (TmOpCaseInput){TM_SHAPE(x.n, 1, x.h, x.w), TM_KIND_LABEL, TM_FILL_LABEL};
  case 'w':
    return (TmOpCaseInput){vector, TM_KIND_STATE, TM_FILL_POSITIVE};
  case 'p':
    return (TmOpCaseInput){x, TM_KIND_PIXEL, TM_FILL_PIXEL};
  case 'c':
    return (TmOpCaseInput){vector, TM_KIND_PARAM, TM_FILL_NORMAL};
  case 'v':
    return (TmOpCaseInput){one, TM_KIND_STAT, TM_FILL_MADE_STATS};
  case 'o':
    return (TmOpCaseInput){one, TM_KIND_ACT, TM_FILL_MADE_POOL};
  case 'r':
    return (TmOpCaseInput){TM_SHAPE(1, 2 * x.c, 1, 1), TM_KIND_STAT, TM_FILL_NORMAL};
  case 's':
    return (TmOpCaseInput){one, TM_KIND_STAT, TM_FILL_NORMAL};
  case 't':
    return (TmOpCaseInput){one, TM_KIND_COUNT, TM_FILL_TICK};
  default:
    return (TmOpCaseInput){x, TM_KIND_ACT, TM_FILL_NORMAL};
  }
}

/* Small ones often, since they are where kernels go wrong; every third has a multiple of 8 channels. */
static TmShape draw_shape(TmRandom *r, guint k) {
  const int most = k % 3 == 0 ? 40 : 9;
  TmShape x = TM_SHAPE(1 + (int)tm_random_int(r, 2), 1 + (int)tm_random_int(r, 70),
                       1 + (int)tm_random_int(r, 40), 1 + (int)tm_random_int(r, (guint)most));
  if (k % 3 == 1) x.c = 8 * (1 + (int)tm_random_int(r, 8));
  while (tm_shape_count(x) > 12000) x.h = (x.h + 1) / 2, x.w = (x.w + 1) / 2;
  return x;
}

static TmAttrs draw_attrs(TmRandom *r, TmOp op, TmShape x) {
  TmAttrs a = {.factor = 1 + (int)tm_random_int(r, 3), .key = 5};
  const gboolean bordered = op == TM_OP_PAD || op == TM_OP_PAD_DX || op == TM_OP_CROP || op == TM_OP_CROP_DX;
  int *border[] = {&a.top, &a.left, &a.bottom, &a.right};
  for (guint i = 0; i < 4 && bordered; i++) *border[i] = (int)tm_random_int(r, 7);
  if (op == TM_OP_PAD || op == TM_OP_PAD_DX) a.pad_mode = (TmPadMode)tm_random_int(r, 2);
  a.from = (int)tm_random_int(r, (guint)x.c);
  a.count = op == TM_OP_SLICE_DX ? x.c + a.from + (int)tm_random_int(r, 9)
                                 : 1 + (int)tm_random_int(r, (guint)(x.c - a.from));
  const gboolean bn = op == TM_OP_BN_APPLY || op == TM_OP_BN_REDUCE || op == TM_OP_BN_DX;
  a.value = bn ? 1e-3f : op == TM_OP_DROPOUT ? 0.3f : 1.5f;
  return a;
}

void sample_case(const Sampled *s, guint k, TmOpCase *c) {
  TmRandom r;
  tm_random_seed(&r, tm_random_hash((guint64)s->op, k, 3));
  const TmShape x = draw_shape(&r, k);
  *c = (TmOpCase){.name = tm_op_info(s->op)->name, .op = s->op, .classes_of = s->classes_of};
  c->attrs = draw_attrs(&r, s->op, x);
  for (; s->inputs[c->n_in]; c->n_in++) c->in[c->n_in] = input(s->inputs[c->n_in], x, &c->attrs);
}
