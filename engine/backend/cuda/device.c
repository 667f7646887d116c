/* device.c: is there a GPU, which one, and what its errors mean to a person. */
#include "engine/backend/cuda/cuda.h"

#include <glib/gi18n.h>
#include <string.h>

gboolean tm_cuda_ok(cudaError_t e, const char *doing, GError **error) {
  if (e == cudaSuccess) return TRUE;
  cudaGetLastError(); /* or the next launch would report it again */
  if (e == cudaErrorMemoryAllocation)
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY,
                _("The GPU has no memory left (while %s). Use a smaller batch or smaller pictures, or close "
                  "what else uses the GPU."),
                doing);
  else
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("The GPU failed while %s: %s (%s)."), doing,
                cudaGetErrorString(e), cudaGetErrorName(e));
  return FALSE;
}

/* Each failure that people meet, with its way out. */
static void explain(cudaError_t e, GError **error) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  cudaGetLastError();
  if (e == cudaErrorInsufficientDriver && driver == 0)
    g_set_error_literal(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                        _("There is no NVIDIA driver on this machine. Install it to use the GPU; training on "
                          "the processor works without."));
  else if (e == cudaErrorInsufficientDriver)
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("The NVIDIA driver supports CUDA %d.%d, but %d.%d is needed. Install a newer driver."),
                driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  else if (e == cudaErrorNoDevice)
    g_set_error_literal(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                        _("The NVIDIA driver sees no GPU. CUDA_VISIBLE_DEVICES may hide it, or a container "
                          "may not have been given one."));
  else if (e == cudaErrorUnknown)
    g_set_error_literal(
        error, TM_ERROR, TM_ERROR_UNSUPPORTED,
        _("The NVIDIA driver does not start. Often /dev/nvidia-uvm is missing: run nvidia-modprobe -u, or "
          "give the container its device nodes. After a suspend the driver may need to be loaded again."));
  else
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("The GPU cannot be used: %s (%s)."),
                cudaGetErrorString(e), cudaGetErrorName(e));
}

gboolean tm_cuda_available(GError **error) {
  int n = 0;
  const cudaError_t e = cudaGetDeviceCount(&n);
  if (e == cudaSuccess && n > 0) return tm_cudnn(error) != NULL;
  explain(e == cudaSuccess ? cudaErrorNoDevice : e, error);
  return FALSE;
}

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as NVML writes it. */
static char *uuid_text(const struct cudaDeviceProp *p) {
  GString *s = g_string_new("GPU");
  for (int i = 0; i < 16; i++)
    g_string_append_printf(s, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           (guint)(guint8)p->uuid.bytes[i]);
  return g_string_free(s, FALSE);
}

/* The number of the device that @uuid names, in full or by its beginning; -1 with what there is when it names none, or several. */
static int find_device(int n, const char *uuid, GError **error) {
  g_autoptr(GString) all = g_string_new(NULL);
  int found = -1, times = 0;
  for (int d = 0; d < n; d++) {
    struct cudaDeviceProp p;
    if (!tm_cuda_ok(cudaGetDeviceProperties(&p, d), _("looking for GPUs"), error)) return -1;
    g_autofree char *this_one = uuid_text(&p);
    g_string_append_printf(all, "%s%s (%s)", d ? ", " : "", this_one, p.name);
    if (g_ascii_strncasecmp(uuid, this_one, strlen(uuid)) != 0) continue;
    found = d;
    times++;
  }
  if (times == 1) return found;
  g_set_error(error, TM_ERROR, TM_ERROR_SETTING,
              times ? _("Several GPUs are meant by %s. There are: %s.") : _("There is no GPU %s here. There are: %s."), uuid,
              n ? all->str : _("none"));
  return -1;
}

gboolean tm_cuda_choose(CudaBackend *b, const char *uuid, GError **error) {
  int n = 0;
  if (!tm_cuda_ok(cudaGetDeviceCount(&n), _("looking for GPUs"), error)) return FALSE;
  const int d = uuid ? find_device(n, uuid, error) : 0;
  struct cudaDeviceProp p;
  if (d < 0 || !tm_cuda_ok(cudaGetDeviceProperties(&p, d), _("looking for GPUs"), error)) return FALSE;
  b->device = d;
  b->name = g_strdup(p.name);
  b->uuid = uuid_text(&p);
  b->memory = p.totalGlobalMem;
  b->major = p.major;
  b->minor = p.minor;
  return tm_cuda_ok(cudaSetDevice(d), _("opening the GPU"), error);
}
