/* test_host.c: readings from /proc and /sys, against files with known content and against the real machine.
 */
#include <string.h>
#include <unistd.h>

#include "engine/monitor/host.h"
#include "tests/monitor/fake_root.h"

static gboolean has(const TmMonitorSample *s, TmReading r) {
  return (s->valid >> r & 1) != 0;
}

static TmMonitorSample sample(TmHost *h, gint64 time_us) {
  TmMonitorSample s = {.time_us = time_us};
  tm_host_sample(h, &s);
  return s;
}

/* Two looks a second apart: rates come with the second. */
static void test_values(FakeRoot *m, gconstpointer data) {
  (void)data;
  fake_root_put(m, "/proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
  fake_root_put(m, "/proc/meminfo",
                "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:   12000 kB\n");
  fake_root_put(m, "/proc/self/statm", "9000 250 100 1 0 300 0\n");
  fake_root_put(m, "/proc/self/io", "rchar: 5\nwchar: 6\nread_bytes: 1000000\nwrite_bytes: 3\n");
  fake_root_put(m, "/sys/class/hwmon/hwmon0/name", "nvme\n");
  fake_root_put(m, "/sys/class/hwmon/hwmon0/temp1_input", "99000\n");
  fake_root_put(m, "/sys/class/hwmon/hwmon1/name", "k10temp\n");
  fake_root_put(m, "/sys/class/hwmon/hwmon1/temp1_input", "54250\n");
  g_autoptr(TmHost) h = tm_host_open(m->root);
  const TmMonitorSample first = sample(h, 1000000);
  g_assert_false(has(&first, TM_READING_CPU_LOAD));
  g_assert_false(has(&first, TM_READING_DISK_READ));
  g_assert_true(has(&first, TM_READING_MEMORY));
  g_assert_cmpfloat(first.value[TM_READING_MEMORY], ==, 4000.0 * 1024);
  g_assert_cmpfloat(first.value[TM_READING_PROCESS], ==, 250.0 * (double)sysconf(_SC_PAGESIZE));
  g_assert_cmpfloat(first.value[TM_READING_CPU_TEMPERATURE], ==, 54.25);
  fake_root_put(m, "/proc/stat", "cpu  150 0 125 725 100 0 0 0 0 0\n");
  fake_root_put(m, "/proc/self/io", "read_bytes: 3000000\n");
  const TmMonitorSample second = sample(h, 1500000);
  g_assert_true(has(&second, TM_READING_CPU_LOAD));
  g_assert_cmpfloat(second.value[TM_READING_CPU_LOAD], ==, 75);
  g_assert_cmpfloat(second.value[TM_READING_DISK_READ], ==, 4e6);
  for (int r = TM_READING_GPU_LOAD; r < TM_N_READINGS; r++) g_assert_false(has(&second, (TmReading)r));
}

/* A thermal zone where there is no sensor chip. */
static void test_zone(FakeRoot *m, gconstpointer data) {
  (void)data;
  fake_root_put(m, "/sys/class/thermal/thermal_zone0/type", "acpitz\n");
  fake_root_put(m, "/sys/class/thermal/thermal_zone0/temp", "20000\n");
  fake_root_put(m, "/sys/class/thermal/thermal_zone3/type", "x86_pkg_temp\n");
  fake_root_put(m, "/sys/class/thermal/thermal_zone3/temp", "71000\n");
  g_autoptr(TmHost) h = tm_host_open(m->root);
  const TmMonitorSample s = sample(h, 1);
  g_assert_cmpfloat(s.value[TM_READING_CPU_TEMPERATURE], ==, 71);
}

/* What is missing, cut or nonsense is invalid, never 0, and does not poison the next look. */
static void test_absent(FakeRoot *m, gconstpointer data) {
  (void)data;
  g_autoptr(TmHost) h = tm_host_open(m->root);
  TmMonitorSample s = sample(h, 1);
  g_assert_cmpuint(s.valid, ==, 0);
  fake_root_put(m, "/proc/stat", "intr 1 2 3\n");
  fake_root_put(m, "/proc/meminfo", "MemTotal: lots\n");
  fake_root_put(m, "/proc/self/statm", "");
  fake_root_put(m, "/proc/self/io", "read_bytes:\n");
  s = sample(h, 2);
  g_assert_cmpuint(s.valid, ==, 0);
  fake_root_put(m, "/proc/stat", "cpu  10 0 10 80 0 0 0 0\n");
  s = sample(h, 3);
  g_assert_false(has(&s, TM_READING_CPU_LOAD));              /* the first good look */
  fake_root_put(m, "/proc/stat", "cpu  5 0 5 10 0 0 0 0\n"); /* backwards */
  s = sample(h, 4);
  g_assert_false(has(&s, TM_READING_CPU_LOAD));
  fake_root_put(m, "/proc/stat", "cpu  15 0 5 20 0 0 0 0\n");
  s = sample(h, 5);
  g_assert_cmpfloat(s.value[TM_READING_CPU_LOAD], ==, 50);
}

static void test_names(FakeRoot *m, gconstpointer data) {
  (void)data;
  fake_root_put(
      m, "/proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: X\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Fast CPU 9000 \n");
  fake_root_put(m, "/proc/meminfo", "MemTotal:       16000 kB\n");
  g_autofree char *name = tm_host_cpu_name(m->root);
  g_assert_cmpstr(name, ==, "Fast CPU 9000");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 16000 * 1024);
  fake_root_put(m, "/sys/fs/cgroup/memory.max", "max\n");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 16000 * 1024);
  fake_root_put(m, "/sys/fs/cgroup/memory.max", "1048576\n");
  g_assert_cmpuint(tm_host_memory(m->root), ==, 1048576);
  fake_root_put(m, "/proc/cpuinfo", "");
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
  FAKE_ROOT_TEST("/host/values", test_values);
  FAKE_ROOT_TEST("/host/zone", test_zone);
  FAKE_ROOT_TEST("/host/absent", test_absent);
  FAKE_ROOT_TEST("/host/names", test_names);
  g_test_add_func("/host/this-machine", test_this_machine);
  return g_test_run();
}
