/* fused.h: the patterns of fused.def as numbers that follow the ops': a step is either. */
#pragma once

#include "engine/graph/node.h"

typedef enum {
  TM_FUSED_NONE = TM_N_OPS,
#define TM_FUSED(suffix, name) TM_FUSED_##suffix,
#include "engine/graph/fused.def"
#undef TM_FUSED
  TM_FUSED_END
} TmFused;

/** Name of an op or a pattern: static. */
const char *tm_step_op_name(int op);
/** Must the pixels of this operand (0.. inputs, ~0.. outputs) lie side by side? Labels and counts must: their readers
 * and writers take no pixel stride. */
gboolean tm_step_operand_is_dense(int op, int operand);
