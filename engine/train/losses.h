/* losses.h: the loss a run's settings name, as nodes. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/train/settings.h"

typedef struct {
  TmNode *root;     /* what the gradient is taken of: the sum of the parts */
  TmNode *parts[2]; /* STAT scalars; the loss is their sum, added in f32 on the host because the root may be
                       kept in bf16 */
  guint n;
  gboolean pixelwise; /* parts[0] is a mean over pixels weighted by class (cross-entropy, focal): batches can
                         be added up exactly */
} TmLoss;

/** Adds the loss of @logits (N,C,H,W) against @labels (LABEL (N,1,H,W)) with class @weights (STATE (1,C,1,1))
 * to @g. */
TmLoss tm_loss_build(TmGraph *g, const TmSettings *s, TmNode *logits, TmNode *labels, TmNode *weights);
