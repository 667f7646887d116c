/* test_monitor.c: the sampling thread: its pace, its ring, its end, with and without a GPU. */
#include "engine/monitor/monitor.h"

static const char *fake; /* the stand-in for NVIDIA's library */

/* Waits until there are @n samples, at most 10 seconds. */
static guint wait_for(TmMonitor *m, TmMonitorSample *out, guint n) {
  guint have = 0;
  for (int i = 0; i < 1000 && (have = tm_monitor_read(m, out, n)) < n; i++) g_usleep(10000);
  return have;
}

static void test_pace(void) {
  g_autoptr(TmMonitor) m = tm_monitor_new();
  TmMonitorSample s[5];
  g_assert_cmpuint(wait_for(m, s, 5), ==, 5);
  for (int i = 1; i < 5; i++) g_assert_cmpint(s[i].time_us - s[i - 1].time_us, >, 100000);
  /* A loaded machine may be late, but the mean of an idle one is a quarter second. */
  g_test_message("4 samples in %.2f s", 1e-6 * (double)(s[4].time_us - s[0].time_us));
  g_assert_cmpint(s[4].time_us - s[0].time_us, >=, 900000);
  g_assert_cmpint(s[4].time_us - s[0].time_us, <, 6000000);
  for (int r = TM_READING_GPU_LOAD; r < TM_N_READINGS; r++) g_assert_false(s[4].valid >> r & 1);
  g_assert_true(s[4].valid >> TM_READING_MEMORY & 1);
  g_assert_true(s[4].valid >> TM_READING_PROCESS & 1);
}

/* The first test runs without the library, this one and the rest with the stand-in. */
static void test_read(void) {
  g_setenv("TARMAC_NVML", fake, TRUE);
  g_autoptr(TmMonitor) m = tm_monitor_new();
  TmMonitorSample s[3], last;
  g_assert_cmpuint(tm_monitor_read(m, s, 0), ==, 0);
  g_assert_cmpuint(wait_for(m, s, 3), ==, 3);
  g_assert_cmpuint(tm_monitor_read(m, &last, 1), ==, 1);
  g_assert_cmpint(last.time_us, >=, s[2].time_us);
  g_assert_true(s[2].valid >> TM_READING_GPU_LOAD & 1);
  g_assert_cmpfloat(s[2].value[TM_READING_GPU_LOAD], ==, 62);
}

static void test_follow(void) {
  g_setenv("TARMAC_NVML", fake, TRUE);
  g_autoptr(TmMonitor) m = tm_monitor_new();
  TmMonitorSample s;
  wait_for(m, &s, 1);
  tm_monitor_follow(m, "GPU-22222222-bbbb");
  for (int i = 0; i < 1000; i++) {
    g_usleep(10000);
    if (tm_monitor_read(m, &s, 1) == 1 && s.value[TM_READING_GPU_LOAD] == 17) break;
  }
  g_assert_cmpfloat(s.value[TM_READING_GPU_LOAD], ==, 17);
  tm_monitor_follow(m, "GPU-unknown");
  const gint64 then = s.time_us;
  for (int i = 0; i < 1000 && tm_monitor_read(m, &s, 1) == 1 && s.time_us < then + 300000; i++)
    g_usleep(10000);
  g_assert_cmpfloat(s.value[TM_READING_GPU_LOAD], ==, 17);
}

/* Ending takes no quarter second, and many starts leave no thread. */
static void test_end(void) {
  g_setenv("TARMAC_NVML", fake, TRUE);
  const gint64 t0 = g_get_monotonic_time();
  for (int i = 0; i < 30; i++) {
    TmMonitor *m = tm_monitor_new();
    tm_monitor_free(m);
  }
  g_assert_cmpint(g_get_monotonic_time() - t0, <, 5000000);
  tm_monitor_free(NULL);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 2) {
    g_printerr("usage: test_monitor FAKE_NVML\n");
    return 2;
  }
  fake = argv[1];
  g_setenv("TARMAC_NVML", "libtarmac-there-is-no-such-library.so.1", TRUE);
  g_setenv("FAKE_NVML", "", TRUE);
  g_unsetenv("CUDA_VISIBLE_DEVICES");
  g_test_add_func("/monitor/pace", test_pace);
  g_test_add_func("/monitor/read", test_read);
  g_test_add_func("/monitor/follow", test_follow);
  g_test_add_func("/monitor/end", test_end);
  return g_test_run();
}
