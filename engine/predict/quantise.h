/* quantise.h: a trained net turned into one of bytes (Jacob et al., 2018), after training.
 *
 * Activations become bytes q that stand for s (q - z): behind a ReLU z = 0 and s = limit / 255, elsewhere z =
 * 128 and s = limit / 127, with the limit of tm_range_limit(). The picture's own bytes are the first
 * activations, s = 1 / std and z = mean of each colour. Batch normalisation and the scales of a layer's
 * inputs, also of the two halves of a concat, go into its weights, which are rounded to whole numbers by one
 * scale an output channel; what remains of all that is one factor and one offset an output channel
 * (engine/ops/quantised.c).
 *
 * 3x3 convolutions of TM_TILED_CHANNELS and more run by Winograd's tiles, with scales for each of 16 planes. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/program/params.h"

enum { TM_TILED_CHANNELS = 32 };

/* One layer, told by nodes of the trained net. */
typedef struct {
  const TmNode *conv; /* a conv or conv_transpose */
  const TmNode *norm; /* the bn_infer behind it, or NULL */
  gboolean tiled;     /* a 3x3 convolution run as winograd_u8 */
  const TmNode *out;  /* the value the bytes stand for; NULL: the layer names classes */
  guint n_parts;      /* the values side by side in its input */
  struct {
    const TmNode *value; /* another layer's out; NULL: the picture */
    int channels;
  } parts[TM_MAX_INPUTS];
} TmQuantisedLayer;

typedef struct {
  TmGraph *graph; /* the net of bytes, its numbers STATE */
  TmNode *picture, *labels;
  GArray *layers;           /* TmQuantisedLayer */
  const TmNode *mean, *std; /* of the picture, in the trained net */
} TmQuantised;

/** Translates @net, an inference graph from a picture to @labels, which must outlive the result.
 * TM_ERROR_UNSUPPORTED names what bytes cannot do. */
TmQuantised *tm_quantised_new(const TmGraph *net, const TmNode *labels, GError **error);
void tm_quantised_free(TmQuantised *q);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmQuantised, tm_quantised_free)

/** Is @value, a layer's out, behind a ReLU, so that byte 0 stands for 0? */
static inline gboolean tm_quantised_positive(const TmNode *value) {
  return value->op == TM_OP_RELU;
}

/** Computes all numbers of @bytes, the parameter set of q->graph, from those of the trained net and the
 * @limits of its layers: by name of each layer's out, a double*. */
gboolean tm_quantised_fill(const TmQuantised *q, TmParams *bytes, TmParams *net, GHashTable *limits,
                           GError **error);
