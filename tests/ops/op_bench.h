/* op_bench.h: a bench on which one op is run by one backend: a case of the table, or an op with its inputs
 * given as plain numbers. */
#pragma once

#include "tests/ops/op_cases.h"

typedef struct {
  const TmOpCase *op_case;
  TmBackend *backend; /* owned */
  TmGraph *graph;
  TmParams *params;
  TmNode *in[TM_MAX_INPUTS], *out;
} OpBench;

/** The case's graph on a newly opened backend. Fails the test when that cannot be. Programs are the test's to
 * compile. */
OpBench *op_bench_new(const char *backend, const TmOpCase *c);
void op_bench_free(OpBench *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OpBench, op_bench_free)

/** Compiles a program that gives @outputs, op by op. */
TmProgram *op_bench_program(OpBench *b, TmDType precision, guint n_outputs, TmNode *const *outputs);

/** Reads @node, dense f32; free with g_free(). */
float *op_bench_read(TmProgram *p, const TmNode *node);

/** Runs the case on inputs filled from @seed, each rounded to @round first, and returns the output; free with
 * g_free(). */
float *op_bench_run(OpBench *b, TmDType precision, TmDType round, guint64 seed);

/* An op run by hand. */
typedef struct {
  TmShape shape;
  TmKind kind;
  const float *values; /* dense, N,H,W,C */
} OpInput;

/** Runs @op on ref in f32 and returns its output; @after receives input 1 and 2 as the op left them when it
 * is not NULL. */
float *op_run(TmOp op, const TmAttrs *attrs, guint n_in, const OpInput *in, TmShape *shape, float *after[2]);
