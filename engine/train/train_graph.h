/* train_graph.h: one training step as a graph: picture -> normalized -> net -> loss -> gradient of each
 * parameter. What the session trains with and what the estimate looks at. Pure; any one thread. */
#pragma once

#include "engine/nets/unet.h"
#include "engine/program/program.h"
#include "engine/train/losses.h"

/* What is made again on the way back instead of being kept, by layer (layers.h), besides what never is kept. n 0:
 * nothing. */
typedef struct {
  guint n;
  gboolean *convolution; /* its result */
  gboolean *rest;        /* what follows from it */
} TmRecompute;

typedef struct {
  TmUNet net;
  TmGraph *graph;
  TmNode *picture, *labels, *tick; /* tick NULL without dropout */
  TmNode *scale;                   /* f16: the STATE "loss.scale", by which the gradients come out larger; else NULL */
  TmLoss loss;
  GPtrArray *outputs;        /* TmNode: effects and the loss's parts */
  GPtrArray *params, *grads; /* TmNode, pairs */
  guint n_forward;           /* nodes with smaller ids are forward */
} TmTrainGraph;

/** For @batch pictures of w x h; @again NULL: nothing more is made again. TM_ERROR_NO_MEMORY when a tensor would
 * be larger than can be counted. */
gboolean tm_train_graph_build(TmTrainGraph *t, const TmSettings *s, guint classes, int batch, int w, int h,
                              const TmRecompute *again, GError **error);
/** Of an empty (zeroed) one too. */
void tm_train_graph_clear(TmTrainGraph *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmTrainGraph, tm_train_graph_clear)

/** By id of a forward node: those never kept for the way back. Normalised, rectified values that only convolutions look
 * at are a pass over what they follow from, which is kept; ReLU's gradient does without them (fused.def). Free it. */
gboolean *tm_train_graph_dropped(const TmTrainGraph *t);

/** What to compile it with; borrows from @t. */
TmProgramOptions tm_train_graph_options(const TmTrainGraph *t, TmDType precision);
