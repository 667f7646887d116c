/* nvml_read.c: a GPU's readings and facts. What it does not give stays invalid, or NAN, or 0 as its field
 * says. */
#include "engine/monitor/host.h"
#include "engine/monitor/nvml-private.h"

#include <math.h>
#include <string.h>

static NvmlGpu *gpu_at(const TmNvml *n, guint gpu) {
  return &g_array_index(n->gpus, NvmlGpu, gpu);
}

static gboolean read_memory(const TmNvml *n, NvmlDevice d, unsigned long long *used,
                            unsigned long long *total) {
  /* Version 2 does not count the driver's own reserve as used, as nvidia-smi shows it. */
  NvmlMemoryV2 v2 = {.version = NVML_MEMORY_V2};
  if (n->memory_v2 && n->memory_v2(d, &v2) == NVML_OK) {
    *used = v2.used;
    *total = v2.total;
    return TRUE;
  }
  NvmlMemory v1 = {0};
  if (n->memory(d, &v1) != NVML_OK) return FALSE;
  *used = v1.used;
  *total = v1.total;
  return TRUE;
}

/* The calls that give one unsigned number, by form. */
typedef int (*Plain)(NvmlDevice, unsigned *);
typedef int (*Chosen)(NvmlDevice, int, unsigned *);

static double plain(Plain f, NvmlDevice d) {
  unsigned x = 0;
  return f && f(d, &x) == NVML_OK ? x : (double)NAN;
}
static double chosen(Chosen f, NvmlDevice d, int which) {
  unsigned x = 0;
  return f && f(d, which, &x) == NVML_OK ? x : (double)NAN;
}

static void put(TmMonitorSample *s, TmReading r, double value) {
  if (!isnan(value)) tm_monitor_set(s, r, value);
}

static void sample_pcie(const TmNvml *n, NvmlGpu *g, TmMonitorSample *s) {
  put(s, TM_READING_GPU_PCIE_GENERATION, plain(n->pcie_generation, g->device));
  put(s, TM_READING_GPU_PCIE_LANES, plain(n->pcie_lanes, g->device));
  if (g->pcie_us == 0 || s->time_us - g->pcie_us >= G_USEC_PER_SEC) {
    g->pcie_us = s->time_us;
    g->pcie_in = chosen(n->pcie_throughput, g->device, NVML_PCIE_IN) * 1024; /* told in KiB */
    g->pcie_out = chosen(n->pcie_throughput, g->device, NVML_PCIE_OUT) * 1024;
  }
  put(s, TM_READING_GPU_PCIE_IN, g->pcie_in);
  put(s, TM_READING_GPU_PCIE_OUT, g->pcie_out);
}

void tm_nvml_sample_gpu(TmNvml *n, guint gpu, TmMonitorSample *s) {
  NvmlGpu *g = gpu_at(n, gpu);
  const NvmlDevice d = g->device;
  NvmlUtilization u;
  unsigned long long used, total, reasons;
  if (n->utilization && n->utilization(d, &u) == NVML_OK) {
    tm_monitor_set(s, TM_READING_GPU_LOAD, u.gpu);
    tm_monitor_set(s, TM_READING_GPU_MEMORY_LOAD, u.memory);
  }
  if (read_memory(n, d, &used, &total)) tm_monitor_set(s, TM_READING_GPU_MEMORY, (double)used);
  put(s, TM_READING_GPU_TEMPERATURE, chosen(n->temperature, d, NVML_TEMPERATURE_GPU));
  put(s, TM_READING_GPU_POWER, plain(n->power, d) / 1000);
  put(s, TM_READING_GPU_CLOCK, chosen(n->clock, d, NVML_CLOCK_SM));
  put(s, TM_READING_GPU_MEMORY_CLOCK, chosen(n->clock, d, NVML_CLOCK_MEMORY));
  if (n->throttle && n->throttle(d, &reasons) == NVML_OK)
    tm_monitor_set(s, TM_READING_GPU_THROTTLE, (double)(reasons & G_MAXUINT32));
  sample_pcie(n, g, s);
}

void tm_nvml_sample(TmNvml *n, TmMonitorSample *s) {
  tm_nvml_sample_gpu(n, n->chosen, s);
}

guint tm_nvml_n_gpus(const TmNvml *n) {
  return n->n_whole;
}

/* ---- facts ---- */

void tm_nvml_gpu(TmNvml *n, guint gpu, TmGpu *out) {
  const NvmlDevice d = gpu_at(n, gpu)->device;
  char text[NVML_TEXT] = "";
  unsigned long long used, total;
  unsigned lanes = 0;
  NvmlPci pci = {0};
  *out = (TmGpu){.power_limit = plain(n->power_limit, d) / 1000,
                 .clock = chosen(n->max_clock, d, NVML_CLOCK_SM),
                 .memory_clock = chosen(n->max_clock, d, NVML_CLOCK_MEMORY),
                 .slow_at = chosen(n->threshold, d, NVML_THRESHOLD_SLOW),
                 .off_at = chosen(n->threshold, d, NVML_THRESHOLD_OFF),
                 .pcie_generation = plain(n->max_pcie_generation, d)};
  if (n->name(d, text, sizeof text) == NVML_OK)
    out->name = g_utf8_make_valid(text, (gssize)strnlen(text, sizeof text));
  if (!out->name || !*out->name) {
    g_free(out->name);
    out->name = g_strdup("NVIDIA GPU");
  }
  if (n->uuid(d, text, sizeof text) == NVML_OK) out->uuid = g_strndup(text, sizeof text);
  if (n->pci && n->pci(d, &pci) == NVML_OK) out->bus = g_strndup(pci.text, sizeof pci.text);
  if (read_memory(n, d, &used, &total)) out->memory = total;
  if (n->max_pcie_lanes && n->max_pcie_lanes(d, &lanes) == NVML_OK) out->pcie_lanes = (int)lanes;
  if (!n->compute || n->compute(d, &out->compute_major, &out->compute_minor) != NVML_OK)
    out->compute_major = out->compute_minor = 0;
  int on = 0;
  out->knows_persistence = n->persistence && n->persistence(d, &on) == NVML_OK;
  out->persistence = out->knows_persistence && on != 0;
}

static void add_programs(const TmNvml *n, NvmlDevice d, gboolean draws, GArray *all) {
  int (*const list)(NvmlDevice, unsigned *, NvmlProcess *) = draws ? n->drawing : n->computing;
  unsigned count = 0;
  if (!list || list(d, &count, NULL) != NVML_INSUFFICIENT_SIZE || count > 4096) return;
  count += 8; /* more may have begun meanwhile */
  g_autofree NvmlProcess *found = g_new0(NvmlProcess, count);
  if (list(d, &count, found) != NVML_OK) return;
  for (unsigned i = 0; i < count; i++) {
    TmGpuProgram p = {.pid = found[i].pid,
                      .memory = found[i].memory == ~0ull ? (double)NAN : (double)found[i].memory,
                      .draws = draws};
    g_autofree char *path = g_strdup_printf("/proc/%u/comm", p.pid), *name = NULL;
    if (g_file_get_contents(path, &name, NULL, NULL)) p.name = g_utf8_make_valid(g_strchomp(name), -1);
    g_array_append_val(all, p);
  }
}

static void clear_program(gpointer p) {
  tm_gpu_program_clear(p);
}

GArray *tm_nvml_programs(TmNvml *n, guint gpu) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(TmGpuProgram));
  g_array_set_clear_func(all, clear_program);
  add_programs(n, gpu_at(n, gpu)->device, FALSE, all);
  add_programs(n, gpu_at(n, gpu)->device, TRUE, all);
  return all;
}

void tm_nvml_machine(TmNvml *n, TmMachine *m) {
  char text[NVML_TEXT] = "";
  int cuda = 0;
  TmGpu one;
  tm_nvml_gpu(n, n->chosen, &one);
  m->gpu = g_steal_pointer(&one.name);
  m->gpu_uuid = g_steal_pointer(&one.uuid);
  m->gpu_memory = one.memory;
  tm_gpu_clear(&one);
  m->n_gpus = n->n_whole;
  m->gpus = g_new0(TmGpu, m->n_gpus);
  for (guint i = 0; i < m->n_gpus; i++) tm_nvml_gpu(n, i, &m->gpus[i]);
  if (n->driver_version && n->driver_version(text, sizeof text) == NVML_OK)
    m->driver = g_strndup(text, sizeof text);
  if (n->cuda_version && n->cuda_version(&cuda) == NVML_OK && cuda > 0)
    m->cuda = g_strdup_printf("%d.%d", cuda / 1000, cuda % 1000 / 10);
}
