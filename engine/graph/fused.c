#include "engine/graph/fused.h"

#include "engine/graph/op.h"

const char *tm_step_op_name(int op) {
  static const char *const names[] = {
#define TM_FUSED(suffix, name) name,
#include "engine/graph/fused.def"
#undef TM_FUSED
  };
  if (op < TM_N_OPS) return tm_op_info((TmOp)op)->name;
  return op > TM_FUSED_NONE && op < TM_FUSED_END ? names[op - TM_FUSED_NONE - 1] : "?";
}
