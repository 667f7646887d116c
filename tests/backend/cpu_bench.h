/* cpu_bench.h: graphs run by the cpu backend on memory that notices mistakes: every value in a buffer of its
 * own, between guards, and where the backend says it takes a slice, with gaps between the pixels. Guards and
 * gaps hold NaN: reading them spoils the result, and writing them is found afterwards. */
#pragma once

#include "engine/backend/cpu/cpu.h"
#include "tests/ops/op_cases.h"

/** The cpu backend with the kernels of @table, or ref when @table is NULL. Fails the test when it does not
 * open. */
TmBackend *cpu_bench_open(const TmKernels *table, int threads);

typedef struct {
  TmBackend *backend; /* not owned */
  TmProgram program;  /* its values lie in buffers of the bench */
  void **buffers;     /* by value */
  gsize *bytes;
} CpuBench;

/** Prepares all computed nodes of @g, one step each. @gaps: elements between pixels where a slice may be; 0:
 * all dense. */
CpuBench *cpu_bench_new(TmBackend *backend, const TmGraph *g, TmDType precision, int gaps);
void cpu_bench_free(CpuBench *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CpuBench, cpu_bench_free)

void cpu_bench_write(CpuBench *b, const TmNode *n, const float *dense);
/** Free with g_free(). */
float *cpu_bench_read(CpuBench *b, const TmNode *n);
/** Runs once and fails the test when a guard or a gap was written. */
void cpu_bench_run(CpuBench *b);

/** Rounds to bf16 and back. */
void cpu_bench_round(float *x, gsize n);
/** Fails the test unless |a - b| <= bound * max(|b|, root mean square of b) for all elements. */
void cpu_bench_compare(const float *a, const float *b, gsize n, double bound);

/** Runs @c on the cpu backend with the kernels of @table against ref: @gaps as in cpu_bench_new(). f32 may
 * differ by the order of sums. For bf16 both sides are fed values that are bf16 already, and ref computes in
 * f32: what remains is one rounding of the output, 2^-9 of it; the bound of 2^-8 leaves as much for the
 * rounding of values inside (weights packed in bf16). A convolution with a bias may round twice (oneDNN
 * does), the first time at the size of the sum without the bias. Run again it must give the same bits. */
void cpu_bench_check_case(const TmOpCase *c, const TmKernels *table, TmDType precision, int gaps);
/** Does the backend run it at @precision with that table? */
gboolean cpu_bench_can(const TmOpCase *c, const TmKernels *table, TmDType precision);
