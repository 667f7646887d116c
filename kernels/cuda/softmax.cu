/* Shares of the classes of each pixel. */
#include "kernels/cuda/classes.cuh"

template <class T, int N>
static __global__ void __launch_bounds__(TM_THREADS) softmax(TmView x, TmView y, gsize pixels, bool wide) {
  const int C = x.shape.c;
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels;
       p += (gsize)gridDim.x * TM_THREADS) {
    TmScores<T, N> s;
    float top;
    s.load(tm_data<T>(x) + p * (gsize)x.ld, C, tm_all_of(wide, x, p, pixels));
    const float inv = 1 / tm_soft(s, C, top);
    tm_put_classes<T, N>(tm_data<T>(y) + p * (gsize)y.ld, C, C, false,
                         [&](int c) { return expf(s.at(c) - top) * inv; });
  }
}

template <class T, int N> static cudaError_t run(const TmCudaQueue *q, const TmView *x, const TmView *y) {
  const gsize pixels = tm_shape_pixels(x->shape);
  return TM_LAUNCH((softmax<T, N>), tm_pixel_grid(pixels), dim3(TM_THREADS), 0, q->stream, *x, *y, pixels,
                   tm_wide_classes(x));
}

cudaError_t tm_cuda_softmax(const TmCudaQueue *q, const TmView *x, const TmView *y) {
  TM_CLASS_SWITCH(x->dtype, x->shape.c, run<T, N>(q, x, y))
}
