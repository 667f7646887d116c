#include "engine/monitor/nvml-private.h"

#include <dlfcn.h>
#include <glib/gi18n.h>
#include <string.h>

static gboolean load(TmNvml *n, GError **error) {
  const char *path = g_getenv("TARMAC_NVML");
  n->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!n->library) {
    const gboolean driver = g_file_test("/proc/driver/nvidia/version", G_FILE_TEST_EXISTS);
    g_set_error_literal(
        error, TM_ERROR, TM_ERROR_DEVICE,
        driver ? _("The NVIDIA driver is loaded, but its library libnvidia-ml.so.1 was not found. In a "
                   "container, start it with the "
                   "driver's libraries.")
               : _("No NVIDIA driver was found on this machine (libnvidia-ml.so.1 is missing)."));
    return FALSE;
  }
#define X(type, name, symbol, optional, args)                                                                \
  n->name = (type(*) args)dlsym(n->library, symbol);                                                         \
  if (!n->name && !optional) {                                                                               \
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE,                                                            \
                _("The NVIDIA driver is too old: its library has no %s. Install driver 450 or newer."),      \
                symbol);                                                                                     \
    return FALSE;                                                                                            \
  }
  NVML_FUNCTIONS(X)
#undef X
  return TRUE;
}

static gboolean fail(const TmNvml *n, int code, GError **error) {
  if (code == NVML_DRIVER_NOT_LOADED)
    g_set_error_literal(
        error, TM_ERROR, TM_ERROR_DEVICE,
        _("The NVIDIA driver is installed but not loaded. Is there an NVIDIA GPU in this machine?"));
  else if (code == NVML_LIB_RM_VERSION_MISMATCH)
    g_set_error_literal(
        error, TM_ERROR, TM_ERROR_DEVICE,
        _("The NVIDIA driver was updated while it was running. Restart the machine to use the GPU."));
  else {
    const char *text = n->error_string(code);
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("The NVIDIA driver does not answer: %s (NVML error %d)."),
                text ? text : "?", code);
  }
  return FALSE;
}

static gboolean find_handle(const TmNvml *n, NvmlDevice d, guint *at) {
  for (*at = 0; *at < n->gpus->len; ++*at)
    if (g_array_index(n->gpus, NvmlGpu, *at).device == d) return TRUE;
  return FALSE;
}

static gboolean find_uuid(const TmNvml *n, const char *uuid, guint *at) {
  for (*at = 0; *uuid && *at < n->n_whole; ++*at) {
    char text[NVML_TEXT] = "";
    if (n->uuid(g_array_index(n->gpus, NvmlGpu, *at).device, text, sizeof text) == NVML_OK &&
        g_str_has_prefix(text, uuid))
      return TRUE;
  }
  return FALSE;
}

gboolean tm_nvml_select(TmNvml *n, const char *uuid) {
  NvmlGpu one = {0};
  guint at;
  if (n->by_uuid && n->by_uuid(uuid, &one.device) == NVML_OK) {
    if (!find_handle(n, one.device, &at)) g_array_append_val(n->gpus, one); /* a MIG part of a GPU */
  } else if (!find_uuid(n, uuid, &at)) {
    return FALSE;
  }
  n->chosen = at;
  return TRUE;
}

static gboolean list_gpus(TmNvml *n, GError **error) {
  unsigned count = 0;
  int code = n->count(&count);
  for (unsigned i = 0; code == NVML_OK && i < count; i++) {
    NvmlGpu one = {0};
    code = n->by_index(i, &one.device);
    if (code == NVML_OK) g_array_append_val(n->gpus, one);
  }
  n->n_whole = n->gpus->len;
  if (code != NVML_OK) return fail(n, code, error);
  if (count > 0) return TRUE;
  g_set_error_literal(error, TM_ERROR, TM_ERROR_DEVICE,
                      _("The NVIDIA driver is loaded, but it finds no GPU."));
  return FALSE;
}

static gboolean hidden(GError **error) {
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE,
              _("CUDA_VISIBLE_DEVICES is “%s”, which hides every GPU from programs."),
              g_getenv("CUDA_VISIBLE_DEVICES"));
  return FALSE;
}

/* CUDA's device 0 is what CUDA_VISIBLE_DEVICES names first. Numbers there count in CUDA's order, which is
 * NVML's (by PCI address) only with CUDA_DEVICE_ORDER=PCI_BUS_ID or where all GPUs are alike; whoever holds a
 * CUDA device tells us its UUID through tm_monitor_follow(). */
static gboolean pick(TmNvml *n, GError **error) {
  const char *visible = g_getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return TRUE;
  g_autofree char *first = g_strstrip(g_strndup(visible, strcspn(visible, ",")));
  if (g_str_has_prefix(first, "GPU-") || g_str_has_prefix(first, "MIG-"))
    return tm_nvml_select(n, first) || hidden(error);
  guint64 value;
  if (!g_ascii_string_to_unsigned(first, 10, 0, G_MAXUINT, &value, NULL) || value >= n->n_whole)
    return hidden(error);
  n->chosen = (guint)value;
  return TRUE;
}

TmNvml *tm_nvml_open(GError **error) {
  g_autoptr(TmNvml) n = g_new0(TmNvml, 1);
  n->gpus = g_array_new(FALSE, FALSE, sizeof(NvmlGpu));
  if (!load(n, error)) return NULL;
  const int code = n->init();
  if (code != NVML_OK) {
    fail(n, code, error);
    return NULL;
  }
  n->started = TRUE;
  return list_gpus(n, error) && pick(n, error) ? g_steal_pointer(&n) : NULL;
}

void tm_nvml_close(TmNvml *n) {
  if (!n) return;
  if (n->started) n->shutdown();
  if (n->library) dlclose(n->library);
  g_array_unref(n->gpus);
  g_free(n);
}
