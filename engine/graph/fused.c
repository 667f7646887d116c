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

gboolean tm_step_operand_is_dense(int op, int operand) {
  switch (op) {
  case TM_OP_CROSS_ENTROPY:
  case TM_OP_FOCAL:
  case TM_OP_DICE:
  case TM_FUSED_CROSS_ENTROPY_GRAD:
    return operand == 1;
  case TM_OP_CROSS_ENTROPY_DX:
  case TM_OP_FOCAL_DX:
  case TM_OP_DICE_DX:
    return operand == 2;
  case TM_OP_CONFUSION:
    return operand == 1 || operand < 0;
  case TM_OP_ARGMAX:
  case TM_FUSED_CONV_ARGMAX:
    return operand < 0;
  default:
    return FALSE;
  }
}
