/* lanes.cuh: how the threads of a block lie over a tensor. A thread keeps to one group of V channels (its
 * lane), so that what belongs to a channel is read once, and walks over pixels: those of the whole tensor, or
 * of one row of a picture. No index is ever divided.
 *
 * lanes is the power of two that holds the groups, at most 32; wider tensors have several tiles (blockIdx.y).
 * rows = THREADS / lanes pixels are visited side by side. */
#pragma once

#include "engine/core/view.h"
#include "kernels/cuda/pack.cuh"

enum { TM_THREADS = 256, TM_MOST_LANES = 32 };

struct TmLanes {
  int shift; /* lanes = 1 << shift */
  int tiles;
};

static inline TmLanes tm_lanes(int channels, int V) {
  const int groups = (channels + V - 1) / V;
  TmLanes l = {0, 1};
  while ((1 << l.shift) < groups && (1 << l.shift) < TM_MOST_LANES) l.shift++;
  l.tiles = (groups + (1 << l.shift) - 1) >> l.shift;
  return l;
}

/* Device: the thread's first channel (beyond the last one for a thread with nothing to do), its row, and the
 * rows of a block. */
template <int V> static __device__ __forceinline__ int tm_channel(int shift) {
  return (int)((blockIdx.y << shift) + (threadIdx.x & ((1u << shift) - 1))) * V;
}
static __device__ __forceinline__ int tm_row(int shift) {
  return (int)(threadIdx.x >> shift);
}
static __device__ __forceinline__ int tm_rows(int shift) {
  return TM_THREADS >> shift;
}

/* Blocks that visit @pixels with at least @each pixels a thread, at most @most blocks. */
static inline unsigned tm_blocks(gsize pixels, int shift, int each, unsigned most) {
  const gsize one = (gsize)(TM_THREADS >> shift) * (gsize)each, n = (pixels + one - 1) / one;
  return (unsigned)(n < most ? n : most);
}

/* Grid of a kernel that walks over one row of a picture per block. */
static inline dim3 tm_row_grid(int n, int h, TmLanes l) {
  return dim3((unsigned)n * (unsigned)h, (unsigned)l.tiles);
}

/* May @v be read and written 8 channels at a time? */
static inline bool tm_wide(const TmView *v) {
  return v->shape.c % 8 == 0 && v->ld % 8 == 0 && (gsize)v->data % 16 == 0;
}

/* Device: pixel (n, h, w)'s element c, as an index. */
static __device__ __forceinline__ gsize tm_at(const TmView &v, gsize row, int w, int c) {
  return (row * (gsize)v.shape.w + (gsize)w) * (gsize)v.ld + (gsize)c;
}
template <class T> static __device__ __forceinline__ T *tm_data(const TmView &v) {
  return (T *)v.data;
}

template <int V> static __device__ __forceinline__ void tm_set(float (&f)[V], float x) {
#pragma unroll
  for (int i = 0; i < V; i++) f[i] = x;
}
/* Vectors over channels need not be aligned. */
template <int V> static __device__ __forceinline__ void tm_vector(const float *p, int c, float (&f)[V]) {
#pragma unroll
  for (int i = 0; i < V; i++) f[i] = p[c + i];
}

/* The same walk for all tensors of one launch: @pixels of the whole. */
struct TmWalk {
  gsize pixels;
  int shift;
};
