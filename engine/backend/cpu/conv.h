/* conv.h: one convolution step of a program: its primitive or kernel, its packed weights. Owned by the
 * program; the owner's thread. */
#pragma once

#include "engine/backend/cpu/cpu.h"

typedef struct _CpuConv CpuConv;

/** Is @op a convolution (conv, conv_transpose, conv_dw) or a pattern that begins with one? */
gboolean tm_cpu_is_conv(int op);
/** Can it be run for @node at @precision? */
gboolean tm_cpu_conv_supports(CpuBackend *b, int op, const TmNode *node, TmDType precision);
/** May this operand be a channel slice? */
gboolean tm_cpu_conv_takes_slice(CpuBackend *b, int op, const TmNode *node, int operand, TmDType precision);

/** Makes what the step needs to run @c, whose views are final. @lent: its packed weights lie in what
 * tm_cpu_conv_lend() gives. TM_ERROR_UNSUPPORTED or TM_ERROR_NO_MEMORY. */
CpuConv *tm_cpu_conv_new(CpuBackend *b, int op, const CpuCall *c, gboolean lent, GError **error);
void tm_cpu_conv_free(CpuConv *v);

/** Work space: what a thread of the team needs, and what all share (TmTeam.shared, oneDNN's scratchpad). */
gsize tm_cpu_conv_team_work(const CpuConv *v);
gsize tm_cpu_conv_scratch(const CpuConv *v);
/** Bytes it keeps for itself: its weights, packed, unless lent. */
gsize tm_cpu_conv_held(const CpuConv *v);
/** Bytes its packed weights take, and where they lie from the next tm_cpu_conv_pack() to the run after it: room of at least
 * so many, 64-byte aligned, that other steps may use between. Only of one made @lent. */
gsize tm_cpu_conv_packed(const CpuConv *v);
void tm_cpu_conv_lend(CpuConv *v, void *room);

/** Packs the weights again from the f32 master. */
gboolean tm_cpu_conv_pack(CpuConv *v, const CpuCall *c, GError **error);
/** @scratch: tm_cpu_conv_scratch() bytes, 64-byte aligned. */
gboolean tm_cpu_conv_run(CpuConv *v, const CpuCall *c, void *scratch, GError **error);
