/* The processor: load as a whole and by core, Tarmac's share, temperature, clock. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gi18n.h>

#include "engine/monitor/host.h"
#include "engine/monitor/proc.h"
#include "engine/monitor/source.h"

enum { MAX_CORES = 1024 };

typedef struct {
  guint64 busy, total; /* ticks at the last call; total 0: none yet */
} Ticks;

typedef struct {
  TmSource base;
  char *root;
  TmHost *host;
  guint n_cores;
  int *core; /* numbers of the cores, ascending */
  Ticks *ticks;
  guint64 own; /* ticks of this process at the last call */
  gint64 own_time_us;
} Processor;

/* Sensors 0 … FIRST_CORE - 1 in this order; the cores follow. */
enum { LOAD, OWN, TEMPERATURE, CLOCK, FIRST_CORE };

static double load_between(Ticks *last, guint64 busy, guint64 total) {
  double load = NAN;
  /* iowait may run backwards by a tick; such a pair is no reading. */
  if (last->total && total > last->total && busy >= last->busy && busy - last->busy <= total - last->total)
    load = 100.0 * (double)(busy - last->busy) / (double)(total - last->total);
  *last = (Ticks){busy, total};
  return load;
}

/* The line of one core; "cpu  1 2 3" is that of all, in which %d would take the first number. */
static gboolean of_core(const char *line) {
  return g_str_has_prefix(line, "cpu") && g_ascii_isdigit(line[3]);
}

static int place_of(const Processor *p, int core) {
  for (guint i = 0; i < p->n_cores; i++)
    if (p->core[i] == core) return (int)i;
  return -1;
}

static void sample_cores(Processor *p, double *values) {
  g_autofree char *text = tm_proc_text(p->root, "/proc/stat");
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    int core;
    unsigned long long t[8] = {0};
    if (!of_core(line) || sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, t, t + 1,
                                 t + 2, t + 3, t + 4, t + 5, t + 6, t + 7) < 5)
      continue;
    const int place = place_of(p, core);
    guint64 total = 0;
    for (int i = 0; i < 8; i++) total += t[i];
    if (place >= 0) values[FIRST_CORE + place] = load_between(&p->ticks[place], total - t[3] - t[4], total);
  }
}

/* Ticks of user and system time, the 14th and 15th field; the name before them may hold blanks and brackets.
 */
static gboolean own_ticks(const Processor *p, guint64 *out) {
  g_autofree char *text = tm_proc_text(p->root, "/proc/self/stat");
  const char *at = text ? strrchr(text, ')') : NULL;
  unsigned long long user, system;
  if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
    return FALSE;
  *out = user + system;
  return TRUE;
}

static void sample_own(Processor *p, gint64 now_us, double *values) {
  guint64 ticks;
  if (!own_ticks(p, &ticks)) {
    p->own_time_us = 0;
    return;
  }
  const double seconds = (double)(now_us - p->own_time_us) / 1e6, second = (double)sysconf(_SC_CLK_TCK);
  if (p->own_time_us && seconds > 0 && ticks >= p->own && second > 0)
    values[OWN] =
        CLAMP(100.0 * (double)(ticks - p->own) / second / seconds / MAX(p->n_cores, 1u), 0.0, 100.0);
  p->own = ticks;
  p->own_time_us = now_us;
}

/* The mean clock of all cores: what cpufreq says, or what stands in /proc/cpuinfo, which virtual machines
 * have. */
static double clock_now(const Processor *p, const char *cpuinfo) {
  double sum = 0;
  guint n = 0;
  for (guint i = 0; i < p->n_cores; i++) {
    g_autofree char *path =
        g_strdup_printf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", p->core[i]);
    g_autofree char *text = tm_proc_line(p->root, path);
    const double khz = text ? g_ascii_strtod(text, NULL) : 0;
    if (khz <= 0) break;
    sum += khz / 1000;
    n++;
  }
  for (const char *at = n ? NULL : cpuinfo; at && (at = strstr(at, "\ncpu MHz")); at++) {
    const char *colon = strchr(at, ':');
    const double mhz = colon ? g_ascii_strtod(colon + 1, NULL) : 0;
    if (mhz <= 0) continue;
    sum += mhz;
    n++;
  }
  return n ? sum / n : NAN;
}

static void sample(TmSource *s, gint64 now_us, double *values) {
  Processor *p = (Processor *)s;
  TmMonitorSample m = {.time_us = now_us};
  tm_host_sample(p->host, &m);
  if (m.valid & 1u << TM_READING_CPU_LOAD) values[LOAD] = m.value[TM_READING_CPU_LOAD];
  if (m.valid & 1u << TM_READING_CPU_TEMPERATURE) values[TEMPERATURE] = m.value[TM_READING_CPU_TEMPERATURE];
  sample_own(p, now_us, values);
  sample_cores(p, values);
  g_autofree char *cpuinfo = tm_proc_text(p->root, "/proc/cpuinfo");
  values[CLOCK] = clock_now(p, cpuinfo);
}

static void close_processor(TmSource *s) {
  Processor *p = (Processor *)s;
  tm_host_close(p->host);
  g_free(p->root);
  g_free(p->core);
  g_free(p->ticks);
}

static void find_cores(Processor *p) {
  g_autofree char *text = tm_proc_text(p->root, "/proc/stat");
  g_autoptr(GArray) cores = g_array_new(FALSE, FALSE, sizeof(int));
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    int core;
    if (cores->len < MAX_CORES && of_core(line) && sscanf(line, "cpu%d", &core) == 1)
      g_array_append_val(cores, core);
  }
  p->n_cores = cores->len;
  p->core = g_memdup2(cores->data, cores->len * sizeof(int));
  p->ticks = g_new0(Ticks, MAX(cores->len, 1u));
}

/* Of all that a processor can do, what a training step gains by. */
static char *features(const char *cpuinfo) {
  static const struct {
    const char *flag, *name;
  } known[] = {{"avx2", "AVX2"},         {"fma", "FMA"},          {"f16c", "F16C"},
               {"avx_vnni", "AVX-VNNI"}, {"avx512f", "AVX-512"},  {"avx512_vnni", "VNNI"},
               {"avx512_bf16", "BF16"},  {"avx512_fp16", "FP16"}, {"amx_tile", "AMX"},
               {"asimd", "NEON"},        {"sve", "SVE"},          {"bf16", "BF16"}};
  g_autofree char *flags = tm_proc_field(cpuinfo, "flags");
  if (!flags) flags = tm_proc_field(cpuinfo, "Features");
  if (!flags) return NULL;
  g_auto(GStrv) words = g_strsplit(flags, " ", -1);
  GString *s = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (g_strv_contains((const char *const *)words, known[i].flag))
      g_string_append_printf(s, "%s%s", s->len ? " " : "", known[i].name);
  return g_string_free(s, FALSE);
}

/* "48 KB, 2 MB, 32 MB" of the first core: level 1 data, 2, 3. */
static char *caches(const Processor *p) {
  GString *s = g_string_new(NULL);
  for (int i = 0; i < 8; i++) {
    g_autofree char *dir = g_strdup_printf("/sys/devices/system/cpu/cpu0/cache/index%d/", i);
    g_autofree char *type_path = g_strconcat(dir, "type", NULL), *size_path = g_strconcat(dir, "size", NULL);
    g_autofree char *type = tm_proc_line(p->root, type_path), *size = tm_proc_line(p->root, size_path);
    if (!size || g_strcmp0(type, "Instruction") == 0) continue;
    const guint64 kib = g_ascii_strtoull(size, NULL, 10);
    g_autofree char *words = g_format_size_full(kib * 1024, G_FORMAT_SIZE_IEC_UNITS);
    g_string_append_printf(s, "%s%s", s->len ? " · " : "", words);
  }
  return g_string_free(s, FALSE);
}

static void add_properties(Processor *p, const char *cpuinfo) {
  TmSource *s = &p->base;
  g_autofree char *physical = tm_proc_field(cpuinfo, "cpu cores");
  tm_source_add_property(s, _("Logical cores"), g_strdup_printf("%u", p->n_cores));
  tm_source_add_property(s, _("Cores of a socket"), g_steal_pointer(&physical));
  const guint usable = g_get_num_processors();
  if (usable != p->n_cores) tm_source_add_property(s, _("Usable by Tarmac"), g_strdup_printf("%u", usable));
  tm_source_add_property(s, _("Features"), features(cpuinfo));
  tm_source_add_property(s, _("Caches"), caches(p));
  g_autofree char *top = tm_proc_line(p->root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (top)
    tm_source_add_property(s, _("Highest clock"),
                           g_strdup_printf("%.0f\u2009MHz", g_ascii_strtod(top, NULL) / 1000));
  tm_source_add_property(s, _("Governor"),
                         tm_proc_line(p->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
}

TmSource *tm_source_processor(const char *root) {
  Processor *p = g_new0(Processor, 1);
  TmSource *s = &p->base;
  g_autofree char *name = tm_host_cpu_name(root), *cpuinfo = tm_proc_text(root, "/proc/cpuinfo");
  tm_source_init(s, TM_DEVICE_PROCESSOR, 0, _("Processor"), name);
  s->sample = sample;
  s->close = close_processor;
  p->root = g_strdup(root);
  p->host = tm_host_open(root);
  find_cores(p);
  g_autofree char *cores = g_strdup_printf(ngettext("%u core", "%u cores", p->n_cores), p->n_cores);
  tm_source_add_sensor(s, "load", g_strdup(_("Load")), TM_UNIT_PERCENT, 100, g_steal_pointer(&cores), -1);
  tm_source_add_sensor(s, "tarmac", g_strdup(_("Tarmac’s share")), TM_UNIT_PERCENT, 100,
                       g_strdup(_("of all cores")), -1);
  tm_source_add_sensor(s, "temperature", g_strdup(_("Temperature")), TM_UNIT_CELSIUS, 100, NULL, -1);
  tm_source_add_sensor(s, "clock", g_strdup(_("Clock")), TM_UNIT_MEGAHERTZ, 0,
                       g_strdup(_("mean of all cores")), -1);
  for (guint i = 0; i < p->n_cores; i++)
    tm_source_add_sensor(s, "core", g_strdup_printf(_("Core %d"), p->core[i]), TM_UNIT_PERCENT, 100, NULL,
                         p->core[i]);
  add_properties(p, cpuinfo);
  return s;
}
