/* layers.h: the nodes of a training graph by layer: a convolution with what follows it, on the way forward
 * and on the way back. Pure; any thread. */
#pragma once

#include "engine/train/train_graph.h"

typedef struct {
  guint n;
  const char **names; /* "enc.0.0": the convolution's; "input" first, "loss" last. The graph's or static */
  guint *of;          /* by node id: index of its layer */
} TmLayers;

TmLayers *tm_layers_new(const TmTrainGraph *t);
/** Bytes that each layer's values keep from their way forward to their way back in @plan of @t: into @bytes, one a
 * layer. The halves of a joined buffer are counted with the layers that fill them. */
void tm_layers_stored(const TmLayers *l, const TmTrainGraph *t, const TmProgram *plan, gsize *bytes);
void tm_layers_free(TmLayers *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmLayers, tm_layers_free)
