/* test_devices.c: the machine part by part: sources against files with known content, the ring, the gaps, the
 * tables; GPUs through the stand-in for NVIDIA's library. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/monitor/source.h"
#include "tests/monitor/fake_root.h"

static const char *fake;

static const TmSensor *sensor_of(const TmDevice *d, guint i) {
  return &g_array_index(d->sensors, TmSensor, i);
}

static const char *property(const TmDevice *d, const char *label) {
  for (guint i = 0; i < d->properties->len; i++) {
    const TmProperty *p = &g_array_index(d->properties, TmProperty, i);
    if (strcmp(p->label, label) == 0) return p->value;
  }
  return NULL;
}

static double *sample(TmSource *s, gint64 now_us) {
  double *values = g_new(double, s->device.sensors->len);
  for (guint i = 0; i < s->device.sensors->len; i++) values[i] = NAN;
  s->sample(s, now_us, values);
  return values;
}

static void test_processor(FakeRoot *r, gconstpointer data) {
  (void)data;
  fake_root_put(r, "/proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Test 9000\ncpu cores\t: 2\ncpu MHz\t\t: 2000.0\nflags\t\t: "
                "sse avx2 fma avx512f\n\n"
                "processor\t: 1\ncpu MHz\t\t: 3000.0\n");
  fake_root_put(
      r, "/proc/stat",
      "cpu  100 0 100 700 100 0 0 0\ncpu0 50 0 50 350 50 0 0 0\ncpu2 50 0 50 350 50 0 0 0\nintr 5\n");
  fake_root_put(r, "/proc/self/stat", "7 (a) b (c) R 1 1 1 0 -1 4 0 0 0 0 100 50 0 0 20 0");
  fake_root_put(r, "/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  fake_root_put(r, "/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
  fake_root_put(r, "/sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n");
  fake_root_put(r, "/sys/devices/system/cpu/cpu0/cache/index1/size", "32K\n");
  TmSource *s = tm_source_processor(r->root);
  const TmDevice *d = &s->device;
  g_assert_cmpstr(d->name, ==, "Test 9000");
  g_assert_cmpuint(d->sensors->len, ==, 4 + 2);
  g_assert_cmpint(sensor_of(d, 4)->core, ==, 0);
  g_assert_cmpint(sensor_of(d, 5)->core, ==, 2); /* core 1 is switched off */
  g_assert_cmpstr(property(d, "Features"), ==, "AVX2 FMA AVX-512");
  g_assert_cmpstr(property(d, "Logical cores"), ==, "2");
  g_assert_nonnull(strstr(property(d, "Caches"), "48"));
  g_assert_null(strstr(property(d, "Caches"), "32"));
  g_assert_null(property(d, "Governor"));
  g_autofree double *first = sample(s, 1000000);
  g_assert_true(isnan(first[0]) && isnan(first[1]) && isnan(first[4]) && isnan(first[5]));
  g_assert_true(isnan(first[2])); /* no sensor is not 0 degrees */
  g_assert_cmpfloat(first[3], ==, 2500);
  fake_root_put(r, "/proc/stat",
                "cpu  200 0 100 800 100 0 0 0\ncpu0 150 0 50 350 50 0 0 0\ncpu2 50 0 50 450 50 0 0 0\n");
  fake_root_put(r, "/proc/self/stat", "7 (a) b (c) R 1 1 1 0 -1 4 0 0 0 0 150 100 0 0 20 0");
  g_autofree double *second = sample(s, 2000000);
  g_assert_cmpfloat(second[0], ==, 50);
  g_assert_cmpfloat(second[1], ==, 50); /* one of two cores */
  g_assert_cmpfloat(second[4], ==, 100);
  g_assert_cmpfloat(second[5], ==, 0);
  fake_root_put(r, "/proc/stat", "");
  fake_root_put(r, "/proc/self/stat", "nonsense");
  g_autofree double *third = sample(s, 3000000);
  g_assert_true(isnan(third[0]) && isnan(third[1]) && isnan(third[4]));
  tm_source_free(s);
}

static void test_memory(FakeRoot *r, gconstpointer data) {
  (void)data;
  fake_root_put(r, "/proc/meminfo",
                "MemTotal: 1000 kB\nMemAvailable: 250 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n");
  fake_root_put(r, "/sys/fs/cgroup/memory.max", "512000\n");
  TmSource *s = tm_source_memory(r->root);
  g_autofree double *v = sample(s, 1);
  g_assert_cmpuint(s->device.sensors->len, ==, 3);
  g_assert_cmpfloat(v[0], ==, 750 * 1024);
  g_assert_true(isnan(v[1]));
  g_assert_cmpfloat(v[2], ==, 60 * 1024);
  g_assert_nonnull(property(&s->device, "Limit of the container"));
  tm_source_free(s);
  fake_root_put(r, "/proc/meminfo",
                "MemTotal: 1000 kB\nMemAvailable: 250 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  s = tm_source_memory(r->root);
  g_assert_cmpuint(s->device.sensors->len, ==, 2);
  g_assert_cmpstr(property(&s->device, "Swap"), ==, "none");
  tm_source_free(s);
}

static void test_disk(FakeRoot *r, gconstpointer data) {
  (void)data;
  fake_root_put(r, "/sys/block/nvme0n1/size", "1\n");
  fake_root_put(r, "/proc/diskstats",
                " 259 0 nvme0n1 5 0 1000 0 6 0 2000 0 0 0 0\n 259 1 nvme0n1p1 5 0 900 0 6 0 900 0 0 0 0\n 7 "
                "0 loop0 5 0 77 0 6 0 77 0 0 0 0\n");
  fake_root_put(r, "/proc/self/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 0\n");
  TmSource *s = tm_source_disk(r->root, "/nonexistent/folder/of/runs");
  g_autofree double *first = sample(s, 1000000);
  for (int i = 0; i < 4; i++) g_assert_true(isnan(first[i]));
  fake_root_put(r, "/proc/diskstats", " 259 0 nvme0n1 5 0 3000 0 6 0 2000 0 0 0 0\n");
  fake_root_put(r, "/proc/self/io", "read_bytes: 4096\nwrite_bytes: 1000\n");
  g_autofree double *second = sample(s, 3000000);
  g_assert_cmpfloat(second[0], ==, 2000 * 512 / 2);
  g_assert_cmpfloat(second[1], ==, 0); /* read, and nothing written: a real 0 */
  g_assert_cmpfloat(second[2], ==, 0);
  g_assert_cmpfloat(second[3], ==, 500);
  fake_root_put(r, "/proc/self/io", "");
  g_autofree double *third = sample(s, 4000000);
  g_assert_true(isnan(third[2]));
  g_assert_nonnull(property(&s->device, "Free there")); /* of the nearest folder that exists */
  tm_source_free(s);
}

static void use_fake(const char *mode) {
  g_setenv("TARMAC_NVML", mode ? fake : "/nonexistent/libnvidia-ml.so", TRUE);
  g_setenv("FAKE_NVML", mode ? mode : "", TRUE);
  g_unsetenv("CUDA_VISIBLE_DEVICES");
}

/* Waits for @n samples more. */
static void wait_for(TmDevices *d, guint64 n) {
  const guint64 until = tm_devices_serial(d) + n;
  for (int i = 0; i < 2000 && tm_devices_serial(d) < until; i++) g_usleep(10000);
  g_assert_cmpuint(tm_devices_serial(d), >=, until);
}

static void test_no_gpu(void) {
  use_fake(NULL);
  g_autoptr(TmDevices) d = tm_devices_new();
  g_assert_nonnull(tm_devices_gpu_reason(d));
  g_assert_cmpuint(tm_devices_n(d), ==, 3);
  g_assert_cmpint(tm_devices_get(d, 0)->kind, ==, TM_DEVICE_PROCESSOR);
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  g_assert_cmpuint(tm_devices_read(d, 0, 0, ages, values), ==, 0); /* nobody looked yet */
  g_autofree char *csv = tm_devices_csv(d, 1, -1);
  g_assert_true(g_str_has_prefix(csv, "seconds,used (bytes),tarmac (bytes)"));
}

static void test_gpus(void) {
  use_fake("");
  g_autoptr(TmDevices) d = tm_devices_new();
  g_assert_null(tm_devices_gpu_reason(d));
  g_assert_cmpuint(tm_devices_n(d), ==, 5);
  const TmDevice *one = tm_devices_get(d, 0), *two = tm_devices_get(d, 1);
  g_assert_cmpstr(one->name, ==, "NVIDIA Fake 100");
  g_assert_cmpstr(two->title, ==, "GPU 1");
  g_assert_cmpstr(property(one, "Compute capability"), ==, "9.0");
  g_assert_cmpstr(property(one, "bf16"), ==, "in hardware");
  g_assert_cmpstr(property(one, "Bus"), ==, "PCIe 5.0 × 16");
  g_assert_cmpstr(property(two, "PCI address"), ==, "00000000:C1:00.0");
  g_assert_nonnull(strstr(sensor_of(one, 3)->caption, "slows at"));
  tm_devices_set_sampling(d, TRUE);
  wait_for(d, 2);
  tm_devices_set_sampling(d, FALSE);
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  const guint n = tm_devices_read(d, 0, 0, ages, values);
  g_assert_cmpuint(n, >=, 2);
  g_assert_cmpfloat(values[n - 1], ==, 62);
  g_assert_cmpfloat(ages[n - 1], ==, 0);
  g_assert_cmpfloat(ages[0], >, 0.9f);
  tm_devices_read(d, 1, 0, ages, values);
  g_assert_cmpfloat(values[0], ==, 17); /* each GPU its own */
  tm_devices_read(d, 0, 6, ages, values);
  g_assert_cmpfloat(values[0], >=, 2000 * 1024);
  g_autofree char *hot = tm_devices_note(d, 0), *cool = tm_devices_note(d, 1);
  g_assert_nonnull(strstr(hot, "heat"));
  g_assert_null(cool);
  g_autoptr(GArray) programs = tm_devices_programs(d, 0), none = tm_devices_programs(d, 2);
  g_assert_cmpuint(programs->len, ==, 3);
  g_assert_cmpuint(g_array_index(programs, TmGpuProgram, 0).pid, ==, (guint)getpid());
  g_assert_cmpuint(none->len, ==, 0);
  g_autofree char *csv = tm_devices_csv(d, 0, 0);
  g_assert_true(g_str_has_prefix(csv, "seconds,load (%)\n-"));
  g_assert_true(g_str_has_suffix(csv, "\n0.0,62.0\n"));
}

/* What a GPU does not tell is an empty place, and it still answers. */
static void test_quiet(void) {
  use_fake("quiet");
  g_autoptr(TmDevices) d = tm_devices_new();
  tm_devices_set_sampling(d, TRUE);
  wait_for(d, 1);
  tm_devices_set_sampling(d, FALSE);
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  tm_devices_read(d, 0, 0, ages, values);
  g_assert_true(isnan(values[0]));
  g_assert_true(tm_devices_answers(d, 0));
  g_autofree char *csv = tm_devices_csv(d, 0, -1);
  g_assert_nonnull(strstr(csv, "\n0.0,,"));
}

/* A GPU that is lost while it is watched stands still, and that is told after a while. */
static void test_lost(void) {
  use_fake("");
  g_autoptr(TmDevices) d = tm_devices_new();
  tm_devices_set_sampling(d, TRUE);
  wait_for(d, 1);
  g_assert_true(tm_devices_answers(d, 0));
  g_setenv("FAKE_NVML", "lost", TRUE);
  wait_for(d, 4);
  tm_devices_set_sampling(d, FALSE);
  g_assert_false(tm_devices_answers(d, 0));
  g_assert_true(tm_devices_answers(d, 2)); /* the processor does */
}

/* Sampling ends at once when it is switched off, and what is then missing is a gap. */
static void test_gap(void) {
  use_fake(NULL);
  g_autoptr(TmDevices) d = tm_devices_new();
  tm_devices_set_sampling(d, TRUE);
  tm_devices_set_sampling(d, TRUE);
  wait_for(d, 1);
  const gint64 before = g_get_monotonic_time();
  tm_devices_set_sampling(d, FALSE);
  g_assert_cmpint(g_get_monotonic_time() - before, <, 900000);
  const guint64 n = tm_devices_serial(d);
  g_usleep(2700000);
  g_assert_cmpuint(tm_devices_serial(d), ==, n);
  tm_devices_set_sampling(d, TRUE);
  wait_for(d, 2);
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  tm_devices_set_sampling(d, FALSE);
  const guint have = tm_devices_read(d, 1, 0, ages, values);
  guint gaps = 0;
  for (guint i = 0; i < have; i++) gaps += isnan(values[i]) != 0;
  g_assert_cmpuint(gaps, ==, 1); /* memory has a reading in every sample but that one */
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  fake = argc > 1 ? argv[1] : "";
  FAKE_ROOT_TEST("/devices/processor", test_processor);
  FAKE_ROOT_TEST("/devices/memory", test_memory);
  FAKE_ROOT_TEST("/devices/disk", test_disk);
  g_test_add_func("/devices/no-gpu", test_no_gpu);
  g_test_add_func("/devices/gpus", test_gpus);
  g_test_add_func("/devices/quiet", test_quiet);
  g_test_add_func("/devices/lost", test_lost);
  g_test_add_func("/devices/gap", test_gap);
  return g_test_run();
}
