/* op.h: what the op table says of an op. */
#pragma once

#include "engine/core/error.h"
#include "engine/graph/node.h"

typedef struct _TmOpInfo TmOpInfo;

struct _TmOpInfo {
  const char *name;       /* "conv": used in files, errors, tables; never translated */
  guint min_in, max_in;   /* number of inputs */
  TmKind kind;            /* how the output is stored */

  /* Checks inputs and attributes and gives the output's shape. @n has op, inputs and attrs set, nothing else.
   * FALSE with TM_ERROR_SHAPE or TM_ERROR_SETTING and a sentence. Pure. */
  gboolean (*shape)(const TmNode *n, TmShape *out, GError **error);

  /* (optional; default: no input has a gradient) Adds to @g the nodes of the vector-Jacobian product: given @dy, the gradient
   * of the loss by @n's output, sets dx[i] to the gradient by input i, or leaves it NULL where there is none.
   * Only inputs with want[i] need be filled. Nodes are added through graph.h, which cannot fail on checked shapes. */
  void (*gradient)(TmGraph *g, TmNode *n, TmNode *dy, const gboolean *want, TmNode **dx);

  /* (optional; default 0) Floating-point operations of one evaluation; a multiply-add counts two. */
  double (*flops)(const TmNode *n);

  /* (optional; default: every input and the output once) Bytes moved, with @elem bytes in an ACT element. */
  double (*bytes)(const TmNode *n, gsize elem);

  const char *onnx;    /* ONNX operator that does the same in inference, or NULL */
  const char *explain; /* one paragraph for a class, N_() */
};

/** The row of @op: static. */
const TmOpInfo *tm_op_info(TmOp op);
/** The op called @name, or TM_N_OPS. */
TmOp tm_op_by_name(const char *name);
double tm_node_flops(const TmNode *n);
double tm_node_bytes(const TmNode *n, gsize elem);
