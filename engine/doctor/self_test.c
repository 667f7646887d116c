#include "engine/doctor/self_test.h"

#include <math.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"
#include "engine/program/program.h"

static const TmShape picture = {.n = 2, .c = 16, .h = 24, .w = 40},
                     kernel = {.n = 16, .c = 16, .h = 3, .w = 3};

static float *numbers(TmShape shape, guint64 seed) {
  const gsize n = tm_shape_count(shape);
  float *x = g_new(float, n);
  TmRandom r;
  tm_random_seed(&r, seed);
  for (gsize i = 0; i < n; i++) x[i] = tm_random_range(&r, -1, 1);
  return x;
}

static gboolean convolve(TmBackend *b, TmGraph *g, TmNode *x, TmNode *y, float *out, GError **error) {
  g_autoptr(TmParams) params = tm_params_new(b, g, error);
  g_autoptr(TmProgram) p =
      params ? tm_program_new(
                   b, params, g,
                   &(TmProgramOptions){.precision = TM_F32, .n_outputs = 1, .outputs = (TmNode *const[]){y}},
                   error)
             : NULL;
  g_autofree float *in = numbers(picture, 1), *w = numbers(kernel, 2);
  return p && tm_params_write(params, tm_params_find(params, "w"), w, error) &&
         tm_program_write(p, x, in, TM_F32, error) && tm_program_run(p, error) &&
         tm_program_read(p, y, out, TM_F32, error);
}

static float *convolve_on(const char *backend, gsize *n, GError **error) {
  g_autoptr(TmBackend) b = tm_backend_open(backend, &(TmBackendOptions){0}, error);
  if (!b) return NULL;
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = tm_graph_source(g, TM_OP_INPUT, TM_KIND_ACT, picture, "x");
  TmNode *w = tm_graph_source(g, TM_OP_PARAM, TM_KIND_PARAM, kernel, "w");
  TmNode *y = tm_node(g, TM_OP_CONV, "y", (&(TmAttrs){.pad = 1}), x, w);
  if (!tm_graph_check(g, error)) return NULL;
  *n = tm_shape_count(y->shape);
  g_autofree float *out = g_new(float, *n);
  return convolve(b, g, x, y, out, error) ? g_steal_pointer(&out) : NULL;
}

gboolean tm_self_test_convolution(const char *backend, double *difference, GError **error) {
  gsize n = 0;
  g_autofree float *ours = convolve_on(backend, &n, error);
  g_autofree float *ref = ours ? convolve_on("ref", &n, error) : NULL;
  if (!ref) return FALSE;
  double most = 0, top = 0;
  for (gsize i = 0; i < n; i++) {
    const double d = fabs((double)ours[i] - (double)ref[i]);
    most = isfinite(d) ? fmax(most, d) : INFINITY;
    top = fmax(top, fabs((double)ref[i]));
  }
  *difference = most / top;
  return TRUE;
}

gboolean tm_self_test_memory(const char *backend, gsize bytes, guint64 *wrong, GError **error) {
  enum { ROW = 1 << 20 }; /* numbers written and read at a time */
  g_autoptr(TmBackend) b = tm_backend_open(backend, &(TmBackendOptions){0}, error);
  float *memory = b ? tm_backend_alloc(b, bytes, error) : NULL;
  if (!memory) return FALSE;
  g_autofree float *row = g_new(float, ROW);
  *wrong = 0;
  gboolean ok = TRUE;
  for (int reading = 0; ok && reading < 2; reading++)
    for (gsize at = 0; ok && at + ROW <= bytes / sizeof(float); at += ROW) {
      const TmView v = {
          .data = memory + at, .dtype = TM_F32, .shape = {.n = 1, .c = ROW, .h = 1, .w = 1}, .ld = ROW};
      if (reading) ok = tm_backend_read(b, &v, row, TM_F32, error);
      /* A row's pattern tells its place: a line of address that sticks is seen too. */
      for (gsize i = 0; ok && i < ROW; i++) {
        const float expected = (float)(tm_random_hash(at, i, 7) >> 40);
        if (!reading)
          row[i] = expected;
        else
          *wrong += row[i] != expected;
      }
      if (!reading) ok = tm_backend_write(b, &v, row, TM_F32, error);
    }
  tm_backend_release(b, memory, bytes);
  return ok;
}
