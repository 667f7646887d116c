/* conv_shape.c: see the head of conv_shape.h. */
#include "engine/backend/cpu/conv_shape.h"

CpuConvShape tm_cpu_conv_shape(const TmNode *n) {
  const TmAttrs *a = &n->attrs;
  const int op = (int)n->op;
  CpuConvShape s = {.op = op,
                    .stride = MAX(a->stride, 1),
                    .pad = a->pad,
                    .dilation = MAX(a->dilation, 1),
                    .groups = MAX(a->groups, 1)};
  s.bias = op != TM_OP_CONV_DW && n->n_in == 3;
  s.wide = op == TM_OP_CONV_TRANSPOSE ? n->shape : n->in[0]->shape;
  s.deep = op == TM_OP_CONV ? n->shape : op == TM_OP_CONV_TRANSPOSE ? n->in[0]->shape : n->in[1]->shape;
  s.weights = op == TM_OP_CONV_DW ? n->shape : n->in[1]->shape;
  return s;
}

gboolean tm_cpu_conv_is_up2(const CpuConvShape *s) {
  return s->weights.h == 2 && s->weights.w == 2 && s->stride == 2 && s->pad == 0 && s->dilation == 1 &&
         s->groups == 1 && s->wide.h == 2 * s->deep.h && s->wide.w == 2 * s->deep.w;
}

gboolean tm_cpu_conv_is_3x3(const CpuConvShape *s) {
  return s->weights.h == 3 && s->weights.w == 3 && s->stride == 1 && s->pad == 1 && s->dilation == 1 &&
         s->groups == 1;
}

double tm_cpu_conv_flops(const CpuConvShape *s) {
  return 2.0 * (double)tm_shape_pixels(s->deep) * (double)tm_shape_count(s->weights);
}
