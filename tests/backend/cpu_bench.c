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
    TmView v = {.dtype = tm_program_dtype(node, precision), .shape = node->shape, .ld = node->shape.c};
    if (gaps && tm_op_case_sliceable(backend, g, node, precision)) v.ld += gaps;
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

/* ---- one case of the op table ---- */

static gboolean is_state(const TmNode *n) {
  return n->kind == TM_KIND_STATE;
}

/* Values of input @i, rounded to bf16 where the cpu backend will hold them so. */
static float *values_of(const TmOpCase *c, const TmNode *n, guint i, TmDType precision) {
  const gsize count = tm_shape_count(n->shape);
  float *x = g_new(float, count);
  tm_op_case_fill(c, i, 7, x);
  const gboolean weights = n->kind == TM_KIND_PARAM && (n->shape.n > 1 || n->shape.h > 1 || n->shape.w > 1);
  if (precision == TM_BF16 && (n->kind == TM_KIND_ACT || weights)) cpu_bench_round(x, count);
  return x;
}

/* @values: what inputs are rounded to. */
static void run_case(const TmOpCase *c, TmBackend *backend, TmDType precision, TmDType values, int gaps,
                     float **out, float *states[TM_MAX_INPUTS]) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *made;
  tm_op_case_graph(c, g, in, &made, &error);
  g_assert_no_error(error);
  g_autoptr(CpuBench) b = cpu_bench_new(backend, g, precision, gaps);
  for (guint i = 0; i < c->n_in; i++) {
    if (tm_op_case_is_made(c, i)) continue;
    g_autofree float *x = values_of(c, in[i], i, values);
    cpu_bench_write(b, in[i], x);
  }
  cpu_bench_run(b);
  *out = cpu_bench_read(b, made);
  for (guint i = 0; i < c->n_in; i++) states[i] = is_state(in[i]) ? cpu_bench_read(b, in[i]) : NULL;
}

static gsize out_count(const TmOpCase *c, gboolean *whole) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  g_assert_true(tm_op_case_graph(c, g, in, &out, NULL));
  *whole = out->kind == TM_KIND_LABEL || out->kind == TM_KIND_COUNT || out->kind == TM_KIND_PIXEL;
  return tm_shape_count(out->shape);
}

void cpu_bench_check_case(const TmOpCase *c, const TmKernels *table, TmDType precision, int gaps) {
  TmBackend *ref = cpu_bench_open(NULL, 1), *cpu = cpu_bench_open(table, 2);
  float *states[2][TM_MAX_INPUTS];
  g_autofree float *expected = NULL;
  g_autofree float *got = NULL;
  g_autofree float *again = NULL;
  run_case(c, ref, TM_F32, precision, 0, &expected, states[0]);
  run_case(c, cpu, precision, precision, gaps, &got, states[1]);
  gboolean whole;
  const gsize n = out_count(c, &whole);
  const gboolean twice = (c->op == TM_OP_CONV_TRANSPOSE || c->op == TM_OP_CONV) && c->n_in == 3;
  const double bound = whole ? 0 : precision == TM_F32 ? 1e-5 : twice ? 0x1p-7 : 0x1p-8;
  cpu_bench_compare(got, expected, n, bound);
  for (guint i = 0; i < c->n_in; i++) {
    if (states[0][i]) cpu_bench_compare(states[1][i], states[0][i], tm_shape_count(c->in[i].shape), bound);
    g_free(states[0][i]);
    g_free(states[1][i]);
  }
  run_case(c, cpu, precision, precision, gaps, &again, states[1]);
  g_assert_cmpint(memcmp(got, again, n * sizeof *got), ==, 0);
  for (guint i = 0; i < c->n_in; i++) g_free(states[1][i]);
  tm_backend_close(cpu);
  tm_backend_close(ref);
}

gboolean cpu_bench_can(const TmOpCase *c, const TmKernels *table, TmDType precision) {
  TmBackend *b = cpu_bench_open(table, 1);
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  g_assert_true(tm_op_case_graph(c, g, in, &out, NULL));
  const gboolean can = tm_backend_supports(b, (int)c->op, out, precision);
  tm_backend_close(b);
  return can;
}
