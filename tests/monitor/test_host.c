/* test_host.c: readings from /proc and /sys, against files with known content and against the real machine.
 */
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/monitor/host.h"

typedef struct {
  char *root;
} Machine;

static void put(const Machine *m, const char *path, const char *text) {
  g_autofree char *full = g_strconcat(m->root, path, NULL), *dir = g_path_get_dirname(full);
  g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
  g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void set_up(Machine *m, gconstpointer data) {
  (void)data;
  m->root = g_dir_make_tmp("tarmac-host-XXXXXX", NULL);
  g_assert_nonnull(m->root);
}

static void remove_tree(const char *dir) {
  GDir *d = g_dir_open(dir, 0, NULL);
  for (const char *name; d && (name = g_dir_read_name(d));) {
    g_autofree char *path = g_build_filename(dir, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      remove_tree(path);
    else
      g_unlink(path);
  }
  if (d) g_dir_close(d);
  g_rmdir(dir);
}

static void tear_down(Machine *m, gconstpointer data) {
  (void)data;
  remove_tree(m->root);
  g_free(m->root);
}

static gboolean has(const TmMonitorSample *s, TmReading r) {
  return (s->valid >> r & 1) != 0;
}

static TmMonitorSample sample(TmHost *h, gint64 time_us) {
  TmMonitorSample s = {.time_us = time_us};
  tm_host_sample(h, &s);
  return s;
}

/* Two looks a second apart: rates come with the second. */
static void test_values(Machine *m, gconstpointer data) {
  (void)data;
  put(m, "/proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
  put(m, "/proc/meminfo", "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:   12000 kB\n");
  put(m, "/proc/self/statm", "9000 250 100 1 0 300 0\n");
  put(m, "/proc/self/io", "rchar: 5\nwchar: 6\nread_bytes: 1000000\nwrite_bytes: 3\n");
  put(m, "/sys/class/hwmon/hwmon0/name", "nvme\n");
  put(m, "/sys/class/hwmon/hwmon0/temp1_input", "99000\n");
  put(m, "/sys/class/hwmon/hwmon1/name", "k10temp\n");
  put(m, "/sys/class/hwmon/hwmon1/temp1_input", "54250\n");
  g_autoptr(TmHost) h = tm_host_open(m->root);
  const TmMonitorSample first = sample(h, 1000000);
  g_assert_false(has(&first, TM_READING_CPU_LOAD));
  g_assert_false(has(&first, TM_READING_DISK_READ));
  g_assert_true(has(&first, TM_READING_MEMORY));
  g_assert_cmpfloat(first.value[TM_READING_MEMORY], ==, 4000.0 * 1024);
  g_assert_cmpfloat(first.value[TM_READING_PROCESS], ==, 250.0 * (double)sysconf(_SC_PAGESIZE));
  g_assert_cmpfloat(first.value[TM_READING_CPU_TEMPERATURE], ==, 54.25);
  put(m, "/proc/stat", "cpu  150 0 125 725 100 0 0 0 0 0\n");
  put(m, "/proc/self/io", "read_bytes: 3000000\n");
  const TmMonitorSample second = sample(h, 1500000);
  g_assert_true(has(&second, TM_READING_CPU_LOAD));
  g_assert_cmpfloat(second.value[TM_READING_CPU_LOAD], ==, 75);
  g_assert_cmpfloat(second.value[TM_READING_DISK_READ], ==, 4e6);
  for (int r = TM_READING_GPU_LOAD; r < TM_N_READINGS; r++) g_assert_false(has(&second, (TmReading)r));
}

/* A thermal zone where there is no sensor chip. */
static void test_zone(Machine *m, gconstpointer data) {
  (void)data;
  put(m, "/sys/class/thermal/thermal_zone0/type", "acpitz\n");
  put(m, "/sys/class/thermal/thermal_zone0/temp", "20000\n");
  put(m, "/sys/class/thermal/thermal_zone3/type", "x86_pkg_temp\n");
  put(m, "/sys/class/thermal/thermal_zone3/temp", "71000\n");
  g_autoptr(TmHost) h = tm_host_open(m->root);
  const TmMonitorSample s = sample(h, 1);
  g_assert_cmpfloat(s.value[TM_READING_CPU_TEMPERATURE], ==, 71);
}

/* What is missing, cut or nonsense is invalid, never 0, and does not poison the next look. */
static void test_absent(Machine *m, gconstpointer data) {
  (void)data;
  g_autoptr(TmHost) h = tm_host_open(m->root);
  TmMonitorSample s = sample(h, 1);
  g_assert_cmpuint(s.valid, ==, 0);
  put(m, "/proc/stat", "intr 1 2 3\n");
  put(m, "/proc/meminfo", "MemTotal: lots\n");
  put(m, "/proc/self/statm", "");
  put(m, "/proc/self/io", "read_bytes:\n");
  s = sample(h, 2);
  g_assert_cmpuint(s.valid, ==, 0);
  put(m, "/proc/stat", "cpu  10 0 10 80 0 0 0 0\n");
  s = sample(h, 3);
  g_assert_false(has(&s, TM_READING_CPU_LOAD));    /* the first good look */
  put(m, "/proc/stat", "cpu  5 0 5 10 0 0 0 0\n"); /* backwards */
  s = sample(h, 4);
  g_assert_false(has(&s, TM_READING_CPU_LOAD));
  put(m, "/proc/stat", "cpu  15 0 5 20 0 0 0 0\n");
  s = sample(h, 5);
  g_assert_cmpfloat(s.value[TM_READING_CPU_LOAD], ==, 50);
}

static void test_names(Machine *m, gconstpointer data) {
  (void)data;
  put(m, "/proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: X\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Fast CPU 9000 \n");
  put(m, "/proc/meminfo", "MemTotal:       16000 kB\n");
  g_autofree char *name = tm_host_cpu_name(m->root);
  g_assert_cmpstr(name, ==, "Fast CPU 9000");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 16000 * 1024);
  put(m, "/sys/fs/cgroup/memory.max", "max\n");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 16000 * 1024);
  put(m, "/sys/fs/cgroup/memory.max", "1048576\n");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 1048576);
  put(m, "/proc/cpuinfo", "");
  g_autofree char *plain = tm_host_cpu_name(m->root);
  g_assert_cmpuint(strlen(plain), >, 0);
}

static void test_this_machine(void) {
  if (!g_file_test("/proc/self/statm", G_FILE_TEST_EXISTS)) {
    g_test_skip("there is no /proc here");
    return;
  }
  g_autoptr(TmHost) h = tm_host_open("");
  sample(h, g_get_monotonic_time());
  const gint64 until = g_get_monotonic_time() + 150000;
  volatile guint64 n = 0;
  while (g_get_monotonic_time() < until) n++;
  const TmMonitorSample s = sample(h, g_get_monotonic_time());
  g_assert_true(has(&s, TM_READING_CPU_LOAD));
  g_assert_cmpfloat(s.value[TM_READING_CPU_LOAD], >, 0);
  g_assert_cmpfloat(s.value[TM_READING_CPU_LOAD], <=, 100);
  g_assert_cmpfloat(s.value[TM_READING_PROCESS], >, 1e6);
  g_assert_cmpfloat(s.value[TM_READING_MEMORY], >, s.value[TM_READING_PROCESS]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/host/values", Machine, NULL, set_up, test_values, tear_down);
  g_test_add("/host/zone", Machine, NULL, set_up, test_zone, tear_down);
  g_test_add("/host/absent", Machine, NULL, set_up, test_absent, tear_down);
  g_test_add("/host/names", Machine, NULL, set_up, test_names, tear_down);
  g_test_add_func("/host/this-machine", test_this_machine);
  return g_test_run();
}
