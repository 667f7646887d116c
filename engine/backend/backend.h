/* backend.h: the one table a device implements. Version TM_BACKEND_VERSION.
 *
 * A backend is opened, used and closed by one thread, the trainer's (tests and the command line: their own). It runs work in the order
 * it is given; `synchronize` waits for it. Every slot that can fail returns FALSE or NULL and sets an error; none aborts or exits.
 * Do not call slots: call the functions below the table, which check arguments and supply the defaults.
 *
 * After TM_ERROR_DEVICE the backend is lost: only `discard`, `release` and `close` may follow. After TM_ERROR_NO_MEMORY everything that
 * existed before the call is still valid. */
#pragma once

#include "engine/backend/visible.h"
#include "engine/core/error.h"
#include "engine/core/view.h"
#include "engine/graph/node.h"

enum { TM_BACKEND_VERSION = 2 };

typedef struct _TmProgram TmProgram;

typedef struct {
  int threads;            /* 0: all the process may use */
  gboolean deterministic; /* same seed, machine and thread count: same bits. Slots that cannot must fail with TM_ERROR_UNSUPPORTED */
  const char *device;     /* UUID of the GPU to use, or its beginning; NULL for the first */
  const char *convolutions; /* cpu: "direct", "winograd" or "onednn" wherever it can; NULL or "auto": the fastest, measured once per machine.
                               Winograd's sums are rounded a little more. Copied. */
  gboolean tf32; /* cuda: convolutions in f32 may round their operands to 10 bits of mantissa, which tensor cores
                    multiply; else they are f32 throughout */
} TmBackendOptions;

typedef struct {
  char *name;        /* "AMD EPYC", "NVIDIA H200": owned by the receiver */
  char *uuid;        /* of a GPU, the same as NVML's; NULL for others. Owned by the receiver */
  char *detail;      /* "2 threads, AVX512-BF16, oneDNN 3.2" */
  gsize memory;      /* bytes the device has; 0 unknown */
  int threads;
  gboolean bf16;     /* bf16 is native: the sensible default precision */
  gboolean tf32;     /* it knows TmBackendOptions.tf32 */
} TmBackendInfo;

typedef enum { TM_OPTIMIZER_SGD, TM_OPTIMIZER_ADAM, TM_OPTIMIZER_ADAMW } TmOptimizerKind;

/* One optimizer step over the flat arrays. SGD with momentum as in Sutskever et al. 2013 (PyTorch's form: v = mu v + g, w -= lr v); Adam: Kingma
 * and Ba 2015 (weight decay added to the gradient); AdamW: Loshchilov and Hutter 2019. All arrays are backend memory, n f32. */
typedef struct {
  TmOptimizerKind kind;
  gsize n;
  float *w, *m, *v; /* v unused by SGD */
  const float *g;
  float grad_scale; /* multiplies g first: clipping and 1/loss scale */
  float lr, beta1, beta2, eps, weight_decay, momentum;
  gint64 step;      /* from 1: bias correction */
  float *ema;       /* (optional) ema = ema_decay * ema + (1 - ema_decay) * w after the update */
  float ema_decay;
} TmUpdate;

/* A training step with its update. Everything lies in backend memory. */
enum { TM_TRAIN_LOSSES = 2 };
typedef struct {
  TmUpdate update;   /* its grad_scale is made of the next two */
  double clip;       /* the gradient's largest norm, PyTorch's clip_grad_norm_; 0: any */
  double loss_scale; /* by which the gradient is too large */
  guint n_losses;
  const float *losses[TM_TRAIN_LOSSES]; /* scalars that the program makes */
  float *state, *kept;                  /* n_state f32: copied to kept before, and back when the step is skipped */
  gsize n_state;
} TmTrainStep;

typedef struct {
  double loss;      /* the sum of all */
  double squares;   /* of the gradient's elements */
  gboolean skipped; /* one of the two is not finite: nothing moved */
} TmTrained;

typedef struct {
  guint version; /* TM_BACKEND_VERSION */
  const char *name; /* "ref", "cpu", "cuda" */

  /* Can this machine run it? Any thread, before open. FALSE with a sentence that says why and what to do. Touches the device only here. */
  gboolean (*available)(GError **error);
  /* Opens it on the calling thread, which owns it from then on. */
  TmBackend *(*open)(const TmBackendOptions *options, GError **error);
  /* Called once, after everything made with it was released; the owner's thread. Cannot fail. */
  void (*close)(TmBackend *b);
  void (*info)(TmBackend *b, TmBackendInfo *out);

  /* Asked of each step before anything is built: can you run @op (a TmOp or a TmFused) made of @node (the first node of a pattern)
   * with activations of @precision? The same question has the same answer for as long as the backend is open. */
  gboolean (*supports)(TmBackend *b, int op, const TmNode *node, TmDType precision);
  /* (optional; default: no) May this operand of the step be a channel slice (ld > C)? @operand: input 0.., or ~0, ~1.. for outputs. As
   * lasting as `supports`. */
  gboolean (*takes_slice)(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision);

  /* Zeroed memory of the device, aligned to 64 bytes or more. NULL with TM_ERROR_NO_MEMORY. */
  void *(*alloc)(TmBackend *b, gsize bytes, GError **error);
  void (*release)(TmBackend *b, void *p, gsize bytes);
  /* Host to device and back, between a view and dense host memory in stored order, converting the type. Returns when the host memory may
   * be reused. Ordered after all work given before. */
  gboolean (*write)(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error);
  gboolean (*read)(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error);

  /* Once per program, after its values were placed: makes primitives, graphs, scratch space. The result is program->prepared. */
  gpointer (*prepare)(TmBackend *b, TmProgram *program, GError **error);
  /* Runs all steps once. May return before the work is done. Weights may have changed since the last run if params->version moved.
   * Where the steps run one after the other before it returns, it notes in program->marked when step program->mark began. */
  gboolean (*run)(TmBackend *b, TmProgram *program, GError **error);
  void (*discard)(TmBackend *b, gpointer prepared);
  /* (optional; default: 0) Bytes that `prepare` would take for @plan, a program of tm_program_plan(): packed weights, work space. May make
   * and free what it asks about. */
  gboolean (*needs)(TmBackend *b, const TmProgram *plan, gsize *bytes, GError **error);

  /* Sum of squares of n f32 on the device, in double, to the host; infinite or NaN elements make it so. Deterministic for one thread count. */
  gboolean (*sum_squares)(TmBackend *b, const float *x, gsize n, double *out, GError **error);
  gboolean (*update)(TmBackend *b, const TmUpdate *u, GError **error);
  /* y = a*x + c*y over n f32 of the device: gradient accumulation, averages, copies (c = 0 does not read y). */
  gboolean (*axpby)(TmBackend *b, float a, const float *x, float c, float *y, gsize n, GError **error);

  /* (optional, both; default: the caller's business) Begins a step: the program, then the update unless loss or gradient are not finite;
   * and waits for it, which must follow before the program, its parameters or @step's arrays are used in another way. */
  gboolean (*train_begin)(TmBackend *b, TmProgram *program, const TmTrainStep *step, GError **error);
  gboolean (*train_end)(TmBackend *b, TmTrained *out, GError **error);
  /* (optional, both; default: `write`) Begins to bring @n blocks of host memory to the device beside the work given before; returns when
   * that memory may be reused. `fill` puts the blocks of the latest call into dense views of their sizes, once, in the order of work. */
  gboolean (*stage)(TmBackend *b, guint n, const void *const *src, const gsize *bytes, GError **error);
  gboolean (*fill)(TmBackend *b, guint n, const TmView *dst, GError **error);

  /* (optional; default: nothing to wait for) Waits until all work given so far is done. */
  gboolean (*synchronize)(TmBackend *b, GError **error);
  /* (optional) What the device does at best, measured in a moment: operations a second with elements of @type (a multiply-add counts
   * two), and bytes a second read and written by a large copy. For timings to be compared with. */
  gboolean (*peak)(TmBackend *b, TmDType type, double *flops, double *bytes, GError **error);
  /* (optional; default: pictures go to the screen through host memory) Keeps pictures on the device until they are drawn. */
  const TmVisibleApi *visible;
} TmBackendApi;

struct _TmBackend {
  const TmBackendApi *api;
  GThread *owner; /* asserted by the functions below */
  /* the implementation's fields follow */
};

/* ---- the functions to call ---- */

/** Names of all backends built in or found, best first, NULL-terminated, static: {"cuda", "cpu", "ref"}. */
const char *const *tm_backend_names(void);
/** Why @name cannot be used here, as a sentence in @error; TRUE if it can. Any thread. */
gboolean tm_backend_available(const char *name, GError **error);
/** Opens @name, or the best usable one for "auto" or NULL. Owned by the calling thread until tm_backend_close(). */
TmBackend *tm_backend_open(const char *name, const TmBackendOptions *options, GError **error);
void tm_backend_close(TmBackend *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmBackend, tm_backend_close)
void tm_backend_info(TmBackend *b, TmBackendInfo *out);
void tm_backend_info_clear(TmBackendInfo *info);

gboolean tm_backend_supports(TmBackend *b, int op, const TmNode *node, TmDType precision);
gboolean tm_backend_takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision);
void *tm_backend_alloc(TmBackend *b, gsize bytes, GError **error);
void tm_backend_release(TmBackend *b, void *p, gsize bytes);
gboolean tm_backend_write(TmBackend *b, const TmView *dst, const void *src, TmDType from, GError **error);
gboolean tm_backend_read(TmBackend *b, const TmView *src, void *dst, TmDType to, GError **error);
gboolean tm_backend_needs(TmBackend *b, const TmProgram *plan, gsize *bytes, GError **error);
gboolean tm_backend_sum_squares(TmBackend *b, const float *x, gsize n, double *out, GError **error);
gboolean tm_backend_update(TmBackend *b, const TmUpdate *u, GError **error);
gboolean tm_backend_axpby(TmBackend *b, float a, const float *x, float c, float *y, gsize n, GError **error);
/** Does it take whole training steps, and batches while it computes? */
gboolean tm_backend_trains(TmBackend *b);
gboolean tm_backend_train_begin(TmBackend *b, TmProgram *program, const TmTrainStep *step, GError **error);
gboolean tm_backend_train_end(TmBackend *b, TmTrained *out, GError **error);
gboolean tm_backend_stage(TmBackend *b, guint n, const void *const *src, const gsize *bytes, GError **error);
gboolean tm_backend_fill(TmBackend *b, guint n, const TmView *dst, GError **error);
gboolean tm_backend_synchronize(TmBackend *b, GError **error);
/** FALSE with TM_ERROR_UNSUPPORTED when the backend has no measure of itself. */
gboolean tm_backend_peak(TmBackend *b, TmDType type, double *flops, double *bytes, GError **error);
/** NULL when its pictures go to the screen through host memory. */
const TmVisibleApi *tm_backend_visible(TmBackend *b);
