/* conv_way.h: one way to run convolutions, as a table: own kernels of one algorithm, oneDNN, or plain C.
 * Private to engine/backend/cpu; the owner's thread. */
#pragma once

#include "engine/backend/cpu/conv.h"
#include "engine/backend/cpu/conv_shape.h"

typedef struct {
  const char *name; /* as in TmBackendOptions.convolutions */
  gboolean slices;  /* its activations may be channel slices */
  gboolean stats;   /* its forward kernel also makes the statistics of its result (the pattern CONV_STATS) */
  gboolean folds;   /* it packs weights from anywhere and adds bias and ReLU (the patterns CONV_BN_INFER) */
  /* Can it run this shape with activations of @type? Pure. */
  gboolean (*takes)(const CpuBackend *b, const CpuConvShape *s, TmDType type);
  /* Sets packed_bytes, team_work and scratch, and makes what it needs for @c, whose views are final. The
   * fields above packed are set. */
  gboolean (*prepare)(CpuConv *v, const CpuCall *c, GError **error);
  void (*clear)(CpuConv *v); /* (optional) frees what prepare made, even half of it */
  /* (optional) The packed weights again from @w: the f32 master or, folded, a copy that is gone afterwards.
   * Not called for gradients of weights. */
  gboolean (*pack)(CpuConv *v, const CpuCall *c, const float *w, GError **error);
  gboolean (*run)(CpuConv *v, const CpuCall *c, void *scratch, GError **error);
} CpuConvWay;

extern const CpuConvWay tm_cpu_conv_up2, tm_cpu_conv_direct, tm_cpu_conv_winograd;
/* Of ops and patterns that have no other: CONV_ARGMAX; the quantised convolutions. */
extern const CpuConvWay tm_cpu_conv_head, tm_cpu_conv_u8;
#ifdef TM_HAVE_ONEDNN
extern const CpuConvWay tm_cpu_conv_onednn;
#endif
extern const CpuConvWay tm_cpu_conv_plain;

/* One convolution step of a program. */
struct _CpuConv {
  const CpuConvWay *way;
  CpuBackend *backend;
  CpuConvShape shape;
  TmDType type;
  gboolean with_stats, folded, relu;
  gboolean lent; /* packed is somebody else's */
  float *folded_bias;
  const float *bias; /* added to the result, or NULL: an operand's or folded_bias */
  void *packed;      /* there after prepare when packed_bytes is set, its own or lent */
  gsize packed_bytes;
  gsize team_work; /* work space of each thread of the team */
  gsize scratch;   /* of all together: TmTeam.shared, oneDNN's scratchpad */
  gsize held;      /* bytes that prepare allocated */
  gpointer made;   /* prepare's own */
};

/** A step, an op or pattern @op, run in a given way; tm_cpu_conv_new() (conv.h) chooses it. */
CpuConv *tm_cpu_conv_new_way(CpuBackend *b, const CpuConvWay *way, const CpuConvShape *s, int op,
                             const CpuCall *c, gboolean lent, GError **error);
