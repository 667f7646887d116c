/* classes.cuh: what losses and readings share: the scores of one pixel, held in registers where there are at
 * most 16 (N = 16), else read again each time (N = 0), and the counting of labels. One thread: one pixel. */
#pragma once

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

enum { TM_PIXEL_BLOCKS = 2048, TM_VOID_FROM = 256 };

/* The head of the work space of a loss. */
struct TmLossWork {
  unsigned counts[TM_VOID_FROM]; /* pixels of each label */
  float share;                   /* 1 / sum of the weights of all counted pixels, 0 when there are none */
  float a[TM_VOID_FROM], b[TM_VOID_FROM]; /* dice: see there */
};
enum { TM_LOSS_WORK = 8192 }; /* where the blocks' sums begin */

static inline TmLossWork *tm_loss_work(const TmCudaQueue *q) {
  return (TmLossWork *)q->work;
}
static inline float *tm_loss_parts(const TmCudaQueue *q) {
  return (float *)((char *)q->work + TM_LOSS_WORK);
}

/* Can all of a pixel's scores be read 8 at a time? Up to 7 behind the last are read and not used, so the
 * pixels must be as far apart. */
static inline bool tm_wide_classes(const TmView *x) {
  return x->ld % 8 == 0 && x->ld == (x->shape.c + 7) / 8 * 8 && (gsize)x->data % 16 == 0;
}

/* Of the last pixel only what is its own may be read. */
static __device__ __forceinline__ bool tm_all_of(bool wide, const TmView &x, gsize pixel, gsize pixels) {
  return wide && (x.shape.c % 8 == 0 || pixel + 1 < pixels);
}

#define TM_EACH_CLASS(c, N, C) _Pragma("unroll") for (int c = 0; c < ((N) ? (N) : (C)); c++) if (c < (C))

template <class T, int N> struct TmScores {
  float z[N];
  __device__ __forceinline__ void load(const T *p, int C, bool wide) {
    tm_set(z, 0);
    if (wide) {
#pragma unroll
      for (int g = 0; g < N; g += 8) {
        if (g >= C) break;
        float f[8];
        tm_get(p + g, f);
#pragma unroll
        for (int i = 0; i < 8; i++) z[g + i] = f[i];
      }
      return;
    }
    TM_EACH_CLASS(c, N, C) z[c] = tm_float(p[c]);
  }
  __device__ __forceinline__ float at(int c) const {
    return z[c];
  }
};
template <class T> struct TmScores<T, 0> {
  const T *from;
  __device__ __forceinline__ void load(const T *p, int, bool) { from = p; }
  __device__ __forceinline__ float at(int c) const { return tm_float(from[c]); }
};

/* The largest score and the sum of exp(score - largest). */
template <class T, int N>
static __device__ __forceinline__ float tm_soft(const TmScores<T, N> &s, int C, float &top) {
  float sum = 0;
  top = s.at(0);
  TM_EACH_CLASS(c, N, C) top = fmaxf(top, s.at(c));
  TM_EACH_CLASS(c, N, C) sum += expf(s.at(c) - top);
  return sum;
}

/* Writes value(c) for each class, and 0 for the channels that only @y has. */
template <class T, int N, class F>
static __device__ __forceinline__ void tm_put_classes(T *y, int C, int channels, bool wide, F value) {
  if (N && wide) {
#pragma unroll
    for (int g = 0; g < N; g += 8) {
      if (g >= channels) break;
      float f[8];
#pragma unroll
      for (int i = 0; i < 8; i++) f[i] = g + i < C ? value(g + i) : 0;
      tm_put(y + g, f);
    }
    return;
  }
  TM_EACH_CLASS(c, N, C) y[c] = TmStored<T>::from(value(c));
  for (int c = C; c < channels; c++) y[c] = TmStored<T>::from(0);
}

static inline dim3 tm_pixel_grid(gsize pixels) {
  return dim3(tm_blocks(pixels, 0, 1, TM_PIXEL_BLOCKS));
}

/* Runs the expression with T, and N = 16 registers or none. As TM_SWITCH. */
#define TM_CLASS_TYPE(type, C, ...)                                                                          \
  {                                                                                                          \
    typedef type T;                                                                                          \
    if ((C) <= 16) {                                                                                         \
      constexpr int N = 16;                                                                                  \
      return __VA_ARGS__;                                                                                    \
    }                                                                                                        \
    constexpr int N = 0;                                                                                     \
    return __VA_ARGS__;                                                                                      \
  }
#define TM_CLASS_SWITCH(dtype, C, ...)                                                                       \
  switch (dtype) {                                                                                           \
  case TM_F32:                                                                                               \
    TM_CLASS_TYPE(float, C, __VA_ARGS__)                                                                     \
  case TM_BF16:                                                                                              \
    TM_CLASS_TYPE(TmBf16, C, __VA_ARGS__)                                                                    \
  case TM_F16:                                                                                               \
    TM_CLASS_TYPE(TmF16, C, __VA_ARGS__)                                                                     \
  default:                                                                                                   \
    return cudaErrorInvalidValue;                                                                            \
  }

/** Counts the labels into tm_loss_work()->counts and, with @weights, makes its share. */
cudaError_t tm_count_labels(const TmCudaQueue *q, const TmView *labels, const float *weights, int classes);
