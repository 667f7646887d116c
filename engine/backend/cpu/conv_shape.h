/* conv_shape.h: a convolution, the transposed convolution that is its adjoint, and the gradient of both by
 * their weights are one geometry seen from three sides: pictures that a kernel slides over ("wide", w.c *
 * groups channels) and pictures with one value a position ("deep", w.n channels). */
#pragma once

#include "engine/graph/node.h"

typedef struct {
  int op; /* TM_OP_CONV: wide to deep; TM_OP_CONV_TRANSPOSE: deep to wide; TM_OP_CONV_DW: both to the weights
           */
  TmShape wide, deep, weights; /* weights: O, I / groups, kH, kW of the convolution */
  int stride, pad, dilation, groups;
  gboolean bias;
} CpuConvShape;

/** Of a node whose op is one of the three. */
CpuConvShape tm_cpu_conv_shape(const TmNode *n);
/** Without borders: the transposed convolution that doubles a picture, its adjoint, its weights' gradient. */
gboolean tm_cpu_conv_is_up2(const CpuConvShape *s);
/** 3x3, stride 1, padding 1, one group, no dilation. */
gboolean tm_cpu_conv_is_3x3(const CpuConvShape *s);
/** 2 per multiplication and addition of the direct algorithm. */
double tm_cpu_conv_flops(const CpuConvShape *s);
