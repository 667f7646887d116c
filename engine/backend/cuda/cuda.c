/* cuda.c: the slots of the cuda backend, which is a module: tm_backend_module is what the program looks for.
 */
#include "engine/backend/cuda/conv.h"
#include "engine/backend/cuda/programs.h"
#include "engine/backend/cuda/stage.h"

#include <glib/gi18n.h>
#include <gmodule.h>
#include <string.h>

static CudaBackend *of(TmBackend *b) {
  return (CudaBackend *)b;
}

/* ---- opening and closing ---- */

static void close_cuda(TmBackend *backend) {
  CudaBackend *b = of(backend);
  if (b->handle) b->cudnn->cudnnDestroy(b->handle);
  tm_cuda_stages_free(&b->stages);
  cudaFree(b->queue.work); /* waits for what still uses it */
  cudaFree(b->landing);
  cudaFree(b->device_slot);
  cudaFree(b->sum);
  cudaFree(b->made);
  cudaFree(b->verdict);
  cudaFreeHost(b->staging);
  cudaFreeHost(b->slots);
  cudaFreeHost(b->host_sum);
  cudaFreeHost(b->host_verdict);
  if (b->queue.stream) cudaStreamDestroy(b->queue.stream);
  tm_machine_cache_free(b->plans);
  g_free(b->name);
  g_free(b->uuid);
  g_free(b);
}

static gboolean open_memory(CudaBackend *b, GError **error) {
  const struct {
    void **p;
    gsize bytes;
    gboolean pinned;
  } all[] = {{&b->queue.work, tm_cuda_work(1), FALSE},
             {&b->landing, CUDA_STAGING_BYTES, FALSE},
             {(void **)&b->device_slot, CUDA_SLOT_BYTES, FALSE},
             {(void **)&b->sum, sizeof(double), FALSE},
             {(void **)&b->made, sizeof(TmCudaRate), FALSE},
             {(void **)&b->verdict, sizeof(TmCudaVerdict), FALSE},
             {(void **)&b->host_verdict, sizeof(TmCudaVerdict), TRUE},
             {&b->staging, CUDA_STAGING_BYTES, TRUE},
             {(void **)&b->slots, CUDA_SLOTS * CUDA_SLOT_BYTES, TRUE},
             {(void **)&b->host_sum, sizeof(double), TRUE}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    const cudaError_t e = all[i].pinned ? cudaHostAlloc(all[i].p, all[i].bytes, cudaHostAllocDefault)
                                        : cudaMalloc(all[i].p, all[i].bytes);
    if (!tm_cuda_ok(e, _("opening the GPU"), error)) return FALSE;
  }
  return TRUE;
}

static gboolean open_cudnn(CudaBackend *b, GError **error) {
  cudnnStatus_t s = b->cudnn->cudnnCreate(&b->handle);
  if (s == CUDNN_STATUS_SUCCESS) s = b->cudnn->cudnnSetStream(b->handle, b->queue.stream);
  if (s == CUDNN_STATUS_SUCCESS) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("cuDNN does not start on this GPU: %s."),
              b->cudnn->cudnnGetErrorString(s));
  return FALSE;
}

/* All that the times of engines depend on, but the convolution. */
static void open_plans(CudaBackend *b) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  g_autofree char *machine =
      g_strdup_printf("%s, sm_%d%d, driver %d, cuDNN %" G_GSIZE_FORMAT ", %s", b->name, b->major, b->minor,
                      driver, (gsize)b->cudnn->cudnnGetVersion(), TM_VERSION);
  b->plans = tm_machine_cache_new("cudnn.ini", machine);
}

static TmBackend *open_cuda(const TmBackendOptions *options, GError **error) {
  CudaBackend *b = g_new0(CudaBackend, 1);
  b->deterministic = options->deterministic;
  b->tf32 = options->tf32;
  b->cudnn = tm_cudnn(error);
  if (b->cudnn && tm_cuda_choose(b, options->device, error) &&
      tm_cuda_ok(cudaStreamCreateWithFlags(&b->queue.stream, cudaStreamNonBlocking), _("opening the GPU"),
                 error) &&
      open_memory(b, error) && open_cudnn(b, error)) {
    open_plans(b);
    return &b->base;
  }
  close_cuda(&b->base);
  return NULL;
}

static void info(TmBackend *backend, TmBackendInfo *out) {
  const CudaBackend *b = of(backend);
  *out = (TmBackendInfo){.name = g_strdup(b->name),
                         .uuid = g_strdup(b->uuid),
                         .memory = b->memory,
                         .threads = 1,
                         .bf16 = b->major >= 8,
                         .tf32 = b->major >= 8};
  const int cudnn = (int)b->cudnn->cudnnGetVersion();
  out->detail =
      g_strdup_printf(_("CUDA %d.%d, cuDNN %d.%d, compute capability %d.%d"), CUDART_VERSION / 1000,
                      CUDART_VERSION % 1000 / 10, cudnn / 10000, cudnn % 10000 / 100, b->major, b->minor);
}

/* ---- memory ---- */

static void *alloc(TmBackend *backend, gsize bytes, GError **error) {
  const CudaBackend *b = of(backend);
  void *p = NULL;
  cudaError_t e = cudaMalloc(&p, bytes);
  if (e == cudaSuccess) e = cudaMemsetAsync(p, 0, bytes, b->queue.stream);
  if (tm_cuda_ok(e, _("reserving memory"), error)) return p;
  cudaFree(p);
  return NULL;
}

static void release(TmBackend *backend, void *p, gsize bytes) {
  (void)backend;
  (void)bytes;
  cudaFree(p); /* waits for what still uses it */
}

/* ---- programs ---- */

/* Nets of bytes are for processors. */
static gboolean supports(TmBackend *b, int op, const TmNode *node, TmDType precision) {
  (void)b;
  if (node->kind == TM_KIND_PIXEL || (precision != TM_F32 && precision != TM_BF16 && precision != TM_F16))
    return FALSE;
  if (tm_cuda_is_conv(op)) return tm_cuda_conv_supports(op, node, precision);
  return tm_cuda_step_run(op) != NULL && tm_cuda_step_supports(op, node);
}

static gboolean takes_slice(TmBackend *b, int op, const TmNode *node, int operand, TmDType precision) {
  (void)b;
  (void)node;
  (void)precision;
  return tm_cuda_is_conv(op) ? tm_cuda_conv_takes_slice(op, operand) : tm_cuda_step_takes_slice(op, operand);
}

/* ---- flat arrays ---- */

static gboolean sum_squares(TmBackend *backend, const float *x, gsize n, double *out, GError **error) {
  CudaBackend *b = of(backend);
  cudaError_t e = tm_cuda_sum_squares(&b->queue, x, n, b->sum);
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(b->host_sum, b->sum, sizeof *b->sum, cudaMemcpyDeviceToHost, b->queue.stream);
  if (e == cudaSuccess) e = cudaStreamSynchronize(b->queue.stream);
  if (!tm_cuda_ok(e, _("summing the gradients"), error)) return FALSE;
  *out = *b->host_sum;
  return TRUE;
}

static gboolean update(TmBackend *backend, const TmUpdate *u, GError **error) {
  CudaBackend *b = of(backend);
  const TmUpdateRule rule = tm_cuda_rule(u);
  const TmCudaRate rate = tm_cuda_rate(u), *sent = tm_cuda_send(b, &rate, sizeof rate, error);
  return sent && tm_cuda_ok(tm_cuda_update(&b->queue, &rule, sent), _("updating the weights"), error);
}

static gboolean axpby(TmBackend *backend, float a, const float *x, float c, float *y, gsize n,
                      GError **error) {
  return tm_cuda_ok(tm_cuda_axpby(&of(backend)->queue, a, x, c, y, n), _("adding"), error);
}

static gboolean synchronize(TmBackend *backend, GError **error) {
  return tm_cuda_ok(cudaStreamSynchronize(of(backend)->queue.stream), _("computing"), error);
}

G_MODULE_EXPORT const TmBackendApi tm_backend_module = {
    .version = TM_BACKEND_VERSION,
    .name = "cuda",
    .available = tm_cuda_available,
    .open = open_cuda,
    .close = close_cuda,
    .info = info,
    .supports = supports,
    .takes_slice = takes_slice,
    .alloc = alloc,
    .release = release,
    .write = tm_cuda_write,
    .read = tm_cuda_read,
    .prepare = tm_cuda_prepare,
    .run = tm_cuda_run,
    .discard = tm_cuda_discard,
    .train_begin = tm_cuda_train_begin,
    .train_end = tm_cuda_train_end,
    .stage = tm_cuda_stage,
    .fill = tm_cuda_fill,
    .sum_squares = sum_squares,
    .update = update,
    .axpby = axpby,
    .synchronize = synchronize,
    .visible = &tm_cuda_visible,
};
