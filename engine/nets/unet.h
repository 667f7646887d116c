/* unet.h: the UNet (Ronneberger, Fischer and Brox, 2015) with "same" convolutions and batch normalisation, as a function on the graph.
 *
 * Parameter names and numbers are those of the PyTorch reference: enc.K.{0,3}.weight convolutions, enc.K.{1,4} batch norms, up.K transposed
 * convolutions 2x2, dec.K like enc, head 1x1. Skip first in each concat. */
#pragma once

#include "engine/graph/graph.h"

typedef struct {
  int classes;       /* logits' channels */
  int base;          /* channels of the first level; doubles at each level */
  int depth;         /* levels down, 2..5 */
  gboolean bilinear; /* 1x1 convolution and bilinear upsampling instead of a transposed convolution */
  gboolean batch_norm; /* else the convolutions have a bias */
  float dropout;     /* at the bottom and before the head; 0 off */
  float bn_momentum; /* 0.1 */
} TmUNet;

/** Adds the net to @g from @x, an ACT (N,3,H,W) of any H and W >= 1: padded by reflection to a multiple of 2^depth, logits cropped back.
 * @training: batch statistics (and their running averages as effects appended to @effects) and dropout by @tick (a COUNT scalar input; may be NULL when
 * dropout is 0 or not @training). Otherwise running statistics. Returns the logits, ACT (N,classes,H,W). */
TmNode *tm_unet(TmGraph *g, TmNode *x, const TmUNet *net, gboolean training, TmNode *tick, GPtrArray *effects);
