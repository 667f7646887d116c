/* kernels.h: the numeric kernels of the cpu engine, as tables, one per instruction set, chosen when the
 * program runs.
 *
 * A kernel allocates nothing, keeps nothing and cannot fail: its caller checks shapes. It runs on the team's
 * threads (OpenMP) and returns when all are done. Sums are cut by thread, or by pieces that depend on the
 * shape alone, and added in order: the same thread count gives the same bits. Work without sums is given out
 * piece by piece, so that a thread that other programs slow down holds up nobody. */
#pragma once

#include "engine/core/view.h"

/* How many threads a call may use, and their work space. One call at a time per team. */
typedef struct {
  int threads;
  void *work;   /* threads * stride bytes, 64-byte aligned */
  gsize stride; /* bytes of each thread: at least tm_kernels_work() of the widest operand, a multiple of 64 */
  void *shared; /* work space of all together, 64-byte aligned: for kernels that say so */
} TmTeam;

typedef struct {
  const float *mean, *var;   /* C each; var is biased when it is a batch's */
  const float *gamma, *beta; /* C each; beta unused by bn_dx */
  float eps;
} TmBatchNorm;

typedef enum {
  TM_MAP_RELU,       /* max(0, a) */
  TM_MAP_RELU_DX,    /* a where b > 0, else 0 */
  TM_MAP_SIGMOID,    /* 1 / (1 + exp(-a)) */
  TM_MAP_SIGMOID_DX, /* a b (1 - b) */
  TM_MAP_ADD,        /* a + b */
  TM_MAP_MUL,        /* a b */
  TM_MAP_SCALE,      /* k a */
} TmMapOp;

typedef enum { TM_RULE_SGD, TM_RULE_ADAM, TM_RULE_ADAMW } TmRule;

/* One optimizer step over n elements; the formulas are engine/backend/backend.h's TmUpdate. */
typedef struct {
  TmRule rule;
  gsize n;
  float *w, *m, *v; /* v unused by SGD */
  const float *g;
  float grad_scale, lr, beta1, beta2, eps, weight_decay, momentum;
  float correct1, correct2; /* 1 / (1 - beta^step), Adam's bias corrections */
  gboolean first;           /* SGD's first step: m = g, not momentum * m + g */
  float *ema;               /* or NULL */
  float ema_decay;
} TmUpdateRule;

typedef struct {
  const char *name; /* "AVX512-BF16", "AVX2", "plain C": static */
  gboolean bf16;    /* multiplies bf16 natively */
  int lanes;
#define TM_KERNEL(name, arguments) void(*name) arguments;
#include "kernels/kernels.def"
#include "kernels/winograd.def"
#undef TM_KERNEL
} TmKernels;

/** The fastest table this processor can run. Any thread. */
const TmKernels *tm_kernels_best(void);
/** All tables this processor can run, fastest first; @n is set to their number. */
const TmKernels *const *tm_kernels_usable(guint *n);

/** Bytes of work space a thread needs for every kernel but the convolutions', over operands of up to
 * @channels channels. */
gsize tm_kernels_work(int channels);
/** The same for up2_dw over @x's shape with @out channels of dy. */
gsize tm_kernels_up2_work(TmShape x, int out);
/** Bytes of packed weights for up2 and up2_dx: for the widest layout any table uses. */
gsize tm_kernels_up2_packed(int in, int out);
/** The same for 3x3 convolutions: packed weights, and work space of a thread for x's shape and element type
 * (and @out channels of y). */
gsize tm_kernels_conv3_packed(int out, int in);
gsize tm_kernels_conv3_work(TmShape x, TmDType type);
gsize tm_kernels_conv3_dw_work(TmShape x, TmDType type, int out);
/** Bytes that conv3 with stats needs in TmTeam.shared. */
gsize tm_kernels_conv3_shared(TmShape x, TmDType type, int out);
/** The same for head: of a picture @width pixels wide. */
gsize tm_kernels_head_packed(int out, int in);
gsize tm_kernels_head_work(int width, int out);
/** The same for the quantised convolutions of @taps weights an output and input channel. */
gsize tm_kernels_conv8_packed(int out, int in, int taps);
gsize tm_kernels_conv8_work(TmShape x, int side);
gsize tm_kernels_winograd8_work(TmShape x);
/** The same for the Winograd kernels. */
gsize tm_kernels_winograd_packed(int out, int in, TmDType type);
gsize tm_kernels_winograd_work(TmShape x, TmDType type);
gsize tm_kernels_winograd_shared(TmShape x, TmDType type, int out);
gsize tm_kernels_winograd_dw_work(TmShape x, TmDType type, int out);
gsize tm_kernels_winograd_dw_shared(TmShape x, TmDType type, int out); /* in TmTeam.shared */
