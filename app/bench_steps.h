/* bench_steps.h: where the time of a step or a prediction goes: every step of its program timed alone, beside
 * what the device does at best. Thread: the one that opened the net. */
#pragma once

#include <json-glib/json-glib.h>

#include "app/bench_net.h"

typedef struct {
  char *name;          /* "conv+bn_stats 3x3 64→32": op, kernel, channels */
  guint calls;         /* a run */
  double seconds;      /* of all calls, each the best of a few */
  double flops, bytes; /* of all calls; bytes are operands', read or written once */
} TmBenchStep;

typedef struct {
  double peak_flops, peak_bytes; /* a second; 0 where the device has no measure of itself */
  GArray *steps;                 /* TmBenchStep, the longest first */
} TmBenchSteps;

/** @type: of the multiplications. NULL on error. */
TmBenchSteps *tm_bench_steps_new(TmBackend *backend, TmBenchNet *net, TmDType type, gboolean training,
                                 GError **error);
void tm_bench_steps_free(TmBenchSteps *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmBenchSteps, tm_bench_steps_free)

/** As a table on standard output. */
void tm_bench_steps_print(const TmBenchSteps *s);
/** As members of @out: peak_gflops, peak_gb_s, steps. */
void tm_bench_steps_json(const TmBenchSteps *s, JsonObject *out);
