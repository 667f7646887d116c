/* gpu.h: what is known of a GPU besides its readings, as the driver tells it. Plain data; any thread. */
#pragma once

#include <glib.h>

typedef struct {
  char *name;                              /* "NVIDIA H200" */
  char *uuid;                              /* "GPU-…": the same in CUDA; NULL unknown */
  char *bus;                               /* "00000000:01:00.0"; NULL unknown */
  gsize memory;                            /* bytes; 0 unknown */
  double power_limit;                      /* watts; this and the next five NAN when not known */
  double clock, memory_clock;              /* MHz at most */
  double slow_at, off_at;                  /* Celsius at which it slows down and turns itself off */
  double pcie_generation;                  /* what GPU and slot can do together at most */
  int pcie_lanes;                          /* 0 unknown */
  int compute_major, compute_minor;        /* compute capability; 0 unknown */
  gboolean knows_persistence, persistence; /* does the driver stay awake while nobody uses the GPU? */
} TmGpu;

/** Frees what it holds. */
void tm_gpu_clear(TmGpu *g);

/* Another program, or this one, on a GPU. */
typedef struct {
  guint pid;      /* as the driver sees it: another number than inside a container */
  char *name;     /* of the process with that number, NULL when it cannot be seen from here */
  double memory;  /* bytes on the GPU; NAN unknown */
  gboolean draws; /* uses it for drawing rather than computing */
} TmGpuProgram;

void tm_gpu_program_clear(TmGpuProgram *p);

/* Why a GPU runs slower than it could: bits of TM_READING_GPU_THROTTLE, NVML's clock throttle reasons. */
typedef enum {
  TM_THROTTLE_IDLE = 0x1,
  TM_THROTTLE_SET_CLOCKS = 0x2,
  TM_THROTTLE_POWER = 0x4,
  TM_THROTTLE_HARDWARE = 0x8,
  TM_THROTTLE_SYNC = 0x10,
  TM_THROTTLE_HEAT = 0x20,
  TM_THROTTLE_HARDWARE_HEAT = 0x40,
  TM_THROTTLE_POWER_BRAKE = 0x80,
  TM_THROTTLE_DISPLAY = 0x100,
} TmThrottle;

/** "slowed down by heat, by its power limit": what of @reasons takes speed from work; NULL when nothing does
 * (being idle does not). Free it. */
char *tm_throttle_text(guint reasons);
