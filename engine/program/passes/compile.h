/* compile.h: what the passes hand on to each other. Private to engine/program.
 *
 * Steps name values by node id until tm_pass_place() has numbered the values. */
#pragma once

#include "engine/program/program.h"

typedef struct {
  TmBackend *backend;
  const TmGraph *graph;
  const TmProgramOptions *options;
  guint n_nodes;
  gboolean *live;   /* by node id: needed by an output, a gradient or an effect */
  gboolean *result; /* by node id: readable after a run, so it must exist */
  guint *uses;      /* by node id: how many operands of live nodes it is */
  GArray *steps;    /* TmStep */
  GArray *values;   /* TmValue */
  gint *value_of;   /* by node id: index into values, -1 when there is none */
  guint *root;      /* by value: the value whose buffer it lies in (itself, mostly) */
  int *channel;     /* by value: first channel in that buffer */
  guint *members;   /* by value: how many values lie in its buffer, itself included */
  gsize arena_bytes;
} TmCompile;

/** Marks the nodes that outputs and gradients need. */
void tm_pass_live(TmCompile *c);
/** Makes the steps: one a live node, or one a pattern the backend has. TM_ERROR_UNSUPPORTED names an op it lacks. */
gboolean tm_pass_fuse(TmCompile *c, GError **error);
/** Makes the values; lets halves of a concat, and slices, be parts of the whole's buffer where all who touch them can. */
void tm_pass_place(TmCompile *c);
/** Lifetimes, in-place results, offsets into one arena (first fit, largest first). */
void tm_pass_plan(TmCompile *c);

/** Size of the buffer whose root is value @v, in bytes. */
gsize tm_value_bytes(const TmValue *v);
