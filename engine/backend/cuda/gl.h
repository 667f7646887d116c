/* gl.h: the six calls between CUDA and OpenGL, as a table: the module's has the runtime's own (gl.c), the
 * tests on the host bring one that checks the order of the calls and the context. The OpenGL context must be
 * current in all of them. */
#pragma once

#include <cuda_runtime_api.h>

typedef struct {
  cudaError_t (*devices)(unsigned *n, int *devices,
                         unsigned most); /* those that draw in the current context */
  cudaError_t (*add)(struct cudaGraphicsResource **r, unsigned buffer, unsigned flags);
  cudaError_t (*remove)(struct cudaGraphicsResource *r);
  cudaError_t (*map)(int n, struct cudaGraphicsResource **r, cudaStream_t s);
  cudaError_t (*unmap)(int n, struct cudaGraphicsResource **r, cudaStream_t s);
  cudaError_t (*pointer)(void **p, size_t *bytes, struct cudaGraphicsResource *r);
} CudaGl;

enum { CUDA_GL_WRITE_DISCARD = 2 }; /* cudaGraphicsRegisterFlagsWriteDiscard */

extern const CudaGl tm_cuda_gl;
