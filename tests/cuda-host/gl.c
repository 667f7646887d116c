/* gl.c: CUDA's OpenGL interop on the host. While a buffer is mapped it really is, so that OpenGL refuses to
 * touch it; CUDA gets a fresh block of poisoned device memory each time, whose content moves to OpenGL at the
 * end. Without OpenGL at build time no device draws anywhere. */
#include "engine/backend/cuda/gl.h"
#include "tests/cuda-host/gl.h"
#include "tm_host.h"

#include <stdlib.h>
#include <string.h>

static int device, misuse;

void tm_host_gl_device(int d) {
  device = d;
}
int tm_host_gl_misuse(void) {
  const int n = misuse;
  misuse = 0;
  return n;
}

#ifdef TM_HAVE_EPOXY
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <epoxy/glx.h>

struct cudaGraphicsResource {
  unsigned buffer, flags;
  size_t size;
  void *context, *gl, *memory;
};

static void *current(void) {
  void *c = eglGetCurrentContext();
  return c ? c : (void *)glXGetCurrentContext();
}

static cudaError_t wrong(cudaError_t e) {
  misuse++;
  return tm_host_set_error(e);
}

static cudaError_t devices(unsigned *n, int *d, unsigned most) {
  const cudaError_t e = tm_host_fault("cudaGLGetDevices");
  if (e != cudaSuccess) return e;
  if (!current()) return wrong(cudaErrorInvalidGraphicsContext);
  *n = 1;
  if (most) d[0] = device;
  return cudaSuccess;
}

static cudaError_t add(struct cudaGraphicsResource **r, unsigned buffer, unsigned flags) {
  GLint size = 0;
  const cudaError_t e = tm_host_fault("cudaGraphicsGLRegisterBuffer");
  if (e != cudaSuccess) return e;
  if (!current()) return wrong(cudaErrorInvalidGraphicsContext);
  if (!glIsBuffer(buffer)) return wrong(cudaErrorInvalidValue);
  glBindBuffer(GL_COPY_READ_BUFFER, buffer);
  glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
  glBindBuffer(GL_COPY_READ_BUFFER, 0);
  if (size <= 0 || !(*r = calloc(1, sizeof **r))) return wrong(cudaErrorInvalidValue);
  **r = (struct cudaGraphicsResource){
      .buffer = buffer, .flags = flags, .size = (size_t)size, .context = current()};
  return cudaSuccess;
}

/* Everything that follows needs the context of the buffer, and the buffer. */
static int usable(const struct cudaGraphicsResource *r) {
  return current() == r->context && glIsBuffer(r->buffer);
}

static cudaError_t remove_buffer(struct cudaGraphicsResource *r) {
  const int good = usable(r) && !r->gl;
  free(r);
  return good ? cudaSuccess : wrong(cudaErrorInvalidResourceHandle);
}

static cudaError_t map_one(struct cudaGraphicsResource *r) {
  if (!usable(r)) return wrong(cudaErrorInvalidGraphicsContext);
  if (r->gl) return wrong(cudaErrorAlreadyMapped);
  const cudaError_t e = cudaMalloc(&r->memory, r->size);
  if (e != cudaSuccess) return e;
  glBindBuffer(GL_COPY_WRITE_BUFFER, r->buffer);
  r->gl = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)r->size, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
  glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
  if (r->gl && !(r->flags & CUDA_GL_WRITE_DISCARD)) memcpy(r->memory, r->gl, r->size);
  if (r->gl) return cudaSuccess;
  cudaFree(r->memory);
  r->memory = NULL;
  return wrong(cudaErrorMapBufferObjectFailed);
}

static cudaError_t map(int n, struct cudaGraphicsResource **r, cudaStream_t s) {
  enum cudaStreamCaptureStatus capture;
  cudaError_t e = tm_host_fault("cudaGraphicsMapResources");
  if (e == cudaSuccess) e = cudaStreamIsCapturing(s, &capture);
  if (e == cudaSuccess && capture != cudaStreamCaptureStatusNone)
    e = wrong(cudaErrorStreamCaptureUnsupported);
  for (int i = 0; i < n && e == cudaSuccess; i++) e = map_one(r[i]);
  return e;
}

static cudaError_t unmap(int n, struct cudaGraphicsResource **r, cudaStream_t s) {
  const cudaError_t fault = tm_host_fault("cudaGraphicsUnmapResources"),
                    done = cudaStreamSynchronize(s); /* waits for the work */
  cudaError_t e = fault != cudaSuccess ? fault : done;
  for (int i = 0; i < n; i++) {
    if (!usable(r[i]) || !r[i]->gl) return wrong(cudaErrorNotMapped);
    memcpy(r[i]->gl, r[i]->memory, r[i]->size);
    glBindBuffer(GL_COPY_WRITE_BUFFER, r[i]->buffer);
    if (!glUnmapBuffer(GL_COPY_WRITE_BUFFER)) e = wrong(cudaErrorUnmapBufferObjectFailed);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    cudaFree(r[i]->memory);
    r[i]->gl = r[i]->memory = NULL;
  }
  return e;
}

static cudaError_t pointer(void **p, size_t *bytes, struct cudaGraphicsResource *r) {
  const cudaError_t e = tm_host_fault("cudaGraphicsResourceGetMappedPointer");
  if (e != cudaSuccess) return e;
  if (!r->gl) return wrong(cudaErrorNotMapped);
  *p = r->memory;
  *bytes = r->size;
  return cudaSuccess;
}

const CudaGl tm_cuda_gl = {devices, add, remove_buffer, map, unmap, pointer};
#else
static cudaError_t devices(unsigned *n, int *d, unsigned most) {
  (void)n, (void)d, (void)most;
  return tm_host_set_error(cudaErrorOperatingSystem);
}

const CudaGl tm_cuda_gl = {.devices = devices};
#endif
