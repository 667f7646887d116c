/* Every op on the cuda backend, against ref: the cases of the op table, and shapes drawn at
 * random (sizes 1..40, channels 1..70), in f32, bf16 and f16, dense, as slices and off their alignment, with
 * blocks and threads in several orders. The first run of a program is eager, the second a captured graph:
 * both must give the same bits.
 *
 * Both sides are fed values that the type holds exactly, and ref computes in double: what remains is one
 * rounding of the result and the order of sums in float.
 *
 * Arguments: "brief" takes part of the combinations, for the race detector, which is slow and knows no
 * orders; "between" does too, and lets blocks race with each other. */
#include <string.h>
#include <tm_host.h>

#include "tests/cuda-host/host_bench.h"
#include "tests/cuda-host/samples.h"

static gboolean brief;

/* What a test runs under. */
typedef struct {
  TmDType precision;
  HostLayout layout;
  int order;
  guint seed;
} How;

static const TmOp whole[] = {TM_OP_ARGMAX, TM_OP_CONFUSION};

static double bound_of(const TmOpCase *c, TmDType precision) {
  for (guint i = 0; i < G_N_ELEMENTS(whole); i++)
    if (c->op == whole[i]) return 0;
  /* A convolution is rounded before its bias is added, too. */
  const int twice = (c->op == TM_OP_CONV || c->op == TM_OP_CONV_TRANSPOSE) && c->n_in == 3 ? 2 : 1;
  return precision == TM_F32 ? 1e-5 : twice * (precision == TM_F16 ? 0x1p-10 : 0x1p-8);
}

/* Of a convolution: packed in the program's type. */
static gboolean is_weight(const TmNode *n) {
  return n->kind == TM_KIND_PARAM && (n->shape.n > 1 || n->shape.h > 1 || n->shape.w > 1);
}

static void fill(HostBench *b, const TmOpCase *c, TmNode *const *in, TmDType round, guint64 seed) {
  for (guint i = 0; i < c->n_in; i++) {
    if (tm_op_case_is_made(c, i)) continue;
    const gsize n = tm_shape_count(in[i]->shape);
    g_autofree float *x = g_new(float, n);
    tm_op_case_fill(c, i, seed, x);
    if (in[i]->kind == TM_KIND_ACT || is_weight(in[i])) host_bench_round(x, n, round);
    host_bench_write(b, in[i], x);
  }
}

/* The result, and the states the op may have changed, one after another. */
static GArray *results(HostBench *b, const TmOpCase *c, TmNode *const *in, const TmNode *out) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(float));
  for (guint i = 0; i <= c->n_in; i++) {
    const TmNode *n = i == 0 ? out : in[i - 1];
    if (i > 0 && n->kind != TM_KIND_STATE) continue;
    g_autofree float *x = host_bench_read(b, n);
    g_array_append_vals(all, x, (guint)tm_shape_count(n->shape));
  }
  return all;
}

static GArray *run_once(TmBackend *backend, const TmOpCase *c, TmDType precision, const How *how,
                        gboolean twice) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  tm_op_case_graph(c, g, in, &out, &error);
  g_assert_no_error(error);
  g_autoptr(HostBench) b = host_bench_new(backend, g, precision, how->layout);
  GArray *first = NULL;
  for (int i = 0; i <= twice; i++) {
    fill(b, c, in, how->precision, how->seed);
    host_bench_run(b);
    GArray *all = results(b, c, in, out);
    if (first) {
      g_assert_cmpuint(all->len, ==, first->len);
      g_assert_cmpint(memcmp(all->data, first->data, all->len * sizeof(float)), ==, 0);
      g_array_unref(all);
    } else {
      first = all;
    }
  }
  return first;
}

static gboolean supported(TmBackend *b, const TmOpCase *c) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *in[TM_MAX_INPUTS], *out;
  g_assert_true(tm_op_case_graph(c, g, in, &out, NULL));
  return tm_backend_supports(b, (int)c->op, out, TM_F32);
}

static void run_case(TmBackend *ref, TmBackend *cuda, const TmOpCase *c, const How *how) {
  tm_host_order(how->order, how->seed);
  g_autoptr(GArray) right = run_once(ref, c, TM_F32, &(How){how->precision, {0, 0}, 0, how->seed}, FALSE);
  g_autoptr(GArray) got = run_once(cuda, c, how->precision, how, TRUE);
  g_assert_cmpuint(got->len, ==, right->len);
  g_autofree char *what =
      g_strdup_printf("%s, %s, slice %d+%d, order %d", c->name, tm_dtype_name(how->precision),
                      how->layout.before, how->layout.gap, how->order);
  host_bench_compare(what, (float *)got->data, (float *)right->data, right->len, bound_of(c, how->precision));
}

static const TmDType precisions[] = {TM_F32, TM_BF16, TM_F16};
static const HostLayout layouts[] = {{0, 0}, {3, 5}, {8, 24}, {0, 3}};
static const int orders[] = {TM_ORDER_UP, TM_ORDER_DOWN, TM_ORDER_RANDOM};

static void test_case(gconstpointer data) {
  g_autoptr(TmBackend) ref = tm_backend_open("ref", NULL, NULL);
  g_autoptr(TmBackend) cuda = host_bench_open();
  for (guint p = 0; p < G_N_ELEMENTS(precisions); p++)
    for (guint l = 0; l < G_N_ELEMENTS(layouts); l++)
      if (!brief || l == p)
        run_case(ref, cuda, data, &(How){precisions[p], layouts[l], orders[(p + l) % 3], 7 + p});
}

static void test_sample(gconstpointer data) {
  const Sampled *s = data;
  g_autoptr(TmBackend) ref = tm_backend_open("ref", NULL, NULL);
  g_autoptr(TmBackend) cuda = host_bench_open();
  for (guint k = 0; k < (brief ? 2 : 8); k++) {
    TmOpCase c;
    sample_case(s, k, &c);
    run_case(ref, cuda, &c, &(How){precisions[k % 3], layouts[k % 4], orders[k % 3], 100 + k});
  }
}

/* Everything the backend reserved it gave back. */
static void test_no_leak(void) {
  g_assert_cmpint(tm_host_live(), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  brief = argc > 1 && strcmp(argv[1], "sparse") != 0;
  tm_host_between_blocks(brief && strcmp(argv[1], "between") == 0);
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  g_autoptr(TmBackend) b = host_bench_open();
  for (guint i = 0; i < n; i++) {
    if (!supported(b, &cases[i])) continue;
    g_autofree char *path = g_strdup_printf("/cuda-host/op/%s", cases[i].name);
    g_test_add_data_func(g_strdelimit(path, " ", '-'), &cases[i], test_case);
  }
  const Sampled *samples = sampled_ops(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf("/cuda-host/sampled/%s", tm_op_info(samples[i].op)->name);
    g_test_add_data_func(path, &samples[i], test_sample);
  }
  g_clear_pointer(&b, tm_backend_close);
  g_test_add_func("/cuda-host/no-leak", test_no_leak);
  return g_test_run();
}
