/* cuda_driver.h: what of an NVIDIA driver is on this machine, and what a person can do about what is not.
 * Looks at files only: no device is touched. */
#pragma once

#include <glib.h>

typedef struct {
  char *version;    /* of the kernel's driver, "535.104.05"; NULL: none is loaded. Owned */
  gboolean device;  /* /dev/nvidia0 … or /dev/nvidiactl */
  gboolean uvm;     /* /dev/nvidia-uvm, without which CUDA says "unknown error" */
  gboolean library; /* libcuda.so.1 can be found */
} TmCudaDriver;

/** Looks below @root: "" for this machine, a folder in tests. The library is looked for in the machine itself
 * unless @root is given. */
void tm_cuda_driver_read(TmCudaDriver *d, const char *root);
void tm_cuda_driver_clear(TmCudaDriver *d);
/** Can CUDA of some version run? *@sentence (free it) says which versions, or what is missing and the way
 * out. */
gboolean tm_cuda_driver_usable(const TmCudaDriver *d, char **sentence);
/** "CUDA 11.8 and 12.x; 13.x needs driver 580 or newer": by NVIDIA's table of lowest drivers for Linux. NULL
 * when not even 11.8 runs. Free it. */
char *tm_cuda_driver_runs(const char *version);
