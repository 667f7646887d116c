/* transfer.c: host to device and back, through pinned memory: types are converted on the host, so that all
 * backends round alike; slices are packed and unpacked on the device. */
#include "engine/backend/cuda/cuda.h"

#include "engine/core/tensor.h"

#include <glib/gi18n.h>
#include <string.h>

/* A run of pixels of a view that fits in the staging memory. */
typedef struct {
  TmView part;        /* in the view's memory */
  TmView packed;      /* the same pixels side by side in the landing memory */
  gsize first, count; /* elements in stored order */
  gsize bytes;
} Piece;

/* 0 with @error for a slice whose pixels alone are larger. */
static gsize pixels_at_once(const TmView *v, GError **error) {
  const gsize n = CUDA_STAGING_BYTES / tm_dtype_size(v->dtype) / (gsize)v->shape.c;
  if (n == 0)
    g_set_error(error, TM_ERROR, TM_ERROR_SHAPE,
                _("A slice of %d channels is too wide to be copied to or from the GPU."), v->shape.c);
  return n;
}

static Piece piece_of(const CudaBackend *b, const TmView *v, gsize pixel, gsize pixels) {
  Piece p = {.part = *v, .first = pixel * (gsize)v->shape.c, .count = pixels * (gsize)v->shape.c};
  p.part.data = (char *)v->data + pixel * (gsize)v->ld * tm_dtype_size(v->dtype);
  p.part.shape = TM_SHAPE(1, v->shape.c, 1, (int)pixels);
  p.packed = p.part;
  p.packed.data = b->landing;
  p.packed.ld = v->shape.c;
  p.bytes = p.count * tm_dtype_size(v->dtype);
  return p;
}

static cudaError_t send_piece(CudaBackend *b, const TmView *v, const Piece *p) {
  const gboolean dense = tm_view_dense(v);
  cudaError_t e = cudaMemcpyAsync(dense ? p->part.data : b->landing, b->staging, p->bytes,
                                  cudaMemcpyHostToDevice, b->queue.stream);
  if (e == cudaSuccess && !dense) e = tm_cuda_window(&b->queue, &p->packed, 0, 0, &p->part);
  return e == cudaSuccess ? cudaStreamSynchronize(b->queue.stream) : e;
}

static cudaError_t fetch_piece(CudaBackend *b, const TmView *v, const Piece *p) {
  const gboolean dense = tm_view_dense(v);
  cudaError_t e = dense ? cudaSuccess : tm_cuda_window(&b->queue, &p->part, 0, 0, &p->packed);
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(b->staging, dense ? p->part.data : b->landing, p->bytes, cudaMemcpyDeviceToHost,
                        b->queue.stream);
  return e == cudaSuccess ? cudaStreamSynchronize(b->queue.stream) : e;
}

/* A pixel wider than the staging memory is a vector, and dense: cut it into pixels of one element. */
static TmView walkable(const TmView *v) {
  TmView w = *v;
  if (tm_view_dense(v) && tm_shape_count(v->shape) <= G_MAXINT) {
    w.shape = TM_SHAPE(1, 1, 1, (int)tm_shape_count(v->shape));
    w.ld = 1;
  }
  return w;
}

gboolean tm_cuda_write(TmBackend *backend, const TmView *dst, const void *src, TmDType from, GError **error) {
  CudaBackend *b = (CudaBackend *)backend;
  const TmView v = walkable(dst);
  const gsize all = tm_shape_pixels(v.shape), most = pixels_at_once(&v, error);
  if (most == 0) return FALSE;
  for (gsize at = 0; at < all; at += most) {
    const Piece p = piece_of(b, &v, at, MIN(most, all - at));
    tm_convert(b->staging, v.dtype, (const char *)src + p.first * tm_dtype_size(from), from, p.count);
    if (!tm_cuda_ok(send_piece(b, &v, &p), _("copying to the GPU"), error)) return FALSE;
  }
  return TRUE;
}

gboolean tm_cuda_read(TmBackend *backend, const TmView *src, void *dst, TmDType to, GError **error) {
  CudaBackend *b = (CudaBackend *)backend;
  const TmView v = walkable(src);
  const gsize all = tm_shape_pixels(v.shape), most = pixels_at_once(&v, error);
  if (most == 0) return FALSE;
  for (gsize at = 0; at < all; at += most) {
    const Piece p = piece_of(b, &v, at, MIN(most, all - at));
    if (!tm_cuda_ok(fetch_piece(b, &v, &p), _("copying from the GPU"), error)) return FALSE;
    tm_convert((char *)dst + p.first * tm_dtype_size(to), to, b->staging, v.dtype, p.count);
  }
  return TRUE;
}

const void *tm_cuda_send(CudaBackend *b, const void *value, gsize bytes, GError **error) {
  if (b->slot == CUDA_SLOTS) {
    if (!tm_cuda_ok(cudaStreamSynchronize(b->queue.stream), _("waiting for the GPU"), error)) return NULL;
    b->slot = 0;
  }
  guint8 *slot = b->slots + CUDA_SLOT_BYTES * b->slot++;
  memcpy(slot, value, bytes);
  const cudaError_t e = cudaMemcpyAsync(b->device_slot, slot, bytes, cudaMemcpyHostToDevice, b->queue.stream);
  return tm_cuda_ok(e, _("copying to the GPU"), error) ? b->device_slot : NULL;
}
