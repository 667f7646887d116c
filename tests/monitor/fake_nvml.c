/* fake_nvml.c: stands in for NVIDIA's library on a machine without one. It has two GPUs, answers only after
 * nvmlInit_v2(), checks every argument as the real one does (also what it leaves as it was on failure), and
 * fails as FAKE_NVML says: "init=9" makes nvmlInit_v2() return 9, "count=0" leaves no GPU, "quiet" gives no
 * power and no load, "old" has no version 2 of the memory call, "lost" answers every question about a GPU
 * with "the GPU is lost", "busy" runs more programs than were counted. FAKE_NVML_LOG names a file that gets a
 * line at init and at shutdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  OK = 0,
  UNINITIALIZED = 1,
  INVALID = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  SIZE = 7,
  LOST = 15,
  VERSION_MISMATCH = 25
};

typedef struct {
  const char *name, *uuid;
  unsigned long long total, used, reserved;
  unsigned load, temperature, milliwatts, clock;
  const char *bus;
  unsigned long long throttle;
} Gpu;

static Gpu gpus[2] = {
    {"NVIDIA Fake 100", "GPU-11111111-aaaa", 80ull << 30, 3ull << 30, 1ull << 30, 62, 61, 250500, 1410,
     "00000000:01:00.0", 0x20},
    {"NVIDIA Fake 200", "GPU-22222222-bbbb", 24ull << 30, 7ull << 30, 0, 17, 44, 90000, 900,
     "00000000:C1:00.0", 0x1},
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
  return strstr(mode(), "lost") ? LOST : OK;
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
  if (code == OK) *mhz = kind == 2 ? 2619 : ((Gpu *)device)->clock;
  return code;
}

int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz) {
  const int code = check(device, mhz);
  if (code == OK && (kind < 0 || kind > 3)) return INVALID;
  if (code == OK) *mhz = kind == 2 ? 3201 : 1980;
  return code;
}

int nvmlDeviceGetTemperatureThreshold(void *device, int which, unsigned *t);
int nvmlDeviceGetTemperatureThreshold(void *device, int which, unsigned *t) {
  const int code = check(device, t);
  if (code == OK && (which < 0 || which > 7)) return INVALID;
  if (code == OK && which > 1) return NOT_SUPPORTED;
  if (code == OK) *t = which == 0 ? 92 : 89;
  return code;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw) {
  const int code = check(device, mw);
  if (code == OK) *mw = 700000;
  return code;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
  const int code = check(device, reasons);
  if (code == OK) *reasons = ((Gpu *)device)->throttle;
  return code;
}

#define ONE_NUMBER(function, value)                                                                          \
  int function(void *device, unsigned *x);                                                                   \
  int function(void *device, unsigned *x) {                                                                  \
    const int code = check(device, x);                                                                       \
    if (code == OK) *x = value;                                                                              \
    return code;                                                                                             \
  }
ONE_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, 1)
ONE_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, 8)
ONE_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, 5)
ONE_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)

/* Another number at each call, so that a reader who keeps an answer is seen to. */
int nvmlDeviceGetPcieThroughput(void *device, int counter, unsigned *kib);
int nvmlDeviceGetPcieThroughput(void *device, int counter, unsigned *kib) {
  static unsigned calls;
  const int code = check(device, kib);
  if (code == OK && (counter < 0 || counter > 1)) return INVALID;
  if (code == OK) *kib = (counter == 1 ? 2000 : 1000) + calls++ / 2;
  return code;
}

typedef struct {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
} Pci;
int nvmlDeviceGetPciInfo_v3(void *device, Pci *p);
int nvmlDeviceGetPciInfo_v3(void *device, Pci *p) {
  const int code = check(device, p);
  if (code != OK) return code;
  memset(p, 0, sizeof *p);
  strcpy(p->text, ((Gpu *)device)->bus);
  return OK;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
  const int code = check(device, major);
  if (code == OK && !minor) return INVALID;
  if (code == OK) *major = 9, *minor = 0;
  return code;
}

int nvmlDeviceGetPersistenceMode(void *device, int *on);
int nvmlDeviceGetPersistenceMode(void *device, int *on) {
  const int code = check(device, on);
  if (code == OK) *on = device == gpus;
  return code;
}

typedef struct {
  unsigned pid;
  unsigned long long memory;
  unsigned instance, compute_instance;
} Process;
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, Process *p);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, Process *p) {
  int code = check(device, n);
  if (code != OK) return code;
  static unsigned asked;
  const unsigned have = device == gpus ? (strstr(mode(), "busy") ? 2 + 20 * (asked++ % 2) : 2) : 0, room = *n;
  if (room > 0 && !p) return INVALID;
  *n = have;
  if (room < have) return SIZE;
  for (unsigned i = 0; i < have; i++)
    p[i] = (Process){i == 0 ? (unsigned)getpid() : 4000000000u, 2ull << 30, ~0u, ~0u};
  if (have > 1) p[1].memory = ~0ull;
  return OK;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *n, Process *p);
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *n, Process *p) {
  int code = check(device, n);
  if (code != OK) return code;
  const unsigned room = *n;
  *n = 1;
  if (room < 1) return SIZE;
  p[0] = (Process){1, 3ull << 20, ~0u, ~0u};
  return OK;
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
