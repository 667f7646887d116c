/* Blends the colours of classes over a picture: what is drawn on the screen, made where the labels are. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.cuh"

enum { THREADS = 256, VOID = 255 };

/* The class to draw, or -1. Where truth is void nobody can be wrong. */
static __device__ __forceinline__ int drawn(const TmCudaPaint &p, gsize i) {
  if (!p.truth) return p.labels[i];
  return p.truth[i] == VOID || p.truth[i] == p.labels[i] ? -1 : p.labels[i];
}

static __global__ void __launch_bounds__(THREADS) paint(TmCudaPaint p, gsize n, float opacity, uchar4 *rgba) {
  const gsize i = (gsize)blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  const int label = drawn(p, i);
  const guint32 colour = label < 0 ? 0 : p.palette[label];
  const float share = (float)(colour >> 24) / 255 * opacity;
  unsigned char out[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const float over = (float)((colour >> (16 - 8 * c)) & 255), under = (float)p.pixels[3 * i + (gsize)c];
    out[c] = (unsigned char)rintf(under + share * (over - under));
  }
  rgba[i] =
      uchar4{out[0], out[1], out[2], 255}; /* the picture below is opaque, so premultiplied is the same */
}

cudaError_t tm_cuda_paint(const TmCudaQueue *q, const TmCudaPaint *p, guint8 *rgba) {
  const gsize n = (gsize)p->w * (gsize)p->h;
  const float opacity = p->opacity > 0 ? (p->opacity < 1 ? p->opacity : 1) : 0;
  return TM_LAUNCH(paint, dim3((unsigned)((n + THREADS - 1) / THREADS)), dim3(THREADS), 0, q->stream, *p, n,
                   opacity, (uchar4 *)rgba);
}
