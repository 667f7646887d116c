/* Every case of the op table on the cpu backend against ref, with each table of kernels this processor can
 * run, f32 and bf16, dense and with gaps. */
#include "tests/backend/cpu_bench.h"

typedef struct {
  const TmOpCase *op_case;
  const TmKernels *table;
  TmDType precision;
  int gaps;
} Job;

static void test_case(gconstpointer data) {
  const Job *job = data;
  cpu_bench_check_case(job->op_case, job->table, job->precision, job->gaps);
}

static void add_case(const TmOpCase *c, const TmKernels *table, TmDType precision, int gaps) {
  if (precision == TM_BF16 && !cpu_bench_can(c, table, precision))
    return; /* this processor's oneDNN has no bf16 */
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
