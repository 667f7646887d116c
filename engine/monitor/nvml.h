/* nvml.h: NVIDIA's management library, found at run time. Never linked: the prototypes are our own, so that
 * the program starts and builds without it. Private to monitor. One thread at a time per object. */
#pragma once

#include "engine/monitor/gpu.h"
#include "engine/monitor/monitor.h"

typedef struct _TmNvml TmNvml;

/** Loads the library (TARMAC_NVML names another file), starts it and picks the GPU that CUDA would call its
 * first: what CUDA_VISIBLE_DEVICES names, by UUID where it does, otherwise number 0. NULL with a sentence why
 * there is no GPU to read. */
TmNvml *tm_nvml_open(GError **error);
void tm_nvml_close(TmNvml *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmNvml, tm_nvml_close)

/** Watches the GPU with @uuid ("GPU-...", a beginning is enough) instead. FALSE when there is none such; then
 * nothing changes. */
gboolean tm_nvml_select(TmNvml *n, const char *uuid);
/** Fills the GPU's values of @s and sets the bits of those that the GPU gives. s->time_us must be set. */
void tm_nvml_sample(TmNvml *n, TmMonitorSample *s);
/** Fills gpus, n_gpus, driver, cuda of @m, and gpu, gpu_uuid, gpu_memory from the GPU that is watched. */
void tm_nvml_machine(TmNvml *n, TmMachine *m);

/** All GPUs of the machine, hidden ones too, in the driver's order (by PCI address). */
guint tm_nvml_n_gpus(const TmNvml *n);
/** As tm_nvml_sample(), of GPU @gpu < tm_nvml_n_gpus(). */
void tm_nvml_sample_gpu(TmNvml *n, guint gpu, TmMonitorSample *s);
/** What is known of it; clear with tm_gpu_clear(). */
void tm_nvml_gpu(TmNvml *n, guint gpu, TmGpu *out);
/** Who uses it, computing first: TmGpuProgram, cleared with the array. Empty where the driver does not tell.
 */
GArray *tm_nvml_programs(TmNvml *n, guint gpu);
