/* Every case of the op table on the cpu backend against ref, with each table of kernels this processor can
 * run, f32 and bf16, dense and with gaps.
 *
 * f32 may differ by the order of sums. For bf16 both sides are fed values that are bf16 already, and ref
 * computes in f32: what remains is one rounding of the output, 2^-9 of it; the bound of 2^-8 leaves as much
 * for the rounding of values inside (weights packed in bf16). A transposed convolution with a bias may round
 * twice, the first time at the size of the sum without the bias. */
#include <string.h>

#include "tests/backend/cpu_bench.h"

typedef struct {
  const TmOpCase *op_case;
  const TmKernels *table;
  TmDType precision;
  int gaps;
} Job;

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

static void run_case(const Job *job, TmBackend *backend, TmDType precision, int gaps, float **out,
                     float *states[TM_MAX_INPUTS]) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *made;
  tm_op_case_graph(job->op_case, g, in, &made, &error);
  g_assert_no_error(error);
  g_autoptr(CpuBench) b = cpu_bench_new(backend, g, precision, gaps);
  for (guint i = 0; i < job->op_case->n_in; i++) {
    if (tm_op_case_is_made(job->op_case, i)) continue;
    g_autofree float *x = values_of(job->op_case, in[i], i, job->precision);
    cpu_bench_write(b, in[i], x);
  }
  cpu_bench_run(b);
  *out = cpu_bench_read(b, made);
  for (guint i = 0; i < job->op_case->n_in; i++)
    states[i] = is_state(in[i]) ? cpu_bench_read(b, in[i]) : NULL;
}

static gsize out_count(const TmOpCase *c, gboolean *whole) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  g_assert_true(tm_op_case_graph(c, g, in, &out, NULL));
  *whole = out->kind == TM_KIND_LABEL || out->kind == TM_KIND_COUNT || out->kind == TM_KIND_PIXEL;
  return tm_shape_count(out->shape);
}

static void test_case(gconstpointer data) {
  const Job *job = data;
  TmBackend *ref = cpu_bench_open(NULL, 1), *cpu = cpu_bench_open(job->table, 2);
  float *states[2][TM_MAX_INPUTS];
  g_autofree float *expected = NULL;
  g_autofree float *got = NULL;
  g_autofree float *again = NULL;
  run_case(job, ref, TM_F32, 0, &expected, states[0]);
  run_case(job, cpu, job->precision, job->gaps, &got, states[1]);
  const TmOpCase *c = job->op_case;
  gboolean whole;
  const gsize n = out_count(c, &whole);
  const gboolean twice = c->op == TM_OP_CONV_TRANSPOSE && c->n_in == 3;
  const double bound = whole ? 0 : job->precision == TM_F32 ? 1e-5 : twice ? 0x1p-7 : 0x1p-8;
  cpu_bench_compare(got, expected, n, bound);
  for (guint i = 0; i < c->n_in; i++) {
    if (states[0][i]) cpu_bench_compare(states[1][i], states[0][i], tm_shape_count(c->in[i].shape), bound);
    g_free(states[0][i]);
    g_free(states[1][i]);
  }
  run_case(job, cpu, job->precision, job->gaps, &again, states[1]);
  g_assert_cmpint(memcmp(got, again, n * sizeof *got), ==, 0);
  for (guint i = 0; i < c->n_in; i++) g_free(states[1][i]);
  tm_backend_close(cpu);
  tm_backend_close(ref);
}

static void add_case(const TmOpCase *c, const TmKernels *table, TmDType precision, int gaps) {
  TmBackend *b = cpu_bench_open(table, 1);
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  g_assert_true(tm_op_case_graph(c, g, in, &out, NULL));
  const gboolean can = tm_backend_supports(b, (int)c->op, out, precision);
  tm_backend_close(b);
  if (!can && precision == TM_BF16) return; /* this processor's oneDNN has no bf16 */
  const Job job = {.op_case = c, .table = table, .precision = precision, .gaps = gaps};
  g_autofree char *path = g_strdup_printf("/backend/cpu/%s/%s%s/%s", table->name, tm_dtype_name(precision),
                                          gaps ? " slices" : "", c->name);
  g_strdelimit(path, " ", '-');
  g_test_add_data_func_full(path, g_memdup2(&job, sizeof job), test_case, g_free);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_setenv("TARMAC_CONVOLUTIONS", "direct",
           TRUE); /* Winograd's noise has bounds of its own, in tests/kernels */
  guint n_cases, n_tables;
  const TmOpCase *cases = tm_op_cases(&n_cases);
  const TmKernels *const *tables = tm_kernels_usable(&n_tables);
  for (guint t = 0; t < n_tables; t++)
    for (guint i = 0; i < n_cases; i++)
      for (int k = 0; k < 2; k++) {
        add_case(&cases[i], tables[t], k ? TM_BF16 : TM_F32, 0);
        add_case(&cases[i], tables[t], k ? TM_BF16 : TM_F32, 5);
      }
  return g_test_run();
}
