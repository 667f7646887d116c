/* peak.c: what the processor does at best: multiplications in registers, and a copy larger than its caches.
 * The best of a few tries, since other programs only ever make it slower. */
#include "engine/backend/cpu/cpu.h"

#include "engine/core/tensor.h"

#include <glib/gi18n.h>
#include <omp.h>
#include <string.h>

enum { TRIES = 5, PIECES = 64 };
static const gsize rounds = 4000000, copied = (gsize)256 << 20;

static double now(void) {
  return (double)g_get_monotonic_time() * 1e-6;
}

static double best_flops(CpuBackend *b, TmDType type) {
  double best = 0;
  for (int r = 0; r < TRIES; r++) {
    double flops;
    const double from = now();
    b->kernels->peak(&b->team, type, rounds, &flops);
    best = MAX(best, flops / (now() - from));
  }
  return best;
}

/* Read and written: twice what is copied. */
static double best_bytes(int threads, const char *from, char *to) {
  const gsize piece = copied / PIECES;
  double best = 0;
  for (int r = 0; r < TRIES; r++) {
    const double begin = now();
#pragma omp parallel for num_threads(threads)
    for (int k = 0; k < PIECES; k++) memcpy(to + (gsize)k * piece, from + (gsize)k * piece, piece);
    best = MAX(best, 2 * (double)copied / (now() - begin));
  }
  return best;
}

gboolean tm_cpu_peak(TmBackend *backend, TmDType type, double *flops, double *bytes, GError **error) {
  CpuBackend *b = (CpuBackend *)backend;
  char *from = tm_host_alloc(copied), *to = tm_host_alloc(copied);
  const gboolean there = from && to;
  if (there) {
    memset(from, 1, copied);
    *flops = best_flops(b, type);
    *bytes = best_bytes(b->threads, from, to);
  } else {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for %.1f MB."),
                2e-6 * (double)copied);
  }
  tm_host_free(from, copied);
  tm_host_free(to, copied);
  return there;
}
