/* monitor.h: samples the machine: processor, memory, GPUs, on a thread of its own, 4 times a second, into a
 * ring. A reading that is not to be had is invalid, never 0. Any thread may read. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"
#include "engine/monitor/gpu.h"

typedef enum {
  TM_READING_CPU_LOAD,        /* percent of all cores */
  TM_READING_MEMORY,          /* bytes in use on the machine */
  TM_READING_PROCESS,         /* bytes resident, this process */
  TM_READING_CPU_TEMPERATURE, /* Celsius */
  TM_READING_DISK_READ,       /* bytes a second, this process */
  TM_READING_GPU_LOAD,        /* percent of the time in which the GPU followed did something */
  TM_READING_GPU_MEMORY,      /* bytes */
  TM_READING_GPU_TEMPERATURE,
  TM_READING_GPU_POWER,        /* watts */
  TM_READING_GPU_CLOCK,        /* MHz */
  TM_READING_GPU_MEMORY_LOAD,  /* percent of the time in which its memory was read or written */
  TM_READING_GPU_MEMORY_CLOCK, /* MHz */
  TM_READING_GPU_THROTTLE, /* bits of TmThrottle (gpu.h): why it is slower than it could be; 0 it is not */
  TM_READING_GPU_PCIE_GENERATION, /* at present: falls when there is little to do */
  TM_READING_GPU_PCIE_LANES,
  TM_READING_GPU_PCIE_IN, /* bytes a second into the GPU, over 20 ms, at most a second old */
  TM_READING_GPU_PCIE_OUT,
  TM_N_READINGS,
} TmReading;

typedef struct {
  gint64 time_us; /* g_get_monotonic_time() */
  guint32 valid;  /* bit i: value[i] was read */
  double value[TM_N_READINGS];
} TmMonitorSample;

enum { TM_MONITOR_RING = 600 };

typedef struct _TmMonitor TmMonitor;

TmMonitor *tm_monitor_new(void); /* starts sampling */
void tm_monitor_free(TmMonitor *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmMonitor, tm_monitor_free)
/** Copies up to @n of the latest samples, oldest first; returns how many. */
guint tm_monitor_read(TmMonitor *m, TmMonitorSample *out, guint n);
/** Reads the GPU with @gpu_uuid from now on: whoever opens a CUDA device says which it is, since CUDA and
 * NVML count GPUs in different orders. An unknown UUID changes nothing; the same as before costs nothing. */
void tm_monitor_follow(TmMonitor *m, const char *gpu_uuid);

typedef struct {
  char *cpu; /* "AMD EPYC" */
  int cores;
  gsize memory; /* bytes */
  char *gpu;    /* the one CUDA calls its first; NULL when there is none */
  char *gpu_uuid;
  gsize gpu_memory;
  TmGpu *gpus; /* all of them, in the driver's order */
  guint n_gpus;
  char *gpu_reason;    /* why there are no GPU readings, a sentence; NULL when there are */
  char *driver, *cuda; /* versions or NULL */
} TmMachine;

/** What the machine is; does not need a monitor. Loads NVML at run time, ends nothing when it is missing. */
void tm_machine_read(TmMachine *out);
void tm_machine_clear(TmMachine *m);
