#include "engine/monitor/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/monitor/proc.h"

struct _TmHost {
  char *root;
  char *temperature; /* file with millidegrees, NULL when there is none */
  gboolean have_load, have_disk;
  guint64 busy, total; /* ticks of all cores at the last call */
  guint64 read_bytes;
  gint64 read_time_us;
};

static gboolean in_list(const char *name, const char *const *list) {
  return name && g_strv_contains(list, name);
}

/* Looks in each folder of @parent for one whose file @name holds a word of @list, and gives the path of its
 * file @value. */
static char *find_sensor(const char *root, const char *parent, const char *name, const char *const *list,
                         const char *value) {
  g_autofree char *top = g_strconcat(root, parent, NULL);
  GDir *d = g_dir_open(top, 0, NULL);
  if (!d) return NULL;
  char *found = NULL;
  for (const char *entry; (entry = g_dir_read_name(d));) {
    g_autofree char *dir = g_build_filename(top, entry, NULL), *file = g_build_filename(dir, name, NULL);
    g_autofree char *kind = tm_proc_line("", file);
    g_autofree char *path = g_build_filename(dir, value, NULL);
    if (!in_list(kind, list) || !g_file_test(path, G_FILE_TEST_EXISTS)) continue;
    /* The order of a folder is chance: the lowest name, so that every start reads the same sensor. */
    if (!found || strcmp(path, found) < 0) {
      g_free(found);
      found = g_steal_pointer(&path);
    }
  }
  g_dir_close(d);
  return found;
}

static char *find_temperature(const char *root) {
  static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal", NULL};
  static const char *const zones[] = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal", NULL};
  char *path = find_sensor(root, "/sys/class/hwmon", "name", chips, "temp1_input");
  return path ? path : find_sensor(root, "/sys/class/thermal", "type", zones, "temp");
}

TmHost *tm_host_open(const char *root) {
  TmHost *h = g_new0(TmHost, 1);
  h->root = g_strdup(root);
  h->temperature = find_temperature(root);
  return h;
}

void tm_host_close(TmHost *h) {
  if (!h) return;
  g_free(h->root);
  g_free(h->temperature);
  g_free(h);
}

static void sample_load(TmHost *h, TmMonitorSample *s) {
  g_autofree char *text = tm_proc_text(h->root, "/proc/stat");
  unsigned long long t[8] = {0}; /* user nice system idle iowait irq softirq steal */
  if (!text || sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", t, t + 1, t + 2, t + 3, t + 4,
                      t + 5, t + 6, t + 7) < 4) {
    h->have_load = FALSE;
    return;
  }
  guint64 total = 0;
  for (int i = 0; i < 8; i++) total += t[i];
  const guint64 busy = total - t[3] - t[4];
  /* iowait may run backwards by a tick; such a pair is no reading. */
  if (h->have_load && total > h->total && busy >= h->busy && busy - h->busy <= total - h->total)
    tm_monitor_set(s, TM_READING_CPU_LOAD, 100.0 * (double)(busy - h->busy) / (double)(total - h->total));
  h->busy = busy;
  h->total = total;
  h->have_load = TRUE;
}

static void sample_memory(TmHost *h, TmMonitorSample *s) {
  g_autofree char *text = tm_proc_text(h->root, "/proc/meminfo");
  guint64 total, available;
  if (text && tm_proc_number(text, "MemTotal:", &total) && tm_proc_number(text, "MemAvailable:", &available) &&
      total >= available)
    tm_monitor_set(s, TM_READING_MEMORY, (double)(total - available) * 1024);
  g_autofree char *statm = tm_proc_text(h->root, "/proc/self/statm");
  unsigned long long resident;
  if (statm && sscanf(statm, "%*u %llu", &resident) == 1)
    tm_monitor_set(s, TM_READING_PROCESS, (double)resident * (double)sysconf(_SC_PAGESIZE));
}

static void sample_disk(TmHost *h, TmMonitorSample *s) {
  g_autofree char *text = tm_proc_text(h->root, "/proc/self/io");
  guint64 bytes;
  if (!text || !tm_proc_number(text, "read_bytes:", &bytes)) {
    h->have_disk = FALSE;
    return;
  }
  if (h->have_disk && s->time_us > h->read_time_us && bytes >= h->read_bytes)
    tm_monitor_set(s, TM_READING_DISK_READ,
                   (double)(bytes - h->read_bytes) * 1e6 / (double)(s->time_us - h->read_time_us));
  h->read_bytes = bytes;
  h->read_time_us = s->time_us;
  h->have_disk = TRUE;
}

static void sample_temperature(TmHost *h, TmMonitorSample *s) {
  char *text = NULL, *end = NULL;
  if (!h->temperature || !g_file_get_contents(h->temperature, &text, NULL, NULL)) return;
  const gint64 milli = g_ascii_strtoll(text, &end, 10);
  if (end != text && milli > -100000 && milli < 250000)
    tm_monitor_set(s, TM_READING_CPU_TEMPERATURE, (double)milli / 1000);
  g_free(text);
}

void tm_host_sample(TmHost *h, TmMonitorSample *s) {
  sample_load(h, s);
  sample_memory(h, s);
  sample_disk(h, s);
  sample_temperature(h, s);
}

char *tm_host_cpu_name(const char *root) {
  g_autofree char *text = tm_proc_text(root, "/proc/cpuinfo");
  static const char *const keys[] = {"model name", "Model", "Hardware", "cpu model", "cpu"};
  for (gsize k = 0; text && k < G_N_ELEMENTS(keys); k++) {
    const char *at = g_str_has_prefix(text, keys[k]) ? text : NULL;
    g_autofree char *start = g_strconcat("\n", keys[k], NULL);
    if (!at && (at = strstr(text, start))) at++;
    const char *colon = at ? strchr(at, ':') : NULL;
    if (!colon) continue;
    g_autofree char *name = g_strstrip(g_strndup(colon + 1, strcspn(colon + 1, "\n")));
    if (*name) return g_utf8_make_valid(name, -1);
  }
  struct utsname u;
  return g_strdup(uname(&u) == 0 ? u.machine : "?");
}

gsize tm_host_memory(const char *root) {
  g_autofree char *text = tm_proc_text(root, "/proc/meminfo"),
                  *limit = tm_proc_text(root, "/sys/fs/cgroup/memory.max");
  guint64 kib = 0;
  if (text) tm_proc_number(text, "MemTotal:", &kib);
  const guint64 total = kib * 1024,
                most = limit ? g_ascii_strtoull(limit, NULL, 10) : 0; /* "max" reads as 0 */
  return most && most < total ? most : total;
}
