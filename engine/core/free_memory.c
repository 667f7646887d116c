#include "engine/core/free_memory.h"

#include <stdio.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

gsize tm_free_memory(void) {
  unsigned long long kib = 0;
  FILE *f = fopen("/proc/meminfo", "re");
  if (f) {
    char line[128];
    while (fgets(line, sizeof line, f))
      if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
    fclose(f);
  }
  if (kib) return (gsize)kib * 1024;
  const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (gsize)pages * (gsize)size : 0;
}

gsize tm_resident_memory(void) {
  unsigned long long all = 0, resident = 0;
  const long size = sysconf(_SC_PAGESIZE);
  FILE *f = fopen("/proc/self/statm", "re");
  if (!f) return 0;
  const int n = fscanf(f, "%llu %llu", &all, &resident);
  fclose(f);
  return n == 2 && size > 0 ? (gsize)resident * (gsize)size : 0;
}

void tm_give_back_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

gsize tm_process_memory(void) {
  static gsize first; /* and 1, for there may be none known */
  if (g_once_init_enter(&first)) g_once_init_leave(&first, tm_resident_memory() + 1);
  return first - 1;
}
