#include "engine/monitor/nvml.h"

#include "engine/monitor/host.h"

#include <dlfcn.h>
#include <glib/gi18n.h>
#include <string.h>

/* NVML's ABI, from NVIDIA's published documentation: stable since driver 450. */
enum {
  NVML_OK = 0,
  NVML_DRIVER_NOT_LOADED = 9,
  NVML_LIB_RM_VERSION_MISMATCH = 18,
  NVML_TEMPERATURE_GPU = 0,
  NVML_CLOCK_SM = 1,
  NVML_TEXT = 96,
};

typedef void *Device;
typedef struct {
  unsigned gpu, memory; /* percent */
} Utilization;
typedef struct {
  unsigned long long total, free, used;
} Memory;
typedef struct {
  unsigned version; /* MEMORY_V2 */
  unsigned long long total, reserved, free, used;
} MemoryV2;
#define MEMORY_V2 ((unsigned)sizeof(MemoryV2) | 2u << 24)

/* Function, its symbol, whether it may be missing. */
#define NVML_FUNCTIONS(X)                                                                                    \
  X(int, init, "nvmlInit_v2", 0, (void))                                                                     \
  X(int, shutdown, "nvmlShutdown", 0, (void))                                                                \
  X(const char *, error_string, "nvmlErrorString", 0, (int))                                                 \
  X(int, count, "nvmlDeviceGetCount_v2", 0, (unsigned *))                                                    \
  X(int, by_index, "nvmlDeviceGetHandleByIndex_v2", 0, (unsigned, Device *))                                 \
  X(int, by_uuid, "nvmlDeviceGetHandleByUUID", 1, (const char *, Device *))                                  \
  X(int, name, "nvmlDeviceGetName", 0, (Device, char *, unsigned))                                           \
  X(int, uuid, "nvmlDeviceGetUUID", 0, (Device, char *, unsigned))                                           \
  X(int, memory, "nvmlDeviceGetMemoryInfo", 0, (Device, Memory *))                                           \
  X(int, memory_v2, "nvmlDeviceGetMemoryInfo_v2", 1, (Device, MemoryV2 *))                                   \
  X(int, utilization, "nvmlDeviceGetUtilizationRates", 1, (Device, Utilization *))                           \
  X(int, temperature, "nvmlDeviceGetTemperature", 1, (Device, int, unsigned *))                              \
  X(int, power, "nvmlDeviceGetPowerUsage", 1, (Device, unsigned *))                                          \
  X(int, clock, "nvmlDeviceGetClockInfo", 1, (Device, int, unsigned *))                                      \
  X(int, driver_version, "nvmlSystemGetDriverVersion", 1, (char *, unsigned))                                \
  X(int, cuda_version, "nvmlSystemGetCudaDriverVersion_v2", 1, (int *))

struct _TmNvml {
  void *library;
  gboolean started;
  Device device;
#define X(type, name, symbol, optional, args) type(*name) args;
  NVML_FUNCTIONS(X)
#undef X
};

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

gboolean tm_nvml_select(TmNvml *n, const char *uuid) {
  Device d;
  if (n->by_uuid && n->by_uuid(uuid, &d) == NVML_OK) {
    n->device = d;
    return TRUE;
  }
  unsigned count = 0;
  if (n->count(&count) != NVML_OK) return FALSE;
  for (unsigned i = 0; i < count; i++) {
    char text[NVML_TEXT] = "";
    if (n->by_index(i, &d) != NVML_OK || n->uuid(d, text, sizeof text) != NVML_OK) continue;
    if (*uuid == 0 || !g_str_has_prefix(text, uuid)) continue;
    n->device = d;
    return TRUE;
  }
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
  unsigned count = 0, index = 0;
  int code = n->count(&count);
  if (code != NVML_OK) return fail(n, code, error);
  if (count == 0) {
    g_set_error_literal(error, TM_ERROR, TM_ERROR_DEVICE,
                        _("The NVIDIA driver is loaded, but it finds no GPU."));
    return FALSE;
  }
  const char *visible = g_getenv("CUDA_VISIBLE_DEVICES");
  if (visible) {
    g_autofree char *first = g_strstrip(g_strndup(visible, strcspn(visible, ",")));
    if (g_str_has_prefix(first, "GPU-") || g_str_has_prefix(first, "MIG-"))
      return tm_nvml_select(n, first) || hidden(error);
    guint64 value;
    if (!g_ascii_string_to_unsigned(first, 10, 0, G_MAXUINT, &value, NULL) || value >= count)
      return hidden(error);
    index = (unsigned)value;
  }
  code = n->by_index(index, &n->device);
  return code == NVML_OK || fail(n, code, error);
}

TmNvml *tm_nvml_open(GError **error) {
  g_autoptr(TmNvml) n = g_new0(TmNvml, 1);
  if (!load(n, error)) return NULL;
  const int code = n->init();
  if (code != NVML_OK) {
    fail(n, code, error);
    return NULL;
  }
  n->started = TRUE;
  return pick(n, error) ? g_steal_pointer(&n) : NULL;
}

void tm_nvml_close(TmNvml *n) {
  if (!n) return;
  if (n->started) n->shutdown();
  if (n->library) dlclose(n->library);
  g_free(n);
}

static gboolean read_memory(TmNvml *n, unsigned long long *used, unsigned long long *total) {
  /* Version 2 does not count the driver's own reserve as used, as nvidia-smi shows it. */
  MemoryV2 v2 = {.version = MEMORY_V2};
  if (n->memory_v2 && n->memory_v2(n->device, &v2) == NVML_OK) {
    *used = v2.used;
    *total = v2.total;
    return TRUE;
  }
  Memory v1 = {0};
  if (n->memory(n->device, &v1) != NVML_OK) return FALSE;
  *used = v1.used;
  *total = v1.total;
  return TRUE;
}

void tm_nvml_sample(TmNvml *n, TmMonitorSample *s) {
  Utilization u;
  unsigned long long used, total;
  unsigned value;
  if (n->utilization && n->utilization(n->device, &u) == NVML_OK)
    tm_monitor_set(s, TM_READING_GPU_LOAD, u.gpu);
  if (read_memory(n, &used, &total)) tm_monitor_set(s, TM_READING_GPU_MEMORY, (double)used);
  if (n->temperature && n->temperature(n->device, NVML_TEMPERATURE_GPU, &value) == NVML_OK)
    tm_monitor_set(s, TM_READING_GPU_TEMPERATURE, value);
  if (n->power && n->power(n->device, &value) == NVML_OK)
    tm_monitor_set(s, TM_READING_GPU_POWER, value / 1000.0);
  if (n->clock && n->clock(n->device, NVML_CLOCK_SM, &value) == NVML_OK)
    tm_monitor_set(s, TM_READING_GPU_CLOCK, value);
}

void tm_nvml_machine(TmNvml *n, TmMachine *m) {
  char text[NVML_TEXT] = "";
  unsigned long long used, total;
  int cuda = 0;
  if (n->name(n->device, text, sizeof text) == NVML_OK)
    m->gpu = g_utf8_make_valid(text, (gssize)strnlen(text, sizeof text));
  if (!m->gpu) m->gpu = g_strdup("NVIDIA GPU");
  if (n->uuid(n->device, text, sizeof text) == NVML_OK) m->gpu_uuid = g_strndup(text, sizeof text);
  if (read_memory(n, &used, &total)) m->gpu_memory = total;
  if (n->driver_version && n->driver_version(text, sizeof text) == NVML_OK)
    m->driver = g_strndup(text, sizeof text);
  if (n->cuda_version && n->cuda_version(&cuda) == NVML_OK && cuda > 0)
    m->cuda = g_strdup_printf("%d.%d", cuda / 1000, cuda % 1000 / 10);
}
