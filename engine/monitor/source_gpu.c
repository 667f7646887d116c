/* One GPU, by NVML. */
#include <glib/gi18n.h>

#include "engine/monitor/nvml.h"
#include "engine/monitor/source.h"

typedef struct {
  TmSource base;
  TmNvml *nvml;
  guint gpu;
  guint throttle; /* bits of TmThrottle at the last sample */
} Gpu;

/* In the order in which the sensors are added. */
static const TmReading readings[] = {
    TM_READING_GPU_LOAD,  TM_READING_GPU_MEMORY_LOAD, TM_READING_GPU_MEMORY,  TM_READING_GPU_TEMPERATURE,
    TM_READING_GPU_POWER, TM_READING_GPU_CLOCK,       TM_READING_GPU_PCIE_IN, TM_READING_GPU_PCIE_OUT,
};

static gboolean has(const TmMonitorSample *m, TmReading r) {
  return (m->valid >> r & 1) != 0;
}

static void sample(TmSource *s, gint64 now_us, double *values) {
  Gpu *g = (Gpu *)s;
  TmMonitorSample m = {.time_us = now_us};
  tm_nvml_sample_gpu(g->nvml, g->gpu, &m);
  for (guint i = 0; i < G_N_ELEMENTS(readings); i++)
    if (has(&m, readings[i])) values[i] = m.value[readings[i]];
  g->throttle = has(&m, TM_READING_GPU_THROTTLE) ? (guint)m.value[TM_READING_GPU_THROTTLE] : 0;
}

static void tell(TmSource *s, char **note, GArray **programs) {
  Gpu *g = (Gpu *)s;
  *note = tm_throttle_text(g->throttle);
  *programs = tm_nvml_programs(g->nvml, g->gpu);
}

static void close_gpu(TmSource *s) {
  tm_nvml_close(((Gpu *)s)->nvml);
}

static char *limit(const char *format, double value) {
  return isnan(value) ? NULL : g_strdup_printf(format, value);
}

static void add_sensors(TmSource *s, const TmGpu *g) {
  g_autofree char *memory = g->memory ? g_format_size(g->memory) : NULL;
  tm_source_add_sensor(s, "load", g_strdup(_("Utilisation")), TM_UNIT_PERCENT, 100,
                       g_strdup(_("of the time something ran")), -1);
  tm_source_add_sensor(s, "memory_load", g_strdup(_("Memory access")), TM_UNIT_PERCENT, 100,
                       g_strdup(_("of the time it was read or written")), -1);
  tm_source_add_sensor(s, "memory", g_strdup(_("Memory")), TM_UNIT_BYTES, (double)g->memory,
                       memory ? g_strdup_printf(_("of %s"), memory) : NULL, -1);
  tm_source_add_sensor(s, "temperature", g_strdup(_("Temperature")), TM_UNIT_CELSIUS, 100,
                       limit(_("slows at %.0f\u2009°C"), g->slow_at), -1);
  tm_source_add_sensor(s, "power", g_strdup(_("Power")), TM_UNIT_WATTS,
                       isnan(g->power_limit) ? 0 : g->power_limit,
                       limit(_("limit %.0f\u2009W"), g->power_limit), -1);
  tm_source_add_sensor(s, "clock", g_strdup(_("Clock")), TM_UNIT_MEGAHERTZ, isnan(g->clock) ? 0 : g->clock,
                       limit(_("at most %.0f\u2009MHz"), g->clock), -1);
  tm_source_add_sensor(s, "to_gpu", g_strdup(_("Copies to the GPU")), TM_UNIT_BYTES_A_SECOND, 0,
                       g_strdup(_("over the bus")), -1);
  tm_source_add_sensor(s, "from_gpu", g_strdup(_("Copies from the GPU")), TM_UNIT_BYTES_A_SECOND, 0,
                       g_strdup(_("over the bus")), -1);
}

static void add_properties(TmSource *s, const TmGpu *g, const TmMachine *m) {
  tm_source_add_property(s, _("Driver"), g_strdup(m->driver));
  tm_source_add_property(s, _("CUDA of the driver"), g_strdup(m->cuda));
  if (g->compute_major) {
    tm_source_add_property(s, _("Compute capability"),
                           g_strdup_printf("%d.%d", g->compute_major, g->compute_minor));
    tm_source_add_property(s, "bf16", g_strdup(g->compute_major >= 8 ? _("in hardware") : _("no")));
  }
  tm_source_add_property(s, _("Memory"), g->memory ? g_format_size(g->memory) : NULL);
  if (g->pcie_lanes && !isnan(g->pcie_generation))
    tm_source_add_property(s, _("Bus"),
                           g_strdup_printf("PCIe %.0f.0 × %d", g->pcie_generation, g->pcie_lanes));
  tm_source_add_property(s, _("PCI address"), g_strdup(g->bus));
  tm_source_add_property(s, _("Memory clock"), limit("%.0f\u2009MHz", g->memory_clock));
  if (g->knows_persistence)
    tm_source_add_property(s, _("Persistence mode"), g_strdup(g->persistence ? _("on") : _("off")));
}

TmSource *tm_source_gpu(guint index) {
  g_autoptr(TmNvml) n = tm_nvml_open(NULL);
  if (!n || index >= tm_nvml_n_gpus(n)) return NULL;
  Gpu *g = g_new0(Gpu, 1);
  TmSource *s = &g->base;
  TmMachine m = {0};
  TmGpu about;
  tm_nvml_machine(n, &m);
  tm_nvml_gpu(n, index, &about);
  g_autofree char *title = g_strdup_printf(_("GPU %u"), index);
  tm_source_init(s, TM_DEVICE_GPU, (int)index, title, about.name);
  s->device.uuid = g_strdup(about.uuid);
  s->sample = sample;
  s->tell = tell;
  s->close = close_gpu;
  g->gpu = index;
  add_sensors(s, &about);
  add_properties(s, &about, &m);
  g->nvml = g_steal_pointer(&n);
  tm_gpu_clear(&about);
  tm_machine_clear(&m);
  return s;
}
