#include "engine/nets/unet.h"

#include <stdio.h>

typedef struct {
  TmGraph *g;
  const TmUNet *net;
  gboolean training;
  TmNode *tick;
  GPtrArray *effects;
  guint64 n_dropouts;
} Build;

/* A parameter called <layer>.<part>: drawn by @fan_in when that is > 0, else filled with @fill. */
static TmNode *parameter(Build *b, TmOp op, const char *layer, const char *part, TmShape shape, int fan_in, float fill) {
  char name[64];
  snprintf(name, sizeof name, "%s.%s", layer, part);
  TmNode *n = tm_graph_source(b->g, op, op == TM_OP_PARAM ? TM_KIND_PARAM : TM_KIND_STATE, shape, name);
  n->attrs.count = fan_in;
  n->attrs.value = fill;
  return n;
}

/* weights: (O, I, k, k) for a convolution, (I, O, k, k) for a transposed one; PyTorch's fan-in is the second axis times k*k in both. */
static TmNode *convolution(Build *b, TmOp op, TmNode *x, const char *layer, TmShape weights, int stride, int pad, gboolean bias) {
  const int fan_in = weights.c * weights.h * weights.w, out = op == TM_OP_CONV ? weights.n : weights.c;
  const TmAttrs attrs = {.stride = stride, .pad = pad};
  TmNode *w = parameter(b, TM_OP_PARAM, layer, "weight", weights, fan_in, 0);
  if (!bias) return tm_node(b->g, op, layer, &attrs, x, w);
  TmNode *bias_node = parameter(b, TM_OP_PARAM, layer, "bias", TM_SHAPE(1, out, 1, 1), fan_in, 0);
  return tm_node(b->g, op, layer, &attrs, x, w, bias_node);
}

static TmNode *batch_norm(Build *b, TmNode *x, const char *layer) {
  const int c = x->shape.c;
  const TmShape vector = TM_SHAPE(1, c, 1, 1);
  const TmAttrs eps = {.value = 1e-5f};
  TmNode *gamma = parameter(b, TM_OP_PARAM, layer, "weight", vector, 0, 1);
  TmNode *beta = parameter(b, TM_OP_PARAM, layer, "bias", vector, 0, 0);
  TmNode *mean = parameter(b, TM_OP_STATE, layer, "running_mean", vector, 0, 0);
  TmNode *var = parameter(b, TM_OP_STATE, layer, "running_var", vector, 0, 1);
  if (!b->training) return tm_node(b->g, TM_OP_BN_INFER, layer, &eps, x, mean, var, gamma, beta);
  TmNode *stats = tm_node(b->g, TM_OP_BN_STATS, NULL, NULL, x);
  const TmAttrs running = {.value = b->net->bn_momentum, .count = (int)tm_shape_pixels(x->shape)};
  g_ptr_array_add(b->effects, tm_node(b->g, TM_OP_BN_RUNNING, NULL, &running, stats, mean, var));
  return tm_node(b->g, TM_OP_BN_APPLY, layer, &eps, x, stats, gamma, beta);
}

/* Convolution 3x3, batch norm, ReLU, twice: <block>.0 .1 .2 and .3 .4 .5. */
static TmNode *double_convolution(Build *b, TmNode *x, const char *block, int channels) {
  for (int i = 0; i < 2; i++) {
    char layer[48];
    snprintf(layer, sizeof layer, "%s.%d", block, 3 * i);
    x = convolution(b, TM_OP_CONV, x, layer, TM_SHAPE(channels, x->shape.c, 3, 3), 1, 1, !b->net->batch_norm);
    if (b->net->batch_norm) {
      snprintf(layer, sizeof layer, "%s.%d", block, 3 * i + 1);
      x = batch_norm(b, x, layer);
    }
    snprintf(layer, sizeof layer, "%s.%d", block, 3 * i + 2);
    x = tm_node(b->g, TM_OP_RELU, layer, NULL, x);
  }
  return x;
}

static TmNode *up(Build *b, TmNode *x, int level, int channels) {
  char layer[32];
  snprintf(layer, sizeof layer, "up.%d", level);
  if (!b->net->bilinear) return convolution(b, TM_OP_CONV_TRANSPOSE, x, layer, TM_SHAPE(x->shape.c, channels, 2, 2), 2, 0, TRUE);
  x = convolution(b, TM_OP_CONV, x, layer, TM_SHAPE(channels, x->shape.c, 1, 1), 1, 0, TRUE); /* before: a quarter of the work */
  return tm_node(b->g, TM_OP_UPSAMPLE_BILINEAR, NULL, &(TmAttrs){.factor = 2}, x);
}

static TmNode *dropout(Build *b, TmNode *x) {
  if (!b->training || b->net->dropout <= 0) return x;
  const TmAttrs attrs = {.value = b->net->dropout, .key = ++b->n_dropouts};
  return tm_node(b->g, TM_OP_DROPOUT, NULL, &attrs, x, b->tick);
}

/* How much to add so that the size is a multiple of @unit, half on each side. */
static TmAttrs padding(TmShape s, int unit) {
  const int h = (unit - s.h % unit) % unit, w = (unit - s.w % unit) % unit;
  return (TmAttrs){.top = h / 2, .bottom = h - h / 2, .left = w / 2, .right = w - w / 2, .pad_mode = TM_PAD_REFLECT};
}

TmNode *tm_unet(TmGraph *g, TmNode *x, const TmUNet *net, gboolean training, TmNode *tick, GPtrArray *effects) {
  Build b = {.g = g, .net = net, .training = training, .tick = tick, .effects = effects};
  const TmAttrs pad = padding(x->shape, 1 << net->depth);
  const gboolean padded = pad.top + pad.bottom + pad.left + pad.right > 0;
  TmNode *skips[8];
  char block[24];
  if (padded) x = tm_node(g, TM_OP_PAD, NULL, &pad, x);
  for (int k = 0; k <= net->depth; k++) {
    snprintf(block, sizeof block, "enc.%d", k);
    x = double_convolution(&b, x, block, net->base << k);
    if (k == net->depth) break;
    skips[k] = x;
    x = tm_node(g, TM_OP_MAX_POOL, NULL, &(TmAttrs){.factor = 2}, x);
  }
  x = dropout(&b, x);
  for (int k = net->depth - 1; k >= 0; k--) {
    TmNode *u = up(&b, x, k, net->base << k);
    snprintf(block, sizeof block, "dec.%d", k);
    x = double_convolution(&b, tm_node(g, TM_OP_CONCAT, NULL, NULL, skips[k], u), block, net->base << k);
  }
  x = dropout(&b, x);
  x = convolution(&b, TM_OP_CONV, x, "head", TM_SHAPE(net->classes, net->base, 1, 1), 1, 0, TRUE);
  if (padded) x = tm_node(g, TM_OP_CROP, NULL, &pad, x);
  return x;
}
