/* nvml-private.h: NVML's ABI, from NVIDIA's published documentation (stable since driver 450), and what
 * nvml.c (opening, choosing) and nvml_read.c (readings) share. */
#pragma once

#include "engine/monitor/nvml.h"

enum {
  NVML_OK = 0,
  NVML_INSUFFICIENT_SIZE = 7,
  NVML_DRIVER_NOT_LOADED = 9,
  NVML_LIB_RM_VERSION_MISMATCH = 18,
  NVML_TEMPERATURE_GPU = 0,
  NVML_THRESHOLD_OFF = 0,
  NVML_THRESHOLD_SLOW = 1,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEMORY = 2,
  NVML_PCIE_OUT = 0, /* the GPU's own view: sent */
  NVML_PCIE_IN = 1,
  NVML_TEXT = 96,
};

typedef void *NvmlDevice;
typedef struct {
  unsigned gpu, memory; /* percent */
} NvmlUtilization;
typedef struct {
  unsigned long long total, free, used;
} NvmlMemory;
typedef struct {
  unsigned version; /* NVML_MEMORY_V2 */
  unsigned long long total, reserved, free, used;
} NvmlMemoryV2;
#define NVML_MEMORY_V2 ((unsigned)sizeof(NvmlMemoryV2) | 2u << 24)
typedef struct {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32]; /* "00000000:01:00.0" */
} NvmlPci;
typedef struct {
  unsigned pid;
  unsigned long long memory; /* all bits set: not known */
  unsigned instance, compute_instance;
} NvmlProcess;

/* Function, its symbol, whether it may be missing. */
#define NVML_FUNCTIONS(X)                                                                                    \
  X(int, init, "nvmlInit_v2", 0, (void))                                                                     \
  X(int, shutdown, "nvmlShutdown", 0, (void))                                                                \
  X(const char *, error_string, "nvmlErrorString", 0, (int))                                                 \
  X(int, count, "nvmlDeviceGetCount_v2", 0, (unsigned *))                                                    \
  X(int, by_index, "nvmlDeviceGetHandleByIndex_v2", 0, (unsigned, NvmlDevice *))                             \
  X(int, by_uuid, "nvmlDeviceGetHandleByUUID", 1, (const char *, NvmlDevice *))                              \
  X(int, name, "nvmlDeviceGetName", 0, (NvmlDevice, char *, unsigned))                                       \
  X(int, uuid, "nvmlDeviceGetUUID", 0, (NvmlDevice, char *, unsigned))                                       \
  X(int, pci, "nvmlDeviceGetPciInfo_v3", 1, (NvmlDevice, NvmlPci *))                                         \
  X(int, compute, "nvmlDeviceGetCudaComputeCapability", 1, (NvmlDevice, int *, int *))                       \
  X(int, persistence, "nvmlDeviceGetPersistenceMode", 1, (NvmlDevice, int *))                                \
  X(int, memory, "nvmlDeviceGetMemoryInfo", 0, (NvmlDevice, NvmlMemory *))                                   \
  X(int, memory_v2, "nvmlDeviceGetMemoryInfo_v2", 1, (NvmlDevice, NvmlMemoryV2 *))                           \
  X(int, utilization, "nvmlDeviceGetUtilizationRates", 1, (NvmlDevice, NvmlUtilization *))                   \
  X(int, temperature, "nvmlDeviceGetTemperature", 1, (NvmlDevice, int, unsigned *))                          \
  X(int, threshold, "nvmlDeviceGetTemperatureThreshold", 1, (NvmlDevice, int, unsigned *))                   \
  X(int, power, "nvmlDeviceGetPowerUsage", 1, (NvmlDevice, unsigned *))                                      \
  X(int, power_limit, "nvmlDeviceGetEnforcedPowerLimit", 1, (NvmlDevice, unsigned *))                        \
  X(int, clock, "nvmlDeviceGetClockInfo", 1, (NvmlDevice, int, unsigned *))                                  \
  X(int, max_clock, "nvmlDeviceGetMaxClockInfo", 1, (NvmlDevice, int, unsigned *))                           \
  X(int, throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", 1, (NvmlDevice, unsigned long long *))       \
  X(int, pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration", 1, (NvmlDevice, unsigned *))                \
  X(int, pcie_lanes, "nvmlDeviceGetCurrPcieLinkWidth", 1, (NvmlDevice, unsigned *))                          \
  X(int, max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration", 1, (NvmlDevice, unsigned *))             \
  X(int, max_pcie_lanes, "nvmlDeviceGetMaxPcieLinkWidth", 1, (NvmlDevice, unsigned *))                       \
  X(int, pcie_throughput, "nvmlDeviceGetPcieThroughput", 1, (NvmlDevice, int, unsigned *))                   \
  X(int, computing, "nvmlDeviceGetComputeRunningProcesses_v3", 1, (NvmlDevice, unsigned *, NvmlProcess *))   \
  X(int, drawing, "nvmlDeviceGetGraphicsRunningProcesses_v3", 1, (NvmlDevice, unsigned *, NvmlProcess *))    \
  X(int, driver_version, "nvmlSystemGetDriverVersion", 1, (char *, unsigned))                                \
  X(int, cuda_version, "nvmlSystemGetCudaDriverVersion_v2", 1, (int *))

/* One GPU. The PCIe counters are only read once a second: the driver counts for 20 ms each time before it
 * answers. */
typedef struct {
  NvmlDevice device;
  gint64 pcie_us;           /* time of the sample they were read for; 0: not yet */
  double pcie_in, pcie_out; /* bytes a second; NAN not given */
} NvmlGpu;

struct _TmNvml {
  void *library;
  gboolean started;
  GArray *gpus; /* NvmlGpu, in NVML's order (by PCI address); a part of one that was asked for by its UUID
                   stands behind them */
  guint n_whole;
  guint chosen;
#define X(type, name, symbol, optional, args) type(*name) args;
  NVML_FUNCTIONS(X)
#undef X
};
