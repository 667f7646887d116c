/* program.h: a graph made ready to run on one backend: dead nodes dropped, patterns fused, copies removed, every value placed in
 * one arena by its lifetime. Nothing is allocated during a run.
 *
 * Passes, in order: live (passes/live.c), fuse (passes/fuse.c), place (passes/place.c: concat halves become slices of one buffer), plan
 * (passes/plan.c: offsets by liveness).
 *
 * The first result of an elementwise step (relu, relu_dx, sigmoid, add, mul, scale, dropout, bn_apply, bn_infer, bn_dx and the patterns that begin
 * with them; max_pool_dx+add: its last operand) may lie in the memory of an operand that dies there: executors read an element
 * before they write it.  Thread: the one that owns the backend. */
#pragma once

#include "engine/graph/fused.h"
#include "engine/program/params.h"

enum { TM_STEP_MAX_IN = 8, TM_STEP_MAX_OUT = 3 };

/* Where a value lives. */
typedef enum {
  TM_HOME_ARENA,
  TM_HOME_OWN,   /* inputs and kept outputs: in the arena, never shared with another value */
  TM_HOME_VALUE, /* TmParams.value */
  TM_HOME_GRAD,  /* TmParams.grad */
  TM_HOME_STATE, /* TmParams.state */
} TmHome;

typedef struct {
  const TmNode *node;
  TmHome home;
  TmView view;         /* data is final once compiled */
  guint first, last;   /* steps between which it must be kept */
} TmValue;

/* One kernel call. */
typedef struct {
  int op;                          /* a TmOp, or a TmFused */
  const TmNode *node;              /* the first node it computes: its attributes are the step's */
  guint n_in, n_out;
  guint in[TM_STEP_MAX_IN];        /* indices into values */
  guint out[TM_STEP_MAX_OUT];
} TmStep;

typedef struct {
  TmDType precision;     /* of TM_KIND_ACT values: TM_F32, TM_BF16 or TM_F16 */
  guint n_outputs;       /* nodes that can be read after a run */
  TmNode *const *outputs;
  guint n_grads;         /* pairs: the gradient node i is written into the grad array at parameter i */
  TmNode *const *params;
  TmNode *const *grads;
  const struct _TmProgram *host; /* (optional) one that never runs at the same time and keeps nothing between its runs: this one's values
                          * lie in its arena where that is large enough. It outlives this one */
  gboolean unfused;      /* the oracle of the patterns' tests: no fusing, no placing */
  gboolean keep_all;     /* every value readable after a run: taps and tests; costs memory */
} TmProgramOptions;

typedef struct _TmProgram {
  TmBackend *backend;  /* not owned */
  TmParams *params;    /* not owned */
  TmDType precision;
  guint n_values;
  TmValue *values;
  guint n_steps;
  TmStep *steps;
  gsize arena_bytes;
  void *arena;         /* backend memory; NULL in a plan */
  gboolean guest;      /* the arena is another's */
  gpointer prepared;   /* the backend's */
  guint mark;          /* the backend's run notes the time before this step; 0: none */
  gint64 marked;       /* g_get_monotonic_time() then; 0: it cannot tell */
} TmProgram;

/** Compiles @g. The graph's nodes must outlive the program. TM_ERROR_UNSUPPORTED names the op the backend lacks,
 * TM_ERROR_NO_MEMORY the bytes the arena needs. */
TmProgram *tm_program_new(TmBackend *backend, TmParams *params, const TmGraph *g, const TmProgramOptions *options, GError **error);
/** Only the passes: a program that cannot run, for looking at its steps, its values (view.data: the offset in the arena; NULL in the
 * parameter set) and arena_bytes. Nothing is allocated on the device. Errors as above. */
TmProgram *tm_program_plan(TmBackend *backend, const TmGraph *g, const TmProgramOptions *options, GError **error);
void tm_program_free(TmProgram *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmProgram, tm_program_free)

/** Fills the input @node from dense host memory of type @from in stored order; converts to the value's type. */
gboolean tm_program_write(TmProgram *p, const TmNode *node, const void *src, TmDType from, GError **error);
gboolean tm_program_run(TmProgram *p, GError **error);
/** Reads an output (or any node under keep_all) into dense host memory, converted to @to. */
gboolean tm_program_read(TmProgram *p, const TmNode *node, void *dst, TmDType to, GError **error);

/** The type of @node's value in a program of @precision. */
TmDType tm_program_dtype(const TmNode *node, TmDType precision);
/** Bytes of the operands of a step, each read or written once. */
double tm_program_step_bytes(const TmProgram *p, const TmStep *s);
/** The value of @node, or NULL when the program does not hold it. */
const TmValue *tm_program_value(const TmProgram *p, const TmNode *node);
