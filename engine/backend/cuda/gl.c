/* gl.c: the runtime's own calls. Its header wants OpenGL's, for two integers: their prototypes stand here
 * instead. */
#include "engine/backend/cuda/gl.h"

cudaError_t cudaGLGetDevices(unsigned *n, int *devices, unsigned most, int list);
cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **r, unsigned buffer, unsigned flags);

enum { LIST_ALL = 1 };

static cudaError_t devices(unsigned *n, int *d, unsigned most) {
  return cudaGLGetDevices(n, d, most, LIST_ALL);
}

const CudaGl tm_cuda_gl = {.devices = devices,
                           .add = cudaGraphicsGLRegisterBuffer,
                           .remove = cudaGraphicsUnregisterResource,
                           .map = cudaGraphicsMapResources,
                           .unmap = cudaGraphicsUnmapResources,
                           .pointer = cudaGraphicsResourceGetMappedPointer};
