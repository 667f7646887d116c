/* checks.h: what is looked at, each from facts given to it. Each adds at most one TmCheck to @to, an array of its kind. */
#pragma once

#include "engine/doctor/backend_looks.h"
#include "engine/doctor/check.h"
#include "engine/doctor/cuda_driver.h"
#include "engine/monitor/monitor.h"

/** An empty array that frees its checks. */
GPtrArray *tm_checks_new(void);
/** How many are TM_CHECK_GOOD. */
guint tm_checks_good(const GPtrArray *checks);

/** Which back end trains, and whether a faster one is missing. */
void tm_check_engine(GPtrArray *to, const GPtrArray *looks);
/** NVIDIA's driver and the CUDA back end. */
void tm_check_driver(GPtrArray *to, const TmCudaDriver *d, const TmMachine *m, const GPtrArray *looks);
/** The kernel's part of the driver beside its libraries. */
void tm_check_versions(GPtrArray *to, const TmCudaDriver *d, const TmMachine *m);
/** The driver unloads the GPU's state while nobody uses it. */
void tm_check_persistence(GPtrArray *to, const TmGpu *gpu);
/** @level: the best vector instructions here: 0 none of ours, 1 AVX2, 2 AVX-512; -1: another kind of processor. */
void tm_check_processor(GPtrArray *to, const char *name, int level);
/** @usable of @all cores may be used. */
void tm_check_cores(GPtrArray *to, guint usable, guint all);
/** @driver and @governor: as cpufreq names them; NULL where there is none. */
void tm_check_governor(GPtrArray *to, const char *driver, const char *governor);
void tm_check_memory(GPtrArray *to, gsize free, gsize all);
/** @free bytes in @folder, where runs are written. */
void tm_check_disk(GPtrArray *to, const char *folder, guint64 free);
/** The outcome of tm_self_test_convolution(); @error NULL: it ran. */
void tm_check_convolution(GPtrArray *to, const char *backend, double difference, const GError *error);
/** The outcome of tm_self_test_memory(). */
void tm_check_pattern(GPtrArray *to, const char *backend, gsize bytes, guint64 wrong, const GError *error);
