#include "tests/backend/cpu_bench.h"

#include <math.h>
#include <string.h>

#include "engine/core/tensor.h"

enum { GUARD = 128 }; /* bytes on either side */

TmBackend *cpu_bench_open(const TmKernels *table, int threads) {
  g_autoptr(GError) error = NULL;
  const TmBackendOptions options = {.threads = threads, .deterministic = TRUE};
  TmBackend *b = table ? tm_cpu_open_with(&options, table, &error) : tm_backend_open("ref", &options, &error);
  g_assert_no_error(error);
  return b;
}

static TmDType type_of(const TmNode *n, TmDType precision) {
  switch (n->kind) {
  case TM_KIND_ACT:
    return precision;
  case TM_KIND_LABEL:
  case TM_KIND_PIXEL:
    return TM_U8;
  case TM_KIND_COUNT:
    return TM_I32;
  default:
    return TM_F32;
  }
}

/* May every step that touches @n take it as a slice? */
static gboolean sliceable(TmBackend *b, const TmGraph *g, const TmNode *n) {
  if (tm_shape_pixels(n->shape) == 1) return FALSE; /* contiguous whatever the stride */
  for (guint id = 0; id < tm_graph_n_nodes(g); id++) {
    const TmNode *u = tm_graph_node(g, id);
    if (u->n_in == 0) continue;
    if (u == n && !tm_backend_takes_slice(b, (int)u->op, u, ~0, TM_F32)) return FALSE;
    for (guint i = 0; i < u->n_in; i++)
      if (u->in[i] == n && !tm_backend_takes_slice(b, (int)u->op, u, (int)i, TM_F32)) return FALSE;
  }
  return TRUE;
}

static gsize view_bytes(const TmView *v) {
  return tm_shape_pixels(v->shape) * (gsize)v->ld * tm_dtype_size(v->dtype);
}

CpuBench *cpu_bench_new(TmBackend *backend, const TmGraph *g, TmDType precision, int gaps) {
  g_autoptr(GError) error = NULL;
  const guint n = tm_graph_n_nodes(g);
  CpuBench *b = g_new0(CpuBench, 1);
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
    TmView v = {.dtype = type_of(node, precision), .shape = node->shape, .ld = node->shape.c};
    if (gaps && sliceable(backend, g, node)) v.ld += gaps;
    b->bytes[id] = view_bytes(&v) + 2 * GUARD;
    b->buffers[id] = g_malloc(b->bytes[id]);
    memset(b->buffers[id], 0xff, b->bytes[id]);
    v.data = (char *)b->buffers[id] + GUARD;
    b->program.values[id] = (TmValue){.node = node, .view = v};
    if (node->n_in == 0) continue;
    TmStep *s = &b->program.steps[b->program.n_steps++];
    *s = (TmStep){.op = (int)node->op, .node = node, .n_in = node->n_in, .n_out = 1, .out = {id}};
    for (guint i = 0; i < node->n_in; i++) s->in[i] = node->in[i]->id;
  }
  b->program.prepared = backend->api->prepare(backend, &b->program, &error);
  g_assert_no_error(error);
  return b;
}

void cpu_bench_free(CpuBench *b) {
  if (!b) return;
  b->backend->api->discard(b->backend, b->program.prepared);
  for (guint i = 0; i < b->program.n_values; i++) g_free(b->buffers[i]);
  g_free(b->buffers);
  g_free(b->bytes);
  g_free(b->program.values);
  g_free(b->program.steps);
  g_free(b);
}

void cpu_bench_write(CpuBench *b, const TmNode *n, const float *dense) {
  g_assert_true(tm_backend_write(b->backend, &b->program.values[n->id].view, dense, TM_F32, NULL));
}

float *cpu_bench_read(CpuBench *b, const TmNode *n) {
  float *x = g_new(float, tm_shape_count(n->shape));
  g_assert_true(tm_backend_read(b->backend, &b->program.values[n->id].view, x, TM_F32, NULL));
  return x;
}

static void check_untouched(const guint8 *p, gsize n, const TmNode *node, const char *where) {
  for (gsize i = 0; i < n; i++)
    if (p[i] != 0xff) g_error("node %u was written outside itself (%s)", node->id, where);
}

void cpu_bench_run(CpuBench *b) {
  g_autoptr(GError) error = NULL;
  b->backend->api->run(b->backend, &b->program, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < b->program.n_values; i++) {
    const TmView *v = &b->program.values[i].view;
    const TmNode *n = b->program.values[i].node;
    const guint8 *p = b->buffers[i];
    const gsize size = tm_dtype_size(v->dtype), all = view_bytes(v);
    check_untouched(p, GUARD, n, "before");
    check_untouched(p + GUARD + all, GUARD, n, "after");
    for (gsize k = 0; k < tm_shape_pixels(v->shape); k++)
      check_untouched(p + GUARD + (k * (gsize)v->ld + (gsize)v->shape.c) * size,
                      (gsize)(v->ld - v->shape.c) * size, n, "between pixels");
  }
}

void cpu_bench_round(float *x, gsize n) {
  for (gsize i = 0; i < n; i++) x[i] = tm_bf16_to_f32(tm_f32_to_bf16(x[i]));
}

void cpu_bench_compare(const float *a, const float *b, gsize n, double bound) {
  double square = 0;
  for (gsize i = 0; i < n; i++) square += (double)b[i] * (double)b[i];
  const double rms = sqrt(square / (double)n);
  for (gsize i = 0; i < n; i++) {
    const double allowed = bound * MAX(fabs((double)b[i]), rms);
    if (!(fabs((double)a[i] - (double)b[i]) <= allowed))
      g_error("element %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %.8g instead of %.8g (allowed %.3g)", i, n,
              (double)a[i], (double)b[i], allowed);
  }
}
