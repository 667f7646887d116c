/* fake_nvml.c: stands in for NVIDIA's library on a machine without one. It has two GPUs, answers only after
 * nvmlInit_v2(), checks every argument, and fails as FAKE_NVML says: "init=9" makes nvmlInit_v2() return 9,
 * "count=0" leaves no GPU, "quiet" gives no power and no load, "old" has no version 2 of the memory call.
 * FAKE_NVML_LOG names a file that gets a line at init and at shutdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  OK = 0,
  UNINITIALIZED = 1,
  INVALID = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  SIZE = 7,
  VERSION_MISMATCH = 25
};

typedef struct {
  const char *name, *uuid;
  unsigned long long total, used, reserved;
  unsigned load, temperature, milliwatts, clock;
} Gpu;

static Gpu gpus[2] = {
    {"NVIDIA Fake 100", "GPU-11111111-aaaa", 80ull << 30, 3ull << 30, 1ull << 30, 62, 61, 250500, 1410},
    {"NVIDIA Fake 200", "GPU-22222222-bbbb", 24ull << 30, 7ull << 30, 0, 17, 44, 90000, 900},
};
static int started;

static const char *mode(void) {
  const char *m = getenv("FAKE_NVML");
  return m ? m : "";
}

static int number(const char *key, int otherwise) {
  const char *at = strstr(mode(), key);
  return at ? atoi(at + strlen(key)) : otherwise;
}

static void note(const char *line) {
  const char *path = getenv("FAKE_NVML_LOG");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s\n", line);
  fclose(f);
}

static int text(const char *from, char *to, unsigned n) {
  if (!to) return INVALID;
  if (n <= strlen(from)) return SIZE;
  strcpy(to, from);
  return OK;
}

static int check(const void *device, const void *out) {
  if (!started) return UNINITIALIZED;
  if ((device != gpus && device != gpus + 1) || !out) return INVALID;
  return OK;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void) {
  const int code = number("init=", OK);
  if (code == OK) started++, note("init");
  return code;
}

int nvmlShutdown(void);
int nvmlShutdown(void) {
  if (!started) return UNINITIALIZED;
  started--;
  note("shutdown");
  return OK;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code) {
  return code == 999 ? "Unknown Error" : "Some Error";
}

int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n) {
  if (!started || !n) return started ? INVALID : UNINITIALIZED;
  *n = (unsigned)number("count=", 2);
  return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device) {
  if (!started || !device || i >= 2) return started ? INVALID : UNINITIALIZED;
  *device = gpus + i;
  return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  if (!started || !uuid || !device) return started ? INVALID : UNINITIALIZED;
  for (int i = 0; i < 2; i++)
    if (strcmp(gpus[i].uuid, uuid) == 0) {
      *device = gpus + i;
      return OK;
    }
  return NOT_FOUND;
}

int nvmlDeviceGetName(void *device, char *to, unsigned n);
int nvmlDeviceGetName(void *device, char *to, unsigned n) {
  const int code = check(device, to);
  return code ? code : text(((Gpu *)device)->name, to, n);
}

int nvmlDeviceGetUUID(void *device, char *to, unsigned n);
int nvmlDeviceGetUUID(void *device, char *to, unsigned n) {
  const int code = check(device, to);
  return code ? code : text(((Gpu *)device)->uuid, to, n);
}

typedef struct {
  unsigned long long total, free, used;
} Memory;
int nvmlDeviceGetMemoryInfo(void *device, Memory *m);
int nvmlDeviceGetMemoryInfo(void *device, Memory *m) {
  const int code = check(device, m);
  const Gpu *g = device;
  if (code == OK) *m = (Memory){g->total, g->total - g->used - g->reserved, g->used + g->reserved};
  return code;
}

typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} MemoryV2;
int nvmlDeviceGetMemoryInfo_v2(void *device, MemoryV2 *m);
int nvmlDeviceGetMemoryInfo_v2(void *device, MemoryV2 *m) {
  const int code = check(device, m);
  if (code != OK) return code;
  if (strstr(mode(), "old")) return NOT_SUPPORTED;
  if (m->version != (sizeof *m | 2u << 24)) return VERSION_MISMATCH;
  const Gpu *g = device;
  *m = (MemoryV2){m->version, g->total, g->reserved, g->total - g->used - g->reserved, g->used};
  return OK;
}

typedef struct {
  unsigned gpu, memory;
} Utilization;
int nvmlDeviceGetUtilizationRates(void *device, Utilization *u);
int nvmlDeviceGetUtilizationRates(void *device, Utilization *u) {
  const int code = check(device, u);
  if (code == OK && strstr(mode(), "quiet")) return NOT_SUPPORTED;
  if (code == OK) *u = (Utilization){((Gpu *)device)->load, 9};
  return code;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *t);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *t) {
  const int code = check(device, t);
  if (code == OK && sensor != 0) return INVALID;
  if (code == OK) *t = ((Gpu *)device)->temperature;
  return code;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw) {
  const int code = check(device, mw);
  if (code == OK && strstr(mode(), "quiet")) return NOT_SUPPORTED;
  if (code == OK) *mw = ((Gpu *)device)->milliwatts;
  return code;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
  const int code = check(device, mhz);
  if (code == OK && (kind < 0 || kind > 3)) return INVALID;
  if (code == OK) *mhz = ((Gpu *)device)->clock;
  return code;
}

int nvmlSystemGetDriverVersion(char *to, unsigned n);
int nvmlSystemGetDriverVersion(char *to, unsigned n) {
  return started ? text("550.54.14", to, n) : UNINITIALIZED;
}

int nvmlSystemGetCudaDriverVersion_v2(int *v);
int nvmlSystemGetCudaDriverVersion_v2(int *v) {
  if (!started || !v) return started ? INVALID : UNINITIALIZED;
  *v = 12040;
  return OK;
}
