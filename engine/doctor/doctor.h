/* doctor.h: looks this machine over: back ends, devices, driver, and the list of checks that the terminal and the window both show. */
#pragma once

#include "engine/doctor/checks.h"

typedef struct {
  GPtrArray *looks; /* TmBackendLook, best first */
  TmMachine machine;
  TmCudaDriver driver;
  char *cuda; /* which CUDA the driver runs, or what is missing: a sentence */
  GPtrArray *checks; /* TmCheck */
} TmDoctor;

/** Opens every back end and computes a little on the best: a tenth of a second, seconds with a GPU that sleeps. Not on a thread that owns a back end, and not on the main thread of a window. Never NULL. */
TmDoctor *tm_doctor_new(void);
void tm_doctor_free(TmDoctor *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmDoctor, tm_doctor_free)
