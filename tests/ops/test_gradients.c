/* Every gradient rule against finite differences, over the whole table of cases: for random dy, the rule's dx
 * must be the slope of sum(dy * op(x)). The slope is the four-point formula, whose error falls with the
 * fourth power of the step. */
#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "tests/ops/op_bench.h"

static const double STEP =
    1.0 / 128; /* twice this stays within the 1/32 to the nearest kink of DISTINCT inputs */
enum { SEED = 7, MOST_ELEMENTS = 40, BUDGET = 400000000 };

typedef struct {
  OpBench *bench;
  TmProgram *forward;
  float *dy;
  gsize n_out;
} Slope;

/* sum(dy * out), and the size of its rounding noise. */
static double project(Slope *s, double *noise) {
  g_autoptr(GError) error = NULL;
  tm_program_run(s->forward, &error);
  g_assert_no_error(error);
  g_autofree float *y = op_bench_read(s->forward, s->bench->out);
  double sum = 0, squares = 0;
  for (gsize i = 0; i < s->n_out; i++) {
    const double term = (double)s->dy[i] * (double)y[i];
    sum += term;
    squares += term * term;
  }
  *noise = sqrt(squares) * 0x1p-24;
  return sum;
}

static double slope_at(Slope *s, guint i, float *x, gsize element, double *noise) {
  static const int at[4] = {-2, -1, 1, 2}, share[4] = {1, -8, 8, -1};
  const float kept = x[element];
  double sum = 0, one;
  *noise = 0;
  for (int k = 0; k < 4; k++) {
    g_autoptr(GError) error = NULL;
    x[element] = kept + (float)(at[k] * STEP);
    tm_op_case_load_one(s->bench->op_case, s->forward, s->bench->params, s->bench->in, i, x, &error);
    g_assert_no_error(error);
    sum += share[k] * project(s, &one);
    *noise += abs(share[k]) * one / (12 * STEP);
  }
  x[element] = kept;
  g_assert_true(
      tm_op_case_load_one(s->bench->op_case, s->forward, s->bench->params, s->bench->in, i, x, NULL));
  return sum / (12 * STEP);
}

static void check_input(Slope *s, guint i, const float *dx) {
  const TmOpCase *c = s->bench->op_case;
  const gsize n = tm_shape_count(c->in[i].shape);
  g_autofree float *x = g_new(float, n);
  tm_op_case_fill(c, i, SEED, x);
  double size = 0;
  for (gsize k = 0; k < n; k++) size = fmax(size, fabs((double)dx[k]));
  /* Dear ops are probed at fewer places. */
  const gsize most = (gsize)CLAMP(BUDGET / (4 * (tm_node_flops(s->bench->out) + 1)), 4, MOST_ELEMENTS);
  TmRandom r;
  tm_random_seed(&r, i);
  for (gsize k = 0; k < MIN(n, most); k++) {
    const gsize element = n <= most ? k : tm_random_int(&r, (guint)n);
    double noise;
    const double slope = slope_at(s, i, x, element, &noise), error = fabs(slope - (double)dx[element]);
    if (error > 1e-4 * size + 4 * noise + 1e-9)
      g_test_fail_printf("%s: input %u, element %" G_GSIZE_FORMAT
                         ": the rule gives %.8g and the slope is %.8g",
                         c->name, i, element, (double)dx[element], slope);
  }
}

static void test_case(gconstpointer data) {
  const TmOpCase *c = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(OpBench) b = op_bench_new("ref", c);
  TmNode *dy = tm_graph_source(b->graph, TM_OP_INPUT, b->out->kind, b->out->shape, "dy"),
         *dx[TM_MAX_INPUTS] = {NULL};
  TmNode *outputs[TM_MAX_INPUTS + 1] = {b->out};
  gboolean want[TM_MAX_INPUTS];
  guint n_outputs = 1;
  for (guint i = 0; i < c->n_in; i++) want[i] = (c->gradient_by >> i) & 1;
  tm_op_info(c->op)->gradient(b->graph, b->out, dy, want, dx);
  tm_graph_check(b->graph, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < c->n_in; i++) {
    if (!want[i]) continue;
    g_assert_nonnull(dx[i]);
    g_assert_true(tm_shape_equal(dx[i]->shape, b->in[i]->shape));
    g_assert_cmpint(dx[i]->kind, ==, b->in[i]->kind == TM_KIND_ACT ? TM_KIND_ACT : TM_KIND_STAT);
    if (dx[i] != dy) outputs[n_outputs++] = dx[i];
  }
  Slope s = {.bench = b, .n_out = tm_shape_count(b->out->shape)};
  s.dy = g_new(float, s.n_out);
  TmRandom r;
  tm_random_seed(&r, 99);
  for (gsize k = 0; k < s.n_out; k++) s.dy[k] = tm_random_normal(&r);
  g_autoptr(TmProgram) both = op_bench_program(b, TM_F32, n_outputs, outputs);
  tm_op_case_load(c, both, b->params, b->in, SEED, &error);
  g_assert_no_error(error);
  if (tm_program_value(both, dy)) tm_program_write(both, dy, s.dy, TM_F32, &error);
  g_assert_no_error(error);
  tm_program_run(both, &error);
  g_assert_no_error(error);
  s.forward = op_bench_program(b, TM_F32, 1, outputs);
  tm_op_case_load(c, s.forward, b->params, b->in, SEED, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < c->n_in; i++) {
    if (!want[i]) continue;
    g_autofree float *given =
        dx[i] == dy ? g_memdup2(s.dy, s.n_out * sizeof(float)) : op_bench_read(both, dx[i]);
    check_input(&s, i, given);
  }
  tm_program_free(s.forward);
  g_free(s.dy);
}

/* A rule without a case would go untested. */
static void test_every_rule_has_a_case(void) {
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  for (int op = 0; op < TM_N_OPS; op++) {
    guint probed = 0, present = 0;
    for (guint i = 0; i < n; i++) {
      present += (int)cases[i].op == op;
      probed += (int)cases[i].op == op && cases[i].gradient_by;
    }
    const TmOpInfo *info = tm_op_info((TmOp)op);
    if (info->max_in > 0 && !present) g_test_fail_printf("%s has no case", info->name);
    if (info->gradient && !probed) g_test_fail_printf("the gradient of %s has no case", info->name);
    if (!info->gradient && probed)
      g_test_fail_printf("%s has a case for a gradient it does not give", info->name);
  }
}

/* A rule must not add what nobody asked for: it would run in every step. */
static void test_nothing_unwanted(void) {
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  for (guint i = 0; i < n; i++) {
    for (guint k = 0; k < cases[i].n_in; k++) {
      if (!((cases[i].gradient_by >> k) & 1)) continue;
      g_autoptr(TmGraph) g = tm_graph_new();
      TmNode *in[TM_MAX_INPUTS], *out, *dx[TM_MAX_INPUTS] = {NULL};
      gboolean want[TM_MAX_INPUTS] = {FALSE};
      g_assert_true(tm_op_case_graph(&cases[i], g, in, &out, NULL));
      TmNode *dy = tm_graph_source(g, TM_OP_INPUT, out->kind, out->shape, "dy");
      want[k] = TRUE;
      tm_op_info(cases[i].op)->gradient(g, out, dy, want, dx);
      for (guint j = 0; j < cases[i].n_in; j++) g_assert_true(j == k ? dx[j] != NULL : dx[j] == NULL);
      g_assert_true(tm_graph_check(g, NULL));
    }
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  g_test_add_func("/gradient/every-rule-has-a-case", test_every_rule_has_a_case);
  g_test_add_func("/gradient/nothing-unwanted", test_nothing_unwanted);
  for (guint i = 0; i < n; i++) {
    if (!cases[i].gradient_by) continue;
    g_autofree char *path = g_strdup_printf("/gradient/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  return g_test_run();
}
