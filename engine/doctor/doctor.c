#include "engine/doctor/doctor.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/core/free_memory.h"
#include "engine/doctor/self_test.h"

enum { PATTERN = 64 << 20 };

static int vector_level(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx2") ? 1 : 0;
#else
  return -1;
#endif
}

static char *cpufreq(const char *name) {
  g_autofree char *path = g_build_filename("/sys/devices/system/cpu/cpu0/cpufreq", name, NULL);
  char *text = NULL;
  return g_file_get_contents(path, &text, NULL, NULL) ? g_strchomp(text) : NULL;
}

static void check_disk(GPtrArray *to, const char *folder) {
  struct statvfs v;
  g_autofree char *at = g_strdup(folder);
  while (statvfs(at, &v) != 0) { /* not made yet: its nearest parent */
    g_autofree char *up = g_path_get_dirname(at);
    if (strcmp(up, at) == 0) return;
    g_free(at);
    at = g_steal_pointer(&up);
  }
  tm_check_disk(to, folder, (guint64)v.f_bavail * v.f_frsize);
}

static void self_tests(GPtrArray *to, const GPtrArray *looks, gsize free) {
  const TmBackendLook *best = tm_backend_looks_best(looks);
  if (!best || strcmp(best->name, "ref") == 0) return;
  g_autoptr(GError) error = NULL, memory_error = NULL;
  double difference = 0;
  tm_self_test_convolution(best->name, &difference, &error);
  tm_check_convolution(to, best->name, difference, error);
  if (free && free < 4 * (gsize)PATTERN) return; /* what is left is for those who need it */
  guint64 wrong = 0;
  tm_self_test_memory(best->name, PATTERN, &wrong, &memory_error);
  tm_check_pattern(to, best->name, PATTERN, wrong, memory_error);
}

TmDoctor *tm_doctor_new(void) {
  TmDoctor *d = g_new0(TmDoctor, 1);
  d->looks = tm_backend_looks_new();
  tm_machine_read(&d->machine);
  tm_cuda_driver_read(&d->driver, "");
  tm_cuda_driver_usable(&d->driver, &d->cuda);
  GPtrArray *to = d->checks = tm_checks_new();
  const gsize free = tm_free_memory();
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  g_autofree char *driver = cpufreq("scaling_driver"), *governor = cpufreq("scaling_governor");
  tm_check_engine(to, d->looks);
  tm_check_driver(to, &d->driver, &d->machine, d->looks);
  tm_check_versions(to, &d->driver, &d->machine);
  for (guint i = 0; i < d->machine.n_gpus; i++)
    if (g_strcmp0(d->machine.gpus[i].uuid, d->machine.gpu_uuid) == 0)
      tm_check_persistence(to, &d->machine.gpus[i]);
  self_tests(to, d->looks, free);
  tm_check_processor(to, d->machine.cpu, vector_level());
  tm_check_cores(to, g_get_num_processors(), cores > 0 ? (guint)cores : 1);
  tm_check_governor(to, driver, governor);
  tm_check_memory(to, free, d->machine.memory);
  g_autofree char *data = g_build_filename(g_get_user_data_dir(), "tarmac", NULL);
  check_disk(to, data);
  return d;
}

void tm_doctor_free(TmDoctor *d) {
  if (!d) return;
  g_ptr_array_unref(d->looks);
  g_ptr_array_unref(d->checks);
  tm_machine_clear(&d->machine);
  tm_cuda_driver_clear(&d->driver);
  g_free(d->cuda);
  g_free(d);
}
