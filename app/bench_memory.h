/* bench_memory.h: what a training step was said to take of this process's memory, beside what it took. Thread: the one
 * that opened the net. */
#pragma once

#include <json-glib/json-glib.h>

#include "app/bench_net.h"

typedef struct _TmBenchMemoryReport TmBenchMemoryReport;

/** Runs the training step of @net a few times. TM_ERROR_UNSUPPORTED where it is in another memory. */
TmBenchMemoryReport *tm_bench_memory_new(TmBackend *backend, TmBenchNet *net, GError **error);
void tm_bench_memory_free(TmBenchMemoryReport *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmBenchMemoryReport, tm_bench_memory_free)

/** As tables on standard output. */
void tm_bench_memory_print(const TmBenchMemoryReport *r);
/** As members of @out, bytes: layers, predicted, actual. */
void tm_bench_memory_json(const TmBenchMemoryReport *r, JsonObject *out);
