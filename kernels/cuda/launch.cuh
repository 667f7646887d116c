/* launch.cuh: the few things that plain C++ cannot spell. Everything else in a .cu file is ordinary CUDA that
 * the host stand-in (tests/cuda-host) also understands.
 *
 * Rules for kernels here: only the stand-in's intrinsics; full warp masks with all lanes alive; no return
 * before a barrier; blocks of a multiple of 32 threads; shared memory only by TM_DYN_SHARED (gcc drops the
 * section of static variables in templates, and with it what finds unset and raced ones); no float atomics,
 * so that runs repeat; compute in float, bf16 and f16 are storage; no runtime call but the launch. */
#pragma once

#include <cuda_runtime.h>

#ifdef __CUDACC__
/* Evaluates to the launch's cudaError_t. A kernel template goes in brackets: TM_LAUNCH((k<T>), ...). */
/* clang-format off */
#define TM_LAUNCH(kernel, grid, block, smem, stream, ...) \
  ((kernel)<<<(grid), (block), (smem), (stream)>>>(__VA_ARGS__), cudaGetLastError())
/* clang-format on */
/* One per kernel: a pointer to the launch's dynamic shared memory. */
#define TM_DYN_SHARED(type, name)                                                                            \
  extern __shared__ __align__(16) unsigned char tm_dyn_[];                                                   \
  type *name = reinterpret_cast<type *>(tm_dyn_)
#else
#define TM_LAUNCH(kernel, grid, block, smem, stream, ...)                                                    \
  tm_host_launch_args(#kernel, kernel, (grid), (block), (smem), (stream), __VA_ARGS__)
#define TM_DYN_SHARED(type, name) type *name = static_cast<type *>(tm_host_dyn_shared(alignof(type)))
#endif

/* Runs the expression with T the type of elements and V how many a thread takes at once: 8 where all views
 * allow 16-byte accesses (@wide), else 1. To be the last statement of a function that returns cudaError_t. */
#define TM_WITH_TYPE(type, wide, ...)                                                                        \
  {                                                                                                          \
    typedef type T;                                                                                          \
    if (wide) {                                                                                              \
      constexpr int V = 8;                                                                                   \
      return __VA_ARGS__;                                                                                    \
    }                                                                                                        \
    constexpr int V = 1;                                                                                     \
    return __VA_ARGS__;                                                                                      \
  }
#define TM_SWITCH(dtype, wide, ...)                                                                          \
  switch (dtype) {                                                                                           \
  case TM_F32:                                                                                               \
    TM_WITH_TYPE(float, wide, __VA_ARGS__)                                                                   \
  case TM_BF16:                                                                                              \
    TM_WITH_TYPE(TmBf16, wide, __VA_ARGS__)                                                                  \
  case TM_F16:                                                                                               \
    TM_WITH_TYPE(TmF16, wide, __VA_ARGS__)                                                                   \
  default:                                                                                                   \
    return cudaErrorInvalidValue;                                                                            \
  }
