/* infer_graph.h: how a trained net is asked: picture in, class indices out. One assembly for prediction,
 * validation and the probe picture, so that what is judged while training is what is used afterwards. Pure;
 * any one thread. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/nets/unet.h"
#include "engine/train/settings.h"

/** The net @s describes, with @classes outputs. */
void tm_infer_net(const TmSettings *s, guint classes, TmUNet *out);

/** Adds to @g: PIXEL input "picture" of shape @picture (N,3,H,W) -> normalize with the states "input.mean"
 * and "input.std" (1,3,1,1) -> tm_unet() in inference -> argmax. Returns the labels, LABEL (N,1,H,W); the
 * input and the logits through @picture_in and @logits (each may be NULL). */
TmNode *tm_infer_graph(TmGraph *g, const TmUNet *net, TmShape picture, TmNode **picture_in, TmNode **logits);

/** Only its first arrow, for a training graph: the picture, normalized, ACT (N,3,H,W). */
TmNode *tm_infer_input(TmGraph *g, TmShape picture, TmNode **picture_in);
