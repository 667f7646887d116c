/* Copies of a part, into a part, between float types, with borders and channels of zeros. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/lanes.cuh"

/* One block: one row of y. P is V elements B, whose bits only matter. */
template <class P, class B, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    copy_bits(TmView x, int top, int left, TmView y, int shift) {
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / y.shape.h, h = (int)blockIdx.x % y.shape.h - top;
  if (c >= y.shape.c) return;
  for (int j = tm_row(shift); j < y.shape.w; j += tm_rows(shift)) {
    const int w = j - left;
    P p = {};
    if (h >= 0 && h < x.shape.h && w >= 0 && w < x.shape.w && c < x.shape.c)
      p = *reinterpret_cast<const P *>(tm_data<B>(x) + tm_at(x, (gsize)n * x.shape.h + h, w, c));
    *reinterpret_cast<P *>(tm_data<B>(y) + tm_at(y, blockIdx.x, j, c)) = p;
  }
}

template <class A, class B, int V>
static __global__ void __launch_bounds__(TM_THREADS)
    convert(TmView x, int top, int left, TmView y, int shift) {
  const int c = tm_channel<V>(shift), n = (int)blockIdx.x / y.shape.h, h = (int)blockIdx.x % y.shape.h - top;
  if (c >= y.shape.c) return;
  for (int j = tm_row(shift); j < y.shape.w; j += tm_rows(shift)) {
    const int w = j - left;
    float f[V];
    if (h >= 0 && h < x.shape.h && w >= 0 && w < x.shape.w && c < x.shape.c)
      tm_get(tm_data<A>(x) + tm_at(x, (gsize)n * x.shape.h + h, w, c), f);
    else
      tm_set(f, 0);
    tm_put(tm_data<B>(y) + tm_at(y, blockIdx.x, j, c), f);
  }
}

/* The same without a window: pixel by pixel, so that the shape does not matter. */
template <class P, class B, int V>
static __global__ void __launch_bounds__(TM_THREADS) copy_all(TmView x, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= y.shape.c) return;
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step)
    *reinterpret_cast<P *>(tm_data<B>(y) + p * (gsize)y.ld + c) =
        *reinterpret_cast<const P *>(tm_data<B>(x) + p * (gsize)x.ld + c);
}
template <class A, class B, int V>
static __global__ void __launch_bounds__(TM_THREADS) convert_all(TmView x, TmView y, TmWalk walk) {
  const int c = tm_channel<V>(walk.shift);
  if (c >= y.shape.c) return;
  const gsize rows = (gsize)tm_rows(walk.shift), step = rows * gridDim.x;
  for (gsize p = blockIdx.x * rows + (gsize)tm_row(walk.shift); p < walk.pixels; p += step) {
    float f[V];
    tm_get(tm_data<A>(x) + p * (gsize)x.ld + c, f);
    tm_put(tm_data<B>(y) + p * (gsize)y.ld + c, f);
  }
}

/* What a call is to do; plain: no window, so the shapes are alike. */
struct Job {
  TmView x, y;
  int top, left;
  bool plain;
};

/* Dense tensors are arrays: given a width that suits 16-byte accesses where they have one. */
static Job job_of(const TmView *x, int top, int left, const TmView *y) {
  Job j = {*x, *y, top, left, top == 0 && left == 0 && tm_shape_equal(x->shape, y->shape)};
  const gsize n = tm_shape_count(y->shape);
  const int c = n % 256 == 0 ? 256 : n % 16 == 0 ? 16 : 1;
  if (!j.plain || !tm_view_dense(x) || !tm_view_dense(y) || n / (gsize)c > G_MAXINT) return j;
  j.x.shape.n = j.y.shape.n = j.x.shape.h = j.y.shape.h = 1;
  j.x.shape.w = j.y.shape.w = (int)(n / (gsize)c);
  j.x.shape.c = j.y.shape.c = j.x.ld = j.y.ld = c;
  return j;
}

template <class P, class B, int V> static cudaError_t run_bits(const TmCudaQueue *q, const Job &j) {
  const TmLanes l = tm_lanes(j.y.shape.c, V);
  const TmWalk walk = {tm_shape_pixels(j.y.shape), l.shift};
  if (j.plain)
    return TM_LAUNCH((copy_all<P, B, V>),
                     dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles), dim3(TM_THREADS),
                     0, q->stream, j.x, j.y, walk);
  return TM_LAUNCH((copy_bits<P, B, V>), tm_row_grid(j.y.shape.n, j.y.shape.h, l), dim3(TM_THREADS), 0,
                   q->stream, j.x, j.top, j.left, j.y, l.shift);
}

/* May 16 bytes be moved at once? */
static bool wide_bits(const TmView &v, int V) {
  return v.shape.c % V == 0 && v.ld % V == 0 && (gsize)v.data % 16 == 0;
}

template <class B> static cudaError_t copy(const TmCudaQueue *q, const Job &j) {
  constexpr int V = 16 / sizeof(B);
  if (wide_bits(j.x, V) && wide_bits(j.y, V)) return run_bits<uint4, B, V>(q, j);
  return run_bits<B, B, 1>(q, j);
}

template <class A, class B, int V> static cudaError_t run_convert(const TmCudaQueue *q, const Job &j) {
  const TmLanes l = tm_lanes(j.y.shape.c, V);
  const TmWalk walk = {tm_shape_pixels(j.y.shape), l.shift};
  if (j.plain)
    return TM_LAUNCH((convert_all<A, B, V>),
                     dim3(tm_blocks(walk.pixels, l.shift, 2, 1 << 20), (unsigned)l.tiles), dim3(TM_THREADS),
                     0, q->stream, j.x, j.y, walk);
  return TM_LAUNCH((convert<A, B, V>), tm_row_grid(j.y.shape.n, j.y.shape.h, l), dim3(TM_THREADS), 0,
                   q->stream, j.x, j.top, j.left, j.y, l.shift);
}

template <class A>
static cudaError_t from(const TmCudaQueue *q, const Job &j){
    TM_SWITCH(j.y.dtype, tm_wide(&j.x) && tm_wide(&j.y), run_convert<A, T, V>(q, j))}

cudaError_t tm_cuda_window(const TmCudaQueue *q, const TmView *x, int top, int left, const TmView *y) {
  const Job j = job_of(x, top, left, y);
  if (x->dtype == y->dtype) switch (tm_dtype_size(x->dtype)) {
    case 1:
      return copy<guint8>(q, j);
    case 2:
      return copy<guint16>(q, j);
    default:
      return copy<guint32>(q, j);
    }
  switch (x->dtype) {
  case TM_F32:
    return from<float>(q, j);
  case TM_BF16:
    return from<TmBf16>(q, j);
  case TM_F16:
    return from<TmF16>(q, j);
  default:
    return cudaErrorInvalidValue;
  }
}
