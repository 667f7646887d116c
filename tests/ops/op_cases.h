/* op_cases.h: one table of ops at shapes that hurt, for every test that walks over ops: shape rules, finite
 * differences, and one backend against another. Any thread. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/program/program.h"

/* What an input holds. MADE inputs are not sources: they are computed in the graph from the input before
 * them, because the op is only defined when the two agree. */
typedef enum {
  TM_FILL_NORMAL,     /* standard normal */
  TM_FILL_DISTINCT,   /* multiples of 1/32 in [-8, 8], none 0, no two equal within 512 neighbours: no ties in
                         pools, no kinks within 1/32, exact in bf16 */
  TM_FILL_POSITIVE,   /* uniform in [0.5, 2) */
  TM_FILL_UNIT,       /* uniform in [0.1, 0.9) */
  TM_FILL_PIXEL,      /* 0..255 */
  TM_FILL_WHOLE,      /* whole numbers from -127 to 127 */
  TM_FILL_SMALL,      /* uniform in [0.0002, 0.001): what brings a quantised layer's sums to bytes */
  TM_FILL_LABEL,      /* 0..C-1 (C of input `classes_of`), about one in eight void: 255, or C */
  TM_FILL_VOID,       /* all 255 */
  TM_FILL_TICK,       /* a small whole number */
  TM_FILL_STATS,      /* (1,2C,1,1): C normal means, then C positive variances */
  TM_FILL_MADE_STATS, /* bn_stats of the input before */
  TM_FILL_MADE_POOL,  /* max_pool of the input before, by the case's factor */
} TmFill;

typedef struct {
  TmShape shape; /* of MADE inputs: ignored */
  TmKind kind;   /* PARAM and STATE make such sources; everything else is an INPUT of that kind */
  TmFill fill;
} TmOpCaseInput;

typedef struct {
  const char *name; /* unique, "conv/3x3 stride 2 odd" */
  TmOp op;
  TmAttrs attrs;
  guint n_in;
  TmOpCaseInput in[TM_MAX_INPUTS];
  guint classes_of;  /* the input whose channels are the classes of LABEL inputs */
  guint gradient_by; /* bit i: the op's rule must give a gradient by input i, and finite differences must
                        agree */
} TmOpCase;

/** The table: static. */
const TmOpCase *tm_op_cases(guint *n);

/** Adds the case's inputs (named "in0".."in7") and its op ("out") to @g. @in has room for TM_MAX_INPUTS.
 * FALSE with @error when the graph refused. */
gboolean tm_op_case_graph(const TmOpCase *c, TmGraph *g, TmNode **in, TmNode **out, GError **error);

/** TRUE when input @i is computed in the graph, so that nobody fills it. */
gboolean tm_op_case_is_made(const TmOpCase *c, guint i);

/** Writes suitable values for input @i (not a MADE one) to @dst: tm_shape_count(c->in[i].shape) f32 in stored
 * order. The same @seed gives the same values. */
void tm_op_case_fill(const TmOpCase *c, guint i, guint64 seed, float *dst);

/** Fills every source of the case in @p and @params (dense f32, converted to each value's type). @in as
 * tm_op_case_graph() gave it. */
gboolean tm_op_case_load(const TmOpCase *c, TmProgram *p, TmParams *params, TmNode *const *in, guint64 seed,
                         GError **error);

/** Fills the one source @i with @values. */
gboolean tm_op_case_load_one(const TmOpCase *c, TmProgram *p, TmParams *params, TmNode *const *in, guint i,
                             const float *values, GError **error);

/** May every step that touches @n take it as a slice? */
gboolean tm_op_case_sliceable(TmBackend *b, const TmGraph *g, const TmNode *n, TmDType precision);
