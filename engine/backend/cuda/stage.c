#include "engine/backend/cuda/stage.h"

#include <glib/gi18n.h>
#include <string.h>

enum { ALIGN = 256 };

static void free_one(CudaStage *s) {
  cudaFree(s->device);
  cudaFreeHost(s->pinned);
  if (s->sent) cudaEventDestroy(s->sent);
  if (s->used) cudaEventDestroy(s->used);
  *s = (CudaStage){0};
}

void tm_cuda_stages_free(CudaStages *all) {
  for (guint i = 0; i < CUDA_STAGES; i++) free_one(&all->one[i]);
  if (all->stream) cudaStreamDestroy(all->stream);
  *all = (CudaStages){0};
}

static gboolean make_one(CudaStage *s, gsize bytes, GError **error) {
  free_one(s);
  cudaError_t e = cudaMalloc(&s->device, bytes);
  if (e == cudaSuccess) e = cudaHostAlloc(&s->pinned, bytes, cudaHostAllocDefault);
  if (e == cudaSuccess) e = cudaEventCreateWithFlags(&s->sent, cudaEventDisableTiming);
  if (e == cudaSuccess) e = cudaEventCreateWithFlags(&s->used, cudaEventDisableTiming);
  if (e == cudaSuccess) {
    s->room = bytes;
    return TRUE;
  }
  free_one(s);
  return tm_cuda_ok(e, _("reserving memory"), error);
}

static gsize rounded(gsize bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Its memory is free again when it was sent (the pinned half) and used (the device's). */
static cudaError_t send(CudaStages *all, CudaStage *s, guint n, const void *const *src, const gsize *bytes) {
  cudaError_t e = s->busy ? cudaEventSynchronize(s->sent) : cudaSuccess;
  if (e == cudaSuccess && s->busy) e = cudaStreamWaitEvent(all->stream, s->used, 0);
  if (e != cudaSuccess) return e;
  gsize at = 0;
  for (guint i = 0; i < n; i++) {
    memcpy((char *)s->pinned + at, src[i], bytes[i]);
    at += rounded(bytes[i]);
  }
  e = cudaMemcpyAsync(s->device, s->pinned, at, cudaMemcpyHostToDevice, all->stream);
  return e == cudaSuccess ? cudaEventRecord(s->sent, all->stream) : e;
}

gboolean tm_cuda_stage(TmBackend *backend, guint n, const void *const *src, const gsize *bytes,
                       GError **error) {
  CudaStages *all = &((CudaBackend *)backend)->stages;
  CudaStage *s = &all->one[all->next];
  gsize total = 0;
  for (guint i = 0; i < n; i++) total += rounded(bytes[i]);
  if (!all->stream && !tm_cuda_ok(cudaStreamCreateWithFlags(&all->stream, cudaStreamNonBlocking),
                                  _("opening the GPU"), error))
    return FALSE;
  if (total > s->room && !make_one(s, total, error)) return FALSE;
  s->staged = FALSE;
  if (!tm_cuda_ok(send(all, s, n, src, bytes), _("copying to the GPU"), error)) return FALSE;
  s->staged = TRUE;
  all->next = (all->next + 1) % CUDA_STAGES;
  return TRUE;
}

gboolean tm_cuda_fill(TmBackend *backend, guint n, const TmView *dst, GError **error) {
  CudaBackend *b = (CudaBackend *)backend;
  CudaStage *s = &b->stages.one[(b->stages.next + CUDA_STAGES - 1) % CUDA_STAGES]; /* the latest */
  if (!s->staged) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_FAILED, _("No batch is on its way to the GPU."));
    return FALSE;
  }
  cudaError_t e = cudaStreamWaitEvent(b->queue.stream, s->sent, 0);
  gsize at = 0;
  for (guint i = 0; i < n && e == cudaSuccess; i++) {
    const gsize bytes = tm_shape_count(dst[i].shape) * tm_dtype_size(dst[i].dtype);
    e = cudaMemcpyAsync(dst[i].data, (char *)s->device + at, bytes, cudaMemcpyDeviceToDevice,
                        b->queue.stream);
    at += rounded(bytes);
  }
  if (e == cudaSuccess) e = cudaEventRecord(s->used, b->queue.stream);
  s->staged = FALSE;
  s->busy = e == cudaSuccess;
  return tm_cuda_ok(e, _("copying to the GPU"), error);
}
