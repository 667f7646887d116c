/* Elementwise functions of one or two tensors. Dense ones are walked over as flat arrays, whatever their
 * shape; slices pixel by pixel; operands of different types element by element. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

static __device__ __forceinline__ float apply(TmMapOp op, float a, float b, float k) {
  switch (op) {
  case TM_MAP_RELU:
    return a <= 0 ? 0 : a; /* a NaN stays one, so that it is found */
  case TM_MAP_RELU_DX:
    return b > 0 ? a : 0;
  case TM_MAP_SIGMOID:
    return 1 / (1 + expf(-a));
  case TM_MAP_SIGMOID_DX:
    return a * b * (1 - b);
  case TM_MAP_ADD:
    return a + b;
  case TM_MAP_MUL:
    return a * b;
  default:
    return k * a;
  }
}

/* A switch outside of the loop, so that the loop is unrolled without it. */
template <int V>
static __device__ __forceinline__ void apply_all(TmMapOp op, float (&a)[V], const float (&b)[V], float k) {
#define EACH(OP)                                                                                             \
  case OP:                                                                                                   \
    _Pragma("unroll") for (int i = 0; i < V; i++) a[i] = apply(OP, a[i], b[i], k);                           \
    break;
  switch (op) {
    EACH(TM_MAP_RELU)
    EACH(TM_MAP_RELU_DX)
    EACH(TM_MAP_SIGMOID)
    EACH(TM_MAP_SIGMOID_DX)
    EACH(TM_MAP_ADD)
    EACH(TM_MAP_MUL)
    EACH(TM_MAP_SCALE)
  }
#undef EACH
}

template <class T>
static __global__ void __launch_bounds__(TM_THREADS)
    map_flat(TmMapOp op, const T *a, const T *b, float k, T *y, gsize n) {
  const gsize at = ((gsize)blockIdx.x * TM_THREADS + threadIdx.x) * 8;
  if (at + 8 <= n) {
    float f[8], g[8];
    TmPack<T, 8> p, r;
    p.load(a + at);
    if (b) r.load(b + at);
    p.get(f);
    if (b)
      r.get(g);
    else
      tm_set(g, 0);
    apply_all(op, f, g, k);
    tm_put(y + at, f);
    return;
  }
  for (gsize i = at; i < n; i++)
    y[i] = TmStored<T>::from(apply(op, tm_float(a[i]), b ? tm_float(b[i]) : 0, k));
}

template <class T, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    map_pixels(TmMapOp op, TmView a, TmView b, float k, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= y.shape.c) return;
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step) {
    float f[V], g[V];
    tm_get(tm_data<T>(a) + p * (gsize)a.ld + c, f);
    if (b.data)
      tm_get(tm_data<T>(b) + p * (gsize)b.ld + c, g);
    else
      tm_set(g, 0);
    apply_all(op, f, g, k);
    tm_put(tm_data<T>(y) + p * (gsize)y.ld + c, f);
  }
}

static __device__ float any(const TmView &v, gsize i) {
  return v.dtype == TM_F32    ? tm_data<float>(v)[i]
         : v.dtype == TM_BF16 ? tm_float(tm_data<TmBf16>(v)[i])
                              : tm_float(tm_data<TmF16>(v)[i]);
}

static __global__ void __launch_bounds__(TM_THREADS)
    map_mixed(TmMapOp op, TmView a, TmView b, float k, TmView y, TmWalk walk) {
  const int c = tm_channel<1>(walk.shift);
  if (c >= y.shape.c) return;
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step) {
    const float f = apply(op, any(a, p * (gsize)a.ld + c), b.data ? any(b, p * (gsize)b.ld + c) : 0, k);
    const gsize at = p * (gsize)y.ld + c;
    if (y.dtype == TM_F32)
      tm_data<float>(y)[at] = f;
    else if (y.dtype == TM_BF16)
      tm_data<TmBf16>(y)[at] = TmStored<TmBf16>::from(f);
    else
      tm_data<TmF16>(y)[at] = TmStored<TmF16>::from(f);
  }
}

static bool flat(const TmView *v) {
  return !v || (tm_view_dense(v) && (gsize)v->data % 16 == 0);
}

template <class T, int V>
static cudaError_t run(const TmCudaQueue *q, TmMapOp op, const TmView *a, const TmView *b, float k,
                       const TmView *y) {
  const TmView none = {};
  const TmLanes l = tm_lanes(y->shape.c, V);
  const TmWalk walk = {tm_shape_pixels(y->shape), l.shift};
  if (flat(a) && flat(b) && flat(y)) {
    const gsize n = tm_shape_count(y->shape), one = TM_THREADS * 8;
    return TM_LAUNCH((map_flat<T>), dim3((unsigned)((n + one - 1) / one)), dim3(TM_THREADS), 0, q->stream, op,
                     (const T *)a->data, b ? (const T *)b->data : (const T *)NULL, k, (T *)y->data, n);
  }
  return TM_LAUNCH((map_pixels<T, V>), dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles),
                   dim3(TM_THREADS), 0, q->stream, op, *a, b ? *b : none, k, *y, walk);
}

cudaError_t tm_cuda_map(const TmCudaQueue *q, TmMapOp op, const TmView *a, const TmView *b, float k,
                        const TmView *y) {
  if (a->dtype != y->dtype || (b && b->dtype != y->dtype)) {
    const TmView none = {};
    const TmLanes l = tm_lanes(y->shape.c, 1);
    const TmWalk walk = {tm_shape_pixels(y->shape), l.shift};
    return TM_LAUNCH(map_mixed, dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles),
                     dim3(TM_THREADS), 0, q->stream, op, *a, b ? *b : none, k, *y, walk);
  }
  TM_SWITCH(y->dtype, tm_wide(a) && (!b || tm_wide(b)) && tm_wide(y), run<T, V>(q, op, a, b, k, y))
}
