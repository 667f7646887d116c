/* host_bench.h: graphs run by the cuda backend on the host stand-in, in memory that notices mistakes: every
 * value in an allocation of its own and exactly as large, with gaps between the pixels where the backend says
 * it takes a slice. Gaps hold NaN: reading them spoils the result, and writing them is found afterwards. */
#pragma once

#include "engine/program/program.h"
#include "tests/ops/op_cases.h"

/* How values lie in memory. */
typedef struct {
  int before, gap; /* elements before the first pixel, and between pixels, where a slice may be */
} HostLayout;

typedef struct {
  TmBackend *backend; /* not owned */
  TmProgram program;  /* its values lie in buffers of the bench */
  void **buffers;     /* by value */
  gsize *bytes;
} HostBench;

/** To be called first: what is measured is kept in a folder of this process, which goes when it ends. */
void host_bench_own_cache(void);
/** Forgets what was measured. */
void host_bench_forget(void);

/** The module's backend, linked into the test. Fails the test when it does not open. */
TmBackend *host_bench_open(void);

/** Prepares all computed nodes of @g, one step each. */
HostBench *host_bench_new(TmBackend *backend, const TmGraph *g, TmDType precision, HostLayout layout);
void host_bench_free(HostBench *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostBench, host_bench_free)

void host_bench_write(HostBench *b, const TmNode *n, const float *dense);
/** Free with g_free(). */
float *host_bench_read(HostBench *b, const TmNode *n);
/** Runs once and fails the test when a gap was written. */
void host_bench_run(HostBench *b);

/** Rounds to @type and back. */
void host_bench_round(float *x, gsize n, TmDType type);
/** Fails the test unless |a - b| <= bound * max(|b|, root mean square of b) for all elements. */
void host_bench_compare(const char *what, const float *a, const float *b, gsize n, double bound);
