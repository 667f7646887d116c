/* Stand-in for cuda_runtime.h: the CUDA C++ dialect as plain C++17, so that
 * the same .cu file runs on the CPU. Anything not here is not allowed in a
 * kernel: that is the point, it keeps the kernels inside what the tests see.
 *
 * Kernels launch through TM_LAUNCH (kernels/tm_launch.h) and take dynamic
 * shared memory through TM_DYN_SHARED. */
#ifndef TM_HOST_CUDA_RUNTIME_H
#define TM_HOST_CUDA_RUNTIME_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>
#include "tm_host.h"

#define __global__
#define __grid_constant__ /* an argument that stays where it was passed */
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __restrict__ __restrict
/* All shared variables go to one section, which exec.cpp fills with 0xFF
 * (NaN as float, half and bf16) before every block. One block runs at a
 * time, so one copy is enough. "used", or clang takes one that is never
 * written for zero. */
#define __shared__ static __attribute__((section("tm_shared"), used))

/* --- where am I ------------------------------------------------------ */
struct tm_self {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
  unsigned linear;
};
extern tm_self tm_self_now;
#define threadIdx (tm_self_now.thread)
#define blockIdx (tm_self_now.block)
#define blockDim (tm_self_now.block_dim)
#define gridDim (tm_self_now.grid_dim)
constexpr int warpSize = 32;

/* --- barriers and warp operations ------------------------------------ */
#define TM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
void tm_host_barrier(const char *file, int line);
enum { TM_SHFL, TM_UP, TM_DOWN, TM_XOR, TM_BALLOT, TM_SYNCWARP };
uint64_t tm_host_warp(int op, unsigned mask, uint64_t value, int arg, int width, const char *file, int line);

static inline void __syncthreads(TM_HERE) {
  tm_host_barrier(file, line);
}
static inline void __syncwarp(unsigned mask = ~0u, TM_HERE) {
  tm_host_warp(TM_SYNCWARP, mask, 0, 0, 32, file, line);
}
template <class T>
static inline T tm_shfl(int op, unsigned mask, T v, int arg, int width, const char *file, int line) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffle of a plain value");
  uint64_t in = 0;
  std::memcpy(&in, &v, sizeof v);
  in = tm_host_warp(op, mask, in, arg, width, file, line);
  std::memcpy(&v, &in, sizeof v);
  return v;
}
template <class T> static inline T __shfl_sync(unsigned m, T v, int src, int w = 32, TM_HERE) {
  return tm_shfl(TM_SHFL, m, v, src, w, file, line);
}
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32, TM_HERE) {
  return tm_shfl(TM_UP, m, v, (int)d, w, file, line);
}
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32, TM_HERE) {
  return tm_shfl(TM_DOWN, m, v, (int)d, w, file, line);
}
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int x, int w = 32, TM_HERE) {
  return tm_shfl(TM_XOR, m, v, x, w, file, line);
}
static inline unsigned __ballot_sync(unsigned m, int p, TM_HERE) {
  return (unsigned)tm_host_warp(TM_BALLOT, m, p != 0, 0, 32, file, line);
}
static inline int __any_sync(unsigned m, int p, TM_HERE) {
  return tm_host_warp(TM_BALLOT, m, p != 0, 0, 32, file, line) != 0;
}
static inline int __all_sync(unsigned m, int p, TM_HERE) {
  return (unsigned)tm_host_warp(TM_BALLOT, m, p != 0, 0, 32, file, line) == m;
}
static inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* --- atomics: relaxed, as on the device, and visible to TSan ---------- */
template <class T> static inline T tm_atomic_int(T *p, T v) {
  return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
static inline int atomicAdd(int *p, int v) {
  return tm_atomic_int(p, v);
}
static inline unsigned atomicAdd(unsigned *p, unsigned v) {
  return tm_atomic_int(p, v);
}
static inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) {
  return tm_atomic_int(p, v);
}
static inline float atomicAdd(float *p, float v) {
  uint32_t *q = (uint32_t *)p, was = __atomic_load_n(q, __ATOMIC_RELAXED), now;
  float f;
  do {
    std::memcpy(&f, &was, 4);
    f += v;
    std::memcpy(&now, &f, 4);
  } while (!__atomic_compare_exchange_n(q, &was, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  std::memcpy(&f, &was, 4);
  return f;
}
static inline int atomicOr(int *p, int v) {
  return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
static inline unsigned atomicOr(unsigned *p, unsigned v) {
  return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
static inline int atomicMax(int *p, int v) {
  int was = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (was < v && !__atomic_compare_exchange_n(p, &was, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return was;
}
static inline unsigned atomicExch(unsigned *p, unsigned v) {
  return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
static inline int atomicExch(int *p, int v) {
  return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}

/* --- loads, bits and maths ------------------------------------------- */
template <class T> static inline T __ldg(const T *p) {
  return *p;
}
template <class T> static inline T __ldcs(const T *p) {
  return *p;
}
template <class T> static inline void __stcs(T *p, T v) {
  *p = v;
}
template <class A, class B> static inline A tm_bits(B b) {
  static_assert(sizeof(A) == sizeof(B), "same size");
  A a;
  std::memcpy(&a, &b, sizeof a);
  return a;
}
static inline int __float_as_int(float f) {
  return tm_bits<int>(f);
}
static inline unsigned __float_as_uint(float f) {
  return tm_bits<unsigned>(f);
}
static inline float __int_as_float(int i) {
  return tm_bits<float>(i);
}
static inline float __uint_as_float(unsigned i) {
  return tm_bits<float>(i);
}
static inline int __popc(unsigned v) {
  return __builtin_popcount(v);
}
static inline int __ffs(int v) {
  return __builtin_ffs(v);
}
static inline int __clz(int v) {
  return v ? __builtin_clz((unsigned)v) : 32;
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
static inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
/* Macros, because glibc declares functions of these names. */
#define __expf(x) expf(x)
#define __logf(x) logf(x)
static inline float __fdividef(float a, float b) {
  return a / b;
}
static inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
static inline int min(int a, int b) {
  return a < b ? a : b;
}
static inline int max(int a, int b) {
  return a > b ? a : b;
}
static inline unsigned min(unsigned a, unsigned b) {
  return a < b ? a : b;
}
static inline unsigned max(unsigned a, unsigned b) {
  return a > b ? a : b;
}
static inline float2 make_float2(float x, float y) {
  return float2{x, y};
}
static inline float4 make_float4(float x, float y, float z, float w) {
  return float4{x, y, z, w};
}
static inline uint2 make_uint2(unsigned x, unsigned y) {
  return uint2{x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return uint4{x, y, z, w};
}
static inline int4 make_int4(int x, int y, int z, int w) {
  return int4{x, y, z, w};
}

/* --- launch ---------------------------------------------------------- */
void *tm_host_dyn_shared(size_t align);
struct tm_host_call { /* a kernel with its arguments, copied at launch */
  virtual void run() = 0;
  virtual ~tm_host_call() {}
};
cudaError_t tm_host_launch(const char *name, dim3 grid, dim3 block, size_t smem, cudaStream_t s,
                           tm_host_call *call);
template <class... P, class... A>
static inline cudaError_t tm_host_launch_args(const char *name, void (*k)(P...), dim3 grid, dim3 block,
                                              size_t smem, cudaStream_t s, A... a) {
  struct bound : tm_host_call {
    void (*k)(P...);
    std::tuple<P...> args;
    bound(void (*f)(P...), P... p) : k(f), args(p...) {}
    void run() override { std::apply(k, args); }
  };
  return tm_host_launch(name, grid, block, smem, s, new bound(k, (P)a...));
}
#endif /* __cplusplus */
#endif
