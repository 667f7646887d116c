/* test_device_ops.c: every case of the op table on the GPU, by the module as the program loads it, against
 * ref: in f32, bf16 and f16. On a machine without a GPU the module is the one on the stand-ins
 * (tests/cuda-host). */
#include <math.h>

#include "tests/ops/op_bench.h"

typedef struct {
  const TmOpCase *op_case;
  TmDType precision;
} Job;

/* Both are fed values of @precision; ref computes in f32. What remains is the rounding of the output, and
 * before it, of a convolution with a bias, that of the sum without it, which may be larger. */
static double bound_of(TmDType precision) {
  return precision == TM_F32 ? 1e-4 : precision == TM_BF16 ? 0x1p-6 : 0x1p-9;
}

static double scale_of(const float *x, gsize n) {
  double squares = 0;
  for (gsize i = 0; i < n; i++) squares += (double)x[i] * (double)x[i];
  return sqrt(squares / (double)n);
}

static void test_case(gconstpointer data) {
  const Job *job = data;
  g_autoptr(OpBench) gpu = op_bench_new("cuda", job->op_case), ref = op_bench_new("ref", job->op_case);
  if (!tm_backend_supports(gpu->backend, job->op_case->op, gpu->out, job->precision)) {
    g_test_skip("the GPU leaves this to others");
    return;
  }
  g_autofree float *got = op_bench_run(gpu, job->precision, job->precision, 11);
  g_autofree float *want = op_bench_run(ref, TM_F32, job->precision, 11);
  const gsize n = tm_shape_count(gpu->out->shape);
  const double rms = scale_of(want, n), bound = bound_of(job->precision);
  for (gsize i = 0; i < n; i++) {
    const double a = (double)got[i], b = (double)want[i];
    if (fabs(a - b) <= bound * fmax(fabs(b), rms)) continue;
    g_test_fail_printf("element %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " is %g, on ref %g", i, n, a, b);
    return;
  }
}

int main(int argc, char **argv) {
  static const TmDType precisions[] = {TM_F32, TM_BF16, TM_F16};
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  if (!tm_backend_available("cuda", &error)) {
    g_print("1..0 # SKIP %s\n", error->message);
    return 0;
  }
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < G_N_ELEMENTS(precisions); k++) {
      const Job job = {&cases[i], precisions[k]};
      g_autofree char *path = g_strdup_printf("/device/%s/%s", tm_dtype_name(job.precision), cases[i].name);
      g_test_add_data_func_full(g_strdelimit(path, " ", '-'), g_memdup2(&job, sizeof job), test_case, g_free);
    }
  return g_test_run();
}
