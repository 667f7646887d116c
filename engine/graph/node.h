/* node.h: one value of the graph and the op that makes it. Plain data; graph.h makes and owns it. */
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/label.h"
#include "engine/core/shape.h"

typedef enum {
#define TM_OP(suffix, symbol) TM_OP_##suffix,
#include "engine/graph/ops.def"
#undef TM_OP
  TM_N_OPS
} TmOp;

/* How a value is stored. */
typedef enum {
  TM_KIND_ACT,   /* activations and their gradients: the program's precision (f32, bf16, f16) */
  TM_KIND_STAT,  /* statistics, losses, gradients of parameters: always f32 */
  TM_KIND_LABEL, /* class indices: u8; 255 and everything >= C is void */
  TM_KIND_PIXEL, /* u8: pictures, and the activations of quantised nets */
  TM_KIND_COUNT, /* pixel counts, step number: i32 */
  TM_KIND_PARAM, /* f32 master in the parameter set */
  TM_KIND_STATE, /* f32 in the parameter set, not trained */
} TmKind;

typedef enum { TM_PAD_ZERO, TM_PAD_REFLECT } TmPadMode; /* reflect: without repeating the edge; clamped where too small */

enum { TM_MAX_INPUTS = 8 };

typedef struct {
  int stride, pad, dilation, groups;   /* convolutions; 0 reads as 1 for stride, dilation, groups */
  int kernel_h, kernel_w;              /* conv_dw */
  int out_h, out_w;                    /* conv_transpose, *_dx: the size to give, where the inputs leave a choice */
  int factor;                          /* pool and upsampling */
  int from, count;                     /* slice: channels; bn_running: count = elements a channel */
  int top, left, bottom, right;        /* pad, crop */
  TmPadMode pad_mode;
  float value;                         /* eps, p, gamma, scale, momentum: see ops.def */
  guint64 key;                         /* dropout: what makes its mask differ from the others' */
} TmAttrs;

typedef struct _TmGraph TmGraph;
typedef struct _TmNode TmNode;

struct _TmNode {
  TmOp op;
  guint id;         /* index in the graph; inputs have smaller ids */
  const char *name; /* unique in the graph, or NULL; the graph's */
  guint n_in;
  TmNode *in[TM_MAX_INPUTS];
  TmAttrs attrs;
  TmShape shape;
  TmKind kind;
};
