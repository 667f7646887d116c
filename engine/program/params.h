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

/** Initial values as PyTorch draws them (convolutions: uniform within 1/sqrt(fan_in), He et al. 2015 with a = sqrt(5); BN
 * gamma 1, beta 0, running mean 0, variance 1), from @seed. Parameters are told apart by name: "*.weight" of four axes is a
 * convolution, of one a gamma; "*.bias" follows its weight's fan-in or is a beta; states keep their value unless "running_*". */
gboolean tm_params_init(TmParams *p, guint64 seed, GError **error);
