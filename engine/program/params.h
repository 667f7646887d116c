/* params.h: the parameter set: all trained tensors of a net in one flat f32 array, and all states in another, in the
 * backend's memory, shared by every program of the net (training, validation, probe) whatever its input shape.
 *
 * Flat order is the order of first appearance; each tensor starts on a multiple of 16 elements, the gaps are zero and stay
 * zero (they have no gradient). Layout inside a tensor is the view's: O,kH,kW,I for convolutions.
 * Thread: the one that owns the backend. */
#pragma once

#include "engine/backend/backend.h"
#include "engine/graph/graph.h"

typedef struct {
  char *name;      /* "enc.0.0.weight" */
  TmShape shape;
  gsize offset;    /* elements from the start of its flat array */
  gboolean trained; /* TRUE: in value/grad; FALSE: in state */
  float fill;      /* initial value */
  int fan_in;      /* > 0: drawn by it instead */
} TmParam;

typedef struct _TmParams {
  TmBackend *backend; /* not owned; outlives the set */
  GArray *list;       /* TmParam */
  gsize n_value;      /* elements in value and grad */
  gsize n_state;
  float *value, *grad; /* backend memory */
  float *state;
  guint64 version; /* changes whenever value or state was written: executors repack their copies when it moved */
} TmParams;

/** Collects PARAM and STATE nodes of @g and allocates the arrays, zeroed. */
TmParams *tm_params_new(TmBackend *backend, const TmGraph *g, GError **error);
void tm_params_free(TmParams *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmParams, tm_params_free)

/** NULL when there is none of that name. */
const TmParam *tm_params_find(const TmParams *p, const char *name);
/** Number of trained elements, without the gaps. */
gsize tm_params_count(const TmParams *p);

/** Writes one tensor from host memory, dense, in stored order (N,H,W,C); bumps the version. */
gboolean tm_params_write(TmParams *p, const TmParam *which, const float *src, GError **error);
/** Reads value, or the gradient when @grad, of one tensor into host memory, dense, stored order. */
gboolean tm_params_read(TmParams *p, const TmParam *which, gboolean grad, float *dst, GError **error);

/** Draws the parameters that have a fan-in, uniformly within 1/sqrt(fan_in) (He et al. 2015 with a = sqrt(5): what PyTorch's convolutions
 * start from), each from a generator of its own seeded by @seed and its place, and gives all others and the states their fill. */
gboolean tm_params_init(TmParams *p, guint64 seed, GError **error);
