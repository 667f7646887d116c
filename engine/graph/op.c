#include "engine/graph/op.h"

#include <string.h>

#define TM_OP(suffix, symbol) extern const TmOpInfo tm_op_##symbol;
#include "engine/graph/ops.def"
#undef TM_OP

static const TmOpInfo *const table[TM_N_OPS] = {
#define TM_OP(suffix, symbol) [TM_OP_##suffix] = &tm_op_##symbol,
#include "engine/graph/ops.def"
#undef TM_OP
};

const TmOpInfo *tm_op_info(TmOp op) { return table[op]; }

TmOp tm_op_by_name(const char *name) {
  for (int op = 0; op < TM_N_OPS; op++)
    if (strcmp(table[op]->name, name) == 0) return (TmOp)op;
  return TM_N_OPS;
}

double tm_node_flops(const TmNode *n) {
  const TmOpInfo *info = table[n->op];
  return info->flops ? info->flops(n) : 0;
}

static gsize stored_bytes(const TmNode *n, gsize elem) {
  switch (n->kind) {
  case TM_KIND_ACT: return tm_shape_count(n->shape) * elem;
  case TM_KIND_LABEL:
  case TM_KIND_PIXEL: return tm_shape_count(n->shape);
  default: return tm_shape_count(n->shape) * 4;
  }
}

double tm_node_bytes(const TmNode *n, gsize elem) {
  const TmOpInfo *info = table[n->op];
  if (info->bytes) return info->bytes(n, elem);
  if (info->max_in == 0) return 0;
  gsize sum = stored_bytes(n, elem);
  for (guint i = 0; i < n->n_in; i++) sum += stored_bytes(n->in[i], elem);
  return (double)sum;
}
