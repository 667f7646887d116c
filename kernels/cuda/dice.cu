/* The soft Dice loss: 1 - mean over classes with truth of u / d, u = 2 sum p[y] + s, d = sum p^2 + sum t + s.
 * Its gradient by the share p[c] of a pixel of class y is b[c] p[c] - (c == y) a[c], with a = 2 / (present d)
 * and b = 2 u / (present d^2), both 0 for classes without truth. */
#include "kernels/cuda/classes.cuh"
#include "kernels/cuda/sums.cuh"

/* Shared: [TM_WARPS][2][C]: sums of p where c is the label, and of p^2. */
template <class T>
static __global__ void __launch_bounds__(TM_THREADS)
    dice_partial(TmView x, const guint8 *labels, gsize pixels, float *parts) {
  TM_DYN_SHARED(float, shared);
  const int C = x.shape.c, lane = (int)threadIdx.x & 31;
  float *mine = shared + ((int)threadIdx.x >> 5) * 2 * C;
  for (int c = lane; c < 2 * C; c += 32) mine[c] = 0;
  __syncwarp();
  for (gsize first = (gsize)blockIdx.x * TM_THREADS; first < pixels; first += (gsize)gridDim.x * TM_THREADS) {
    const gsize p = first + threadIdx.x;
    const int label = p < pixels ? labels[p] : C;
    TmScores<T, 0> s;
    float top = 0, inv = 0;
    s.load(tm_data<T>(x) + (p < pixels ? p : 0) * (gsize)x.ld, C, false);
    if (label < C) inv = 1 / tm_soft(s, C, top);
    for (int c = 0; c < C; c++) { /* all lanes, also those of void */
      const float share = label < C ? expf(s.at(c) - top) * inv : 0;
      float up = c == label ? share : 0, down = share * share;
      for (int d = 16; d > 0; d >>= 1) {
        up += __shfl_xor_sync(0xffffffffu, up, d);
        down += __shfl_xor_sync(0xffffffffu, down, d);
      }
      if (lane == 0) {
        mine[c] += up;
        mine[C + c] += down;
      }
    }
  }
  __syncthreads();
  for (int e = (int)threadIdx.x; e < 2 * C; e += TM_THREADS) {
    float t = 0;
    for (int w = 0; w < TM_WARPS; w++) t += shared[w * 2 * C + e];
    parts[(gsize)blockIdx.x * 2 * (gsize)C + (gsize)e] = t;
  }
}

/* One block; thread c: class c. Shared: up / down of each class, and whether it is there. */
static __global__ void __launch_bounds__(TM_THREADS)
    dice_finish(const float *parts, int n, int C, TmLossWork *work, float *loss) {
  TM_DYN_SHARED(double, ratio);
  const double smooth = 1e-6;
  const int c = (int)threadIdx.x;
  double up = smooth, down = smooth;
  if (c < C) {
    for (int i = 0; i < n; i++) {
      up += 2 * (double)parts[(gsize)i * 2 * (gsize)C + (gsize)c];
      down += (double)parts[((gsize)i * 2 + 1) * (gsize)C + (gsize)c];
    }
    down += work->counts[c];
  }
  ratio[c] = c < C && work->counts[c] ? up / down : -1;
  __syncthreads();
  int present = 0;
  double sum = 0;
  for (int i = 0; i < C; i++)
    if (ratio[i] >= 0 || ratio[i] != ratio[i]) {
      present++;
      sum += ratio[i];
    }
  if (c < C) {
    const bool there = work->counts[c] > 0;
    work->a[c] = there ? (float)(2 / (present * down)) : 0;
    work->b[c] = there ? (float)(2 * up / (present * down * down)) : 0;
  }
  if (c == 0 && loss) *loss = present ? (float)(1 - sum / present) : 0;
}

template <class T, int N>
static __global__ void __launch_bounds__(TM_THREADS, 2)
    dice_dx(TmView x, const guint8 *labels, const float *dloss, const TmLossWork *work, TmView dx,
            gsize pixels, bool wide_x, bool wide_dx) {
  const int C = x.shape.c;
  const float k = *dloss;
  for (gsize p = (gsize)blockIdx.x * TM_THREADS + threadIdx.x; p < pixels;
       p += (gsize)gridDim.x * TM_THREADS) {
    const int label = labels[p];
    T *to = tm_data<T>(dx) + p * (gsize)dx.ld;
    if (label >= C) {
      tm_put_classes<T, N>(to, C, dx.shape.c, wide_dx, [](int) { return 0.0f; });
      continue;
    }
    TmScores<T, N> s;
    float top, mean = 0;
    s.load(tm_data<T>(x) + p * (gsize)x.ld, C, tm_all_of(wide_x, x, p, pixels));
    const float inv = 1 / tm_soft(s, C, top);
    TM_EACH_CLASS(c, N, C) {
      const float share = expf(s.at(c) - top) * inv;
      mean += share * (share * work->b[c] - (c == label ? work->a[c] : 0));
    }
    tm_put_classes<T, N>(to, C, dx.shape.c, wide_dx, [&](int c) {
      const float share = expf(s.at(c) - top) * inv;
      return k * share * (share * work->b[c] - (c == label ? work->a[c] : 0) - mean);
    });
  }
}

template <class T, int N>
static cudaError_t run(const TmCudaQueue *q, const TmView *x, const TmView *labels, float *loss,
                       const float *dloss, const TmView *dx) {
  const gsize pixels = tm_shape_pixels(x->shape);
  const int C = x->shape.c;
  const dim3 grid(tm_blocks(pixels, 0, 1, TM_PARTS));
  const guint8 *truth = (const guint8 *)labels->data;
  TmLossWork *work = tm_loss_work(q);
  float *parts = tm_loss_parts(q);
  cudaError_t e = TM_LAUNCH((dice_partial<T>), grid, dim3(TM_THREADS),
                            TM_WARPS * 2 * (size_t)C * sizeof(float), q->stream, *x, truth, pixels, parts);
  if (e == cudaSuccess)
    e = TM_LAUNCH(dice_finish, dim3(1), dim3(TM_THREADS), TM_THREADS * sizeof(double), q->stream, parts,
                  (int)grid.x, C, work, loss);
  if (e != cudaSuccess || !dx) return e;
  return TM_LAUNCH((dice_dx<T, N>), tm_pixel_grid(pixels), dim3(TM_THREADS), 0, q->stream, *x, truth, dloss,
                   work, *dx, pixels, tm_wide_classes(x), tm_wide(dx));
}

cudaError_t tm_cuda_dice(const TmCudaQueue *q, const TmView *x, const TmView *labels, float *loss,
                         const float *dloss, const TmView *dx) {
  const cudaError_t e = tm_count_labels(q, labels, NULL, x->shape.c);
  if (e != cudaSuccess) return e;
  TM_CLASS_SWITCH(x->dtype, dx && dx->shape.c > x->shape.c ? dx->shape.c : x->shape.c,
                  run<T, N>(q, x, labels, loss, dloss, dx))
}
