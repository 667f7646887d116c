/* visible.c: pictures that stay on the GPU until they are on the screen (engine/backend/visible.h). */
#include "engine/backend/cuda/cuda.h"
#include "engine/backend/cuda/gl.h"

#include <glib/gi18n.h>

/* One of the two pictures. */
typedef struct {
  guint8 *rgb, *labels, *truth;
  gboolean has_truth;
  guint64 number; /* 0: none, or being written */
  cudaEvent_t put, drawn;
  gboolean was_drawn;
} Half;

typedef struct {
  TmVisible base;
  int device, w, h;
  GMutex lock; /* of all below */
  Half half[2];
  guint64 last;
} Visible;

struct _TmCanvas {
  int device;
  gsize bytes;
  cudaStream_t stream;
  struct cudaGraphicsResource *buffer; /* NULL: own memory */
  void *own, *pinned;
  void *pixels; /* lent by `begin`; NULL between */
};

/* ---- the pictures ---- */

static void free_half(Half *h) {
  cudaFree(h->rgb); /* waits for what still reads it */
  cudaFree(h->labels);
  cudaFree(h->truth);
  if (h->put) cudaEventDestroy(h->put);
  if (h->drawn) cudaEventDestroy(h->drawn);
}

static void free_visible(TmVisible *base) {
  Visible *v = (Visible *)base;
  cudaSetDevice(v->device);
  for (int i = 0; i < 2; i++) free_half(&v->half[i]);
  cudaGetLastError(); /* of a lost device nothing can be freed, nor need be */
  g_mutex_clear(&v->lock);
  g_free(v);
}

static cudaError_t make_half(Half *h, gsize pixels) {
  cudaError_t e = cudaMalloc((void **)&h->rgb, 3 * pixels);
  if (e == cudaSuccess) e = cudaMalloc((void **)&h->labels, pixels);
  if (e == cudaSuccess) e = cudaMalloc((void **)&h->truth, pixels);
  if (e == cudaSuccess) e = cudaEventCreateWithFlags(&h->put, cudaEventDisableTiming);
  return e == cudaSuccess ? cudaEventCreateWithFlags(&h->drawn, cudaEventDisableTiming) : e;
}

static TmVisible *make(TmBackend *backend, int w, int h, GError **error) {
  const CudaBackend *b = (const CudaBackend *)backend;
  Visible *v = g_new0(Visible, 1);
  v->base.api = &tm_cuda_visible;
  g_atomic_ref_count_init(&v->base.refs);
  v->device = b->device;
  v->w = w;
  v->h = h;
  g_mutex_init(&v->lock);
  cudaError_t e = cudaSuccess;
  for (int i = 0; i < 2 && e == cudaSuccess; i++) e = make_half(&v->half[i], (gsize)w * (gsize)h);
  if (tm_cuda_ok(e, _("keeping a picture for the screen"), error)) return &v->base;
  free_visible(&v->base);
  return NULL;
}

static cudaError_t copy(const CudaBackend *b, guint8 *to, const TmView *from, gsize bytes) {
  return cudaMemcpyAsync(to, from->data, bytes, cudaMemcpyDeviceToDevice, b->queue.stream);
}

static gboolean fill(const Visible *v, Half *h, TmBackend *backend, const TmView *rgb, const TmView *labels,
                     const guint8 *truth, GError **error) {
  const CudaBackend *b = (const CudaBackend *)backend;
  const gsize pixels = (gsize)v->w * (gsize)v->h;
  cudaError_t e = h->was_drawn ? cudaStreamWaitEvent(b->queue.stream, h->drawn, 0) : cudaSuccess;
  if (e == cudaSuccess) e = copy(b, h->rgb, rgb, 3 * pixels);
  if (e == cudaSuccess) e = copy(b, h->labels, labels, pixels);
  if (!tm_cuda_ok(e, _("keeping a picture for the screen"), error)) return FALSE;
  const TmView t = {.data = h->truth, .dtype = TM_U8, .shape = TM_SHAPE(1, 1, v->h, v->w), .ld = 1};
  h->has_truth = truth != NULL;
  if (truth && !tm_cuda_write(backend, &t, truth, TM_U8, error)) return FALSE;
  return tm_cuda_ok(cudaEventRecord(h->put, b->queue.stream), _("keeping a picture for the screen"), error);
}

static gboolean fits(const Visible *v, const TmView *x, int channels) {
  return x->dtype == TM_U8 && x->shape.n == 1 && x->shape.c == channels && x->ld == channels &&
         x->shape.h == v->h && x->shape.w == v->w;
}

static guint64 put(TmVisible *base, TmBackend *backend, const TmView *rgb, const TmView *labels,
                   const guint8 *truth, GError **error) {
  Visible *v = (Visible *)base;
  if (!fits(v, rgb, 3) || !fits(v, labels, 1)) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_SHAPE, _("The picture for the screen has another size."));
    return 0;
  }
  guint64 number = 0;
  g_mutex_lock(&v->lock);
  Half *h = v->half[0].number <= v->half[1].number ? &v->half[0] : &v->half[1];
  h->number = 0;
  if (fill(v, h, backend, rgb, labels, truth, error)) {
    h->was_drawn = FALSE;
    h->number = number = ++v->last;
  }
  g_mutex_unlock(&v->lock);
  return number;
}

/* ---- the canvas ---- */

static void canvas_free(TmCanvas *c) {
  if (!c) return;
  cudaSetDevice(c->device);
  if (c->buffer && c->pixels) tm_cuda_gl.unmap(1, &c->buffer, c->stream);
  if (c->buffer) tm_cuda_gl.remove(c->buffer);
  cudaFree(c->own);
  cudaFreeHost(c->pinned);
  if (c->stream) cudaStreamDestroy(c->stream);
  cudaGetLastError();
  g_free(c);
}

/* Only where OpenGL draws on the very GPU that trains: from another a copy through the host is as fast, and
 * fails less. */
static gboolean draws_here(int device, GError **error) {
  int found[16];
  unsigned n = 0;
  const cudaError_t e = tm_cuda_gl.devices(&n, found, G_N_ELEMENTS(found));
  for (unsigned i = 0; e == cudaSuccess && i < MIN(n, G_N_ELEMENTS(found)); i++)
    if (found[i] == device) return TRUE;
  cudaGetLastError();
  if (e == cudaSuccess)
    g_set_error_literal(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                        _("another device than the GPU that trains draws this display"));
  else
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("this display does not offer its OpenGL to CUDA (%s)"), cudaGetErrorString(e));
  return FALSE;
}

static gboolean open_buffer(TmCanvas *c, guint buffer, GError **error) {
  return draws_here(c->device, error) && tm_cuda_ok(tm_cuda_gl.add(&c->buffer, buffer, CUDA_GL_WRITE_DISCARD),
                                                    _("sharing a buffer with OpenGL"), error);
}

static gboolean open_own(TmCanvas *c, GError **error) {
  cudaError_t e = cudaMalloc(&c->own, c->bytes);
  if (e == cudaSuccess) e = cudaHostAlloc(&c->pinned, c->bytes, cudaHostAllocDefault);
  return tm_cuda_ok(e, _("reserving memory for the screen"), error);
}

static TmCanvas *canvas(TmVisible *base, guint buffer, gsize bytes, GError **error) {
  TmCanvas *c = g_new0(TmCanvas, 1);
  c->device = ((Visible *)base)->device;
  c->bytes = bytes;
  cudaError_t e = cudaSetDevice(c->device);
  if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
  if (tm_cuda_ok(e, _("opening the GPU for the screen"), error) &&
      (buffer ? open_buffer(c, buffer, error) : open_own(c, error)))
    return c;
  canvas_free(c);
  return NULL;
}

static gboolean begin(TmCanvas *c, GError **error) {
  size_t room = c->bytes;
  void *pixels = c->own;
  cudaError_t e = cudaSetDevice(c->device);
  if (e == cudaSuccess && c->buffer) {
    e = tm_cuda_gl.map(1, &c->buffer, c->stream);
    if (e == cudaSuccess &&
        (e = tm_cuda_gl.pointer(&pixels, &room, c->buffer)) != cudaSuccess) /* it may move: asked each time */
      tm_cuda_gl.unmap(1, &c->buffer, c->stream);
  }
  if (!tm_cuda_ok(e, _("taking a buffer from OpenGL"), error)) return FALSE;
  c->pixels = pixels;
  if (room >= c->bytes) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_DEVICE, _("The buffer that OpenGL shares is too small."));
  return FALSE;
}

static cudaError_t draw_half(TmCanvas *c, Half *h, const TmCompose *how) {
  const TmCudaQueue q = {.stream = c->stream};
  TmCompose plain = *how;
  plain.rgb = h->rgb;
  plain.truth = how->truth && h->has_truth ? h->truth : NULL;
  plain.labels = how->labels ? h->labels : how->show == TM_SHOW_MASK ? plain.truth : NULL;
  cudaError_t e = cudaStreamWaitEvent(c->stream, h->put, 0);
  if (e == cudaSuccess) e = tm_cuda_paint(&q, &plain, c->pixels);
  if (e == cudaSuccess) e = cudaEventRecord(h->drawn, c->stream);
  if (e == cudaSuccess) h->was_drawn = TRUE;
  return e;
}

static gboolean draw(TmCanvas *c, TmVisible *base, guint64 picture, const TmCompose *how, GError **error) {
  Visible *v = (Visible *)base;
  if (how->w != v->w || how->h != v->h || (gsize)how->out_w * (gsize)how->out_h * 4 != c->bytes ||
      v->device != c->device) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_SHAPE, _("The picture for the screen has another size."));
    return FALSE;
  }
  g_mutex_lock(&v->lock);
  Half *h = v->half[0].number == picture ? &v->half[0] : v->half[1].number == picture ? &v->half[1] : NULL;
  const gboolean there = picture && h;
  const cudaError_t e = there ? draw_half(c, h, how) : cudaSuccess;
  g_mutex_unlock(&v->lock);
  return there && tm_cuda_ok(e, _("drawing for the screen"), error);
}

static gboolean finish(TmCanvas *c, const void **pixels, GError **error) {
  cudaError_t e;
  c->pixels = NULL;
  if (c->buffer) {
    e = tm_cuda_gl.unmap(1, &c->buffer, c->stream);
  } else {
    e = cudaMemcpyAsync(c->pinned, c->own, c->bytes, cudaMemcpyDeviceToHost, c->stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(c->stream);
  }
  *pixels = c->buffer ? NULL : c->pinned;
  return tm_cuda_ok(e, _("giving the screen its picture"), error);
}

const TmVisibleApi tm_cuda_visible = {.make = make,
                                      .put = put,
                                      .free = free_visible,
                                      .canvas = canvas,
                                      .begin = begin,
                                      .draw = draw,
                                      .finish = finish,
                                      .canvas_free = canvas_free};
