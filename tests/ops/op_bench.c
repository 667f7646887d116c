#include "tests/ops/op_bench.h"

#include "engine/core/tensor.h"

OpBench *op_bench_new(const char *backend, const TmOpCase *c) {
  g_autoptr(GError) error = NULL;
  OpBench *b = g_new0(OpBench, 1);
  b->op_case = c;
  b->backend = tm_backend_open(backend, &(TmBackendOptions){.threads = 2, .deterministic = TRUE}, &error);
  g_assert_no_error(error);
  b->graph = tm_graph_new();
  tm_op_case_graph(c, b->graph, b->in, &b->out, &error);
  g_assert_no_error(error);
  b->params = tm_params_new(b->backend, b->graph, &error);
  g_assert_no_error(error);
  return b;
}

void op_bench_free(OpBench *b) {
  if (!b) return;
  tm_params_free(b->params);
  tm_graph_free(b->graph);
  tm_backend_close(b->backend);
  g_free(b);
}

TmProgram *op_bench_program(OpBench *b, TmDType precision, guint n_outputs, TmNode *const *outputs) {
  g_autoptr(GError) error = NULL;
  const TmProgramOptions options = {
      .precision = precision, .n_outputs = n_outputs, .outputs = outputs, .unfused = TRUE};
  TmProgram *p = tm_program_new(b->backend, b->params, b->graph, &options, &error);
  g_assert_no_error(error);
  return p;
}

float *op_bench_read(TmProgram *p, const TmNode *node) {
  g_autoptr(GError) error = NULL;
  float *x = g_new(float, tm_shape_count(node->shape));
  tm_program_read(p, node, x, TM_F32, &error);
  g_assert_no_error(error);
  return x;
}

float *op_bench_run(OpBench *b, TmDType precision, TmDType round, guint64 seed) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmProgram) p = op_bench_program(b, precision, 1, &b->out);
  for (guint i = 0; i < b->op_case->n_in; i++) {
    if (tm_op_case_is_made(b->op_case, i)) continue;
    const gsize n = tm_shape_count(b->in[i]->shape);
    g_autofree float *x = g_new(float, n);
    g_autofree void *rounded = g_malloc(n * tm_dtype_size(round));
    tm_op_case_fill(b->op_case, i, seed, x);
    if (b->in[i]->kind == TM_KIND_ACT) {
      tm_convert(rounded, round, x, TM_F32, n);
      tm_convert(x, TM_F32, rounded, round, n);
    }
    tm_op_case_load_one(b->op_case, p, b->params, b->in, i, x, &error);
    g_assert_no_error(error);
  }
  tm_program_run(p, &error);
  g_assert_no_error(error);
  return op_bench_read(p, b->out);
}

static gboolean in_params(TmKind kind) {
  return kind == TM_KIND_PARAM || kind == TM_KIND_STATE;
}

static float *read_param(TmParams *params, const TmNode *n) {
  float *x = g_new(float, tm_shape_count(n->shape));
  g_assert_true(tm_params_read(params, tm_params_find(params, n->name), FALSE, x, NULL));
  return x;
}

float *op_run(TmOp op, const TmAttrs *attrs, guint n_in, const OpInput *in, TmShape *shape, float *after[2]) {
  TmOpCase c = {.name = "by hand", .op = op, .attrs = attrs ? *attrs : (TmAttrs){0}, .n_in = n_in};
  for (guint i = 0; i < n_in; i++) c.in[i] = (TmOpCaseInput){.shape = in[i].shape, .kind = in[i].kind};
  g_autoptr(GError) error = NULL;
  g_autoptr(OpBench) b = op_bench_new("ref", &c);
  g_autoptr(TmProgram) p = op_bench_program(b, TM_F32, 1, &b->out);
  for (guint i = 0; i < n_in; i++) {
    tm_op_case_load_one(&c, p, b->params, b->in, i, in[i].values, &error);
    g_assert_no_error(error);
  }
  tm_program_run(p, &error);
  g_assert_no_error(error);
  for (guint i = 0; after && i < 2; i++)
    after[i] =
        in_params(in[i + 1].kind) ? read_param(b->params, b->in[i + 1]) : op_bench_read(p, b->in[i + 1]);
  if (shape) *shape = b->out->shape;
  return op_bench_read(p, b->out);
}
