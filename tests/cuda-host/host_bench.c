#include "tests/cuda-host/host_bench.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/tensor.h"

extern const TmBackendApi tm_backend_module;

enum { PATTERN = 0xff };

static char *cache_folder;

void host_bench_forget(void) {
  g_autofree char *folder = g_build_filename(cache_folder, "tarmac", NULL);
  g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
  const char *name;
  while (files && (name = g_dir_read_name(files))) {
    g_autofree char *file = g_build_filename(folder, name, NULL);
    g_unlink(file);
  }
}

static void remove_cache(void) {
  g_autofree char *folder = g_build_filename(cache_folder, "tarmac", NULL);
  host_bench_forget();
  g_rmdir(folder);
  g_rmdir(cache_folder);
}

void host_bench_own_cache(void) {
  cache_folder = g_dir_make_tmp("tarmac-XXXXXX", NULL);
  g_assert_nonnull(cache_folder);
  g_setenv("XDG_CACHE_HOME", cache_folder, TRUE);
  atexit(remove_cache);
}

TmBackend *host_bench_open(void) {
  g_autoptr(GError) error = NULL;
  const TmBackendOptions options = {.deterministic = TRUE};
  TmBackend *b = tm_backend_module.open(&options, &error);
  g_assert_no_error(error);
  b->api = &tm_backend_module;
  b->owner = g_thread_self();
  return b;
}

/* From the first element to the last: nothing behind it. */
static gsize view_bytes(const TmView *v) {
  return ((tm_shape_pixels(v->shape) - 1) * (gsize)v->ld + (gsize)v->shape.c) * tm_dtype_size(v->dtype);
}

static void place(HostBench *b, const TmGraph *g, const TmNode *node, TmDType precision, HostLayout layout) {
  g_autoptr(GError) error = NULL;
  TmView v = {.dtype = tm_program_dtype(node, precision), .shape = node->shape, .ld = node->shape.c};
  const gboolean slice =
      (layout.gap || layout.before) && tm_op_case_sliceable(b->backend, g, node, precision);
  const gsize before = slice ? (gsize)layout.before * tm_dtype_size(v.dtype) : 0;
  if (slice) v.ld += layout.gap;
  b->bytes[node->id] = before + view_bytes(&v);
  b->buffers[node->id] = tm_backend_alloc(b->backend, b->bytes[node->id], &error);
  g_assert_no_error(error);
  memset(b->buffers[node->id], PATTERN, b->bytes[node->id]);
  v.data = (char *)b->buffers[node->id] + before;
  b->program.values[node->id] = (TmValue){.node = node, .view = v};
}

HostBench *host_bench_new(TmBackend *backend, const TmGraph *g, TmDType precision, HostLayout layout) {
  g_autoptr(GError) error = NULL;
  const guint n = tm_graph_n_nodes(g);
  HostBench *b = g_new0(HostBench, 1);
  b->backend = backend;
  b->buffers = g_new0(void *, n);
  b->bytes = g_new0(gsize, n);
  b->program = (TmProgram){.backend = backend,
                           .precision = precision,
                           .n_values = n,
                           .values = g_new0(TmValue, n),
                           .steps = g_new0(TmStep, n)};
  for (guint id = 0; id < n; id++) {
    const TmNode *node = tm_graph_node(g, id);
    place(b, g, node, precision, layout);
    if (node->n_in == 0) continue;
    TmStep *s = &b->program.steps[b->program.n_steps++];
    *s = (TmStep){.op = (int)node->op, .node = node, .n_in = node->n_in, .n_out = 1, .out = {id}};
    for (guint i = 0; i < node->n_in; i++) s->in[i] = node->in[i]->id;
  }
  b->program.prepared = backend->api->prepare(backend, &b->program, &error);
  g_assert_no_error(error);
  return b;
}

void host_bench_free(HostBench *b) {
  if (!b) return;
  b->backend->api->discard(b->backend, b->program.prepared);
  for (guint i = 0; i < b->program.n_values; i++) tm_backend_release(b->backend, b->buffers[i], b->bytes[i]);
  g_free(b->buffers);
  g_free(b->bytes);
  g_free(b->program.values);
  g_free(b->program.steps);
  g_free(b);
}

void host_bench_write(HostBench *b, const TmNode *n, const float *dense) {
  g_assert_true(tm_backend_write(b->backend, &b->program.values[n->id].view, dense, TM_F32, NULL));
}

float *host_bench_read(HostBench *b, const TmNode *n) {
  float *x = g_new(float, tm_shape_count(n->shape));
  g_assert_true(tm_backend_read(b->backend, &b->program.values[n->id].view, x, TM_F32, NULL));
  return x;
}

static void check_untouched(const guint8 *p, gsize n, const TmNode *node, const char *where) {
  for (gsize i = 0; i < n; i++)
    if (p[i] != PATTERN) g_error("node %u was written outside itself (%s)", node->id, where);
}

void host_bench_run(HostBench *b) {
  g_autoptr(GError) error = NULL;
  b->backend->api->run(b->backend, &b->program, &error);
  g_assert_no_error(error);
  g_assert_true(tm_backend_synchronize(b->backend, NULL));
  for (guint i = 0; i < b->program.n_values; i++) {
    const TmView *v = &b->program.values[i].view;
    const TmNode *n = b->program.values[i].node;
    const gsize size = tm_dtype_size(v->dtype), pixels = tm_shape_pixels(v->shape);
    check_untouched(b->buffers[i], (gsize)((guint8 *)v->data - (guint8 *)b->buffers[i]), n, "before");
    for (gsize k = 0; k + 1 < pixels; k++)
      check_untouched((guint8 *)v->data + (k * (gsize)v->ld + (gsize)v->shape.c) * size,
                      (gsize)(v->ld - v->shape.c) * size, n, "between pixels");
  }
}

void host_bench_round(float *x, gsize n, TmDType type) {
  if (type == TM_F32) return;
  g_autofree guint16 *stored = g_new(guint16, n);
  tm_convert(stored, type, x, TM_F32, n);
  tm_convert(x, TM_F32, stored, type, n);
}

void host_bench_compare(const char *what, const float *a, const float *b, gsize n, double bound) {
  double square = 0;
  for (gsize i = 0; i < n; i++) square += (double)b[i] * (double)b[i];
  const double rms = sqrt(square / (double)n);
  for (gsize i = 0; i < n; i++) {
    const double allowed = bound * MAX(fabs((double)b[i]), rms);
    if (!(fabs((double)a[i] - (double)b[i]) <= allowed)) {
      g_test_fail_printf("%s: element %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                         ": %.8g instead of %.8g (allowed %.3g)",
                         what, i, n, (double)a[i], (double)b[i], allowed);
      return;
    }
  }
}
