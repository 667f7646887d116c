/* ref.h: the reference backend: plain C loops, one op at a time, on one thread. It is slow and right: values
 * are stored in the type of their view (f32, bf16 or f16) and everything between load and store is double.
 * Private to engine/backend/ref. */
#pragma once

#include "engine/program/program.h"

/* One op at work. Views may be slices (ld > C), and the output may be the same memory as an input of its
 * shape: a kernel of that kind reads a pixel whole before it writes it. */
typedef struct {
  const TmNode *node;
  guint n_in;
  TmView in[TM_STEP_MAX_IN];
  TmView out;
  double *rows; /* the kernel's rows, each `wide` doubles: the channels of the widest operand, or more */
  gsize wide;
  double *extra; /* what the kernel's `extra` asked for */
} RefCall;

typedef struct {
  void (*run)(const RefCall *c); /* NULL: not an op that runs */
  guint rows;
  gsize (*extra)(const TmNode *n); /* (optional; default 0) doubles of work space beside the rows. Pure. */
} RefKernel;

/* One row per op, by family. */
#define REF_KERNEL(suffix) extern const RefKernel ref_##suffix;
REF_KERNEL(conv)
REF_KERNEL(conv_transpose)
REF_KERNEL(conv_dw)
REF_KERNEL(conv_u8)
REF_KERNEL(winograd_u8)
REF_KERNEL(conv_transpose_u8)
REF_KERNEL(argmax_u8)
REF_KERNEL(channel_sum)
REF_KERNEL(bn_stats)
REF_KERNEL(bn_apply)
REF_KERNEL(bn_infer)
REF_KERNEL(bn_reduce)
REF_KERNEL(bn_dx)
REF_KERNEL(bn_running)
REF_KERNEL(relu)
REF_KERNEL(relu_dx)
REF_KERNEL(sigmoid)
REF_KERNEL(sigmoid_dx)
REF_KERNEL(add)
REF_KERNEL(mul)
REF_KERNEL(scale)
REF_KERNEL(dropout)
REF_KERNEL(normalize)
REF_KERNEL(max_pool)
REF_KERNEL(max_pool_dx)
REF_KERNEL(upsample_nearest)
REF_KERNEL(upsample_nearest_dx)
REF_KERNEL(upsample_bilinear)
REF_KERNEL(upsample_bilinear_dx)
REF_KERNEL(concat)
REF_KERNEL(slice)
REF_KERNEL(slice_dx)
REF_KERNEL(pad)
REF_KERNEL(pad_dx)
REF_KERNEL(crop)
REF_KERNEL(crop_dx)
REF_KERNEL(softmax)
REF_KERNEL(cross_entropy)
REF_KERNEL(cross_entropy_dx)
REF_KERNEL(dice)
REF_KERNEL(dice_dx)
REF_KERNEL(focal)
REF_KERNEL(focal_dx)
REF_KERNEL(argmax)
REF_KERNEL(confusion)
#undef REF_KERNEL

/* ---- rows ---- */

static inline double *ref_row(const RefCall *c, guint i) {
  return c->rows + i * c->wide;
}
static inline gsize ref_pixel(TmShape s, int n, int h, int w) {
  return ((gsize)n * s.h + h) * s.w + w;
}

/** Loads channels c0 .. c0+count-1 of pixel @pixel (counted over N,H,W) as doubles. */
void ref_get(const TmView *v, gsize pixel, int c0, int count, double *dst);
/** Stores them, rounded to the view's type. */
void ref_put(const TmView *v, gsize pixel, int c0, int count, const double *src);
/** Loads or stores a whole pixel. */
static inline void ref_get_all(const TmView *v, gsize pixel, double *dst) {
  ref_get(v, pixel, 0, v->shape.c, dst);
}
static inline void ref_put_all(const TmView *v, gsize pixel, const double *src) {
  ref_put(v, pixel, 0, v->shape.c, src);
}
/** The label at @pixel, or -1 when it is void for @classes classes. */
static inline int ref_label(const TmView *v, gsize pixel, int classes) {
  const int label = ((const guint8 *)v->data)[pixel * (gsize)v->ld];
  return label < classes ? label : -1;
}
/** A STAT scalar. */
double ref_get_scalar(const TmView *v);
void ref_put_scalar(const TmView *v, double x);

/* ---- slots that are not ops ---- */

void ref_update(const TmUpdate *u);
