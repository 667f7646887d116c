/* bench_net.h: the trainer's step and the predictor's question on random weights and pictures, to be timed.
 * Thread: the one that opened it. */
#pragma once

#include "engine/program/program.h"
#include "engine/train/settings.h"
#include "engine/train/train_graph.h"

typedef struct {
  gboolean
      training; /* a whole step: batch in, forward, backward, AdamW; else picture in, class indices out */
  int batch, height, width, classes;
  TmDType precision;
  gboolean int8; /* inference: of a net of bytes, whatever the precision */
} TmBenchPlan;

typedef struct _TmBenchNet TmBenchNet;

/* Bytes of this process in memory, by what they are for. */
typedef struct {
  gsize process; /* the program and its libraries */
  gsize batch;   /* pictures and labels */
  gsize weights; /* weights, gradients, optimizer */
  gsize values;  /* of the step, with packed weights and work space */
} TmBenchMemory;

/** Builds the net of @s (base, depth, upsampling, batch_norm, dropout, loss; memory_limit and convolutions as a
 * run's) at the plan's size on @backend, which outlives it. */
TmBenchNet *tm_bench_net_new(TmBackend *backend, const TmSettings *s, const TmBenchPlan *plan,
                             GError **error);
void tm_bench_net_free(TmBenchNet *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmBenchNet, tm_bench_net_free)

/** Once, waited for. */
gboolean tm_bench_net_run(TmBenchNet *b, GError **error);
/** Floating-point operations of one run; a multiply-add counts two. */
double tm_bench_net_flops(const TmBenchNet *b);
/** What it runs; owned by it. */
TmProgram *tm_bench_net_program(TmBenchNet *b);
/** Training: what each part should take, and what was more in memory once it was there; the growth since then is the
 * process's. */
gboolean tm_bench_net_parts(const TmBenchNet *b, TmBenchMemory *predicted, TmBenchMemory *actual, GError **error);
/** Training: the graph; owned by it. */
const TmTrainGraph *tm_bench_net_graph(const TmBenchNet *b);
/** Bytes held on the device. */
gsize tm_bench_net_memory(const TmBenchNet *b);
