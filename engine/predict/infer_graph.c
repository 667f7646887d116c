#include "engine/predict/infer_graph.h"

void tm_infer_net(const TmSettings *s, guint classes, TmUNet *out) {
  *out = (TmUNet){.classes = (int)classes,
                  .base = s->base,
                  .depth = s->depth,
                  .bilinear = g_str_equal(s->upsampling, "bilinear"),
                  .batch_norm = s->batch_norm,
                  .dropout = (float)s->dropout,
                  .bn_momentum = 0.1f};
}

TmNode *tm_infer_input(TmGraph *g, TmShape picture, TmNode **picture_in) {
  TmNode *x = tm_graph_source(g, TM_OP_INPUT, TM_KIND_PIXEL, picture, "picture");
  TmNode *mean = tm_graph_source(g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 3, 1, 1), "input.mean");
  TmNode *std = tm_graph_source(g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 3, 1, 1), "input.std");
  if (picture_in) *picture_in = x;
  return tm_node(g, TM_OP_NORMALIZE, NULL, NULL, x, mean, std);
}

TmNode *tm_infer_graph(TmGraph *g, const TmUNet *net, TmShape picture, TmNode **picture_in, TmNode **logits) {
  TmNode *y = tm_unet(g, tm_infer_input(g, picture, picture_in), net, FALSE, NULL, NULL);
  if (logits) *logits = y;
  return tm_node(g, TM_OP_ARGMAX, "labels", NULL, y);
}
