/* The passes: what they may not change (the numbers) and what they must achieve (memory, no overlaps, no copies). */
#include <math.h>
#include <string.h>

#include "engine/core/tensor.h"
#include "tests/nets/net_fixture.h"

static const TmUNet net = {.classes = 5, .base = 4, .depth = 3, .batch_norm = TRUE, .bn_momentum = 0.1f};

typedef struct {
  TmBackend *b;
  TestNet *n;
  TmParams *params;
} Fixture;

static const char *best_backend(void) { return tm_backend_available("cpu", NULL) ? "cpu" : "ref"; }

static void set_up(Fixture *f, gconstpointer backend) {
  g_autoptr(GError) error = NULL;
  f->b = tm_backend_open(backend, &(TmBackendOptions){.threads = 2}, &error);
  g_assert_no_error(error);
  f->n = test_net_new(&net, TM_SHAPE(2, 3, 24, 40), TRUE);
  f->params = tm_params_new(f->b, f->n->g, &error);
  g_assert_no_error(error);
  g_assert_true(tm_params_init(f->params, 4, NULL));
}

static void tear_down(Fixture *f, gconstpointer backend) {
  (void)backend;
  tm_params_free(f->params);
  test_net_free(f->n);
  tm_backend_close(f->b);
}

static TmProgram *compile(Fixture *f, gboolean keep_all, gboolean unfused) {
  g_autoptr(GError) error = NULL;
  TmProgram *p = test_net_program(f->n, f->b, f->params, TM_F32, keep_all, unfused, &error);
  g_assert_no_error(error);
  return p;
}

/* Runs one step from the same state; the flat gradient into @grad (n_value floats). */
static float run(Fixture *f, TmProgram *p, float *grad) {
  test_net_fill(f->n, p, 6);
  g_assert_true(tm_params_init(f->params, 4, NULL));
  g_assert_true(tm_program_run(p, NULL));
  float loss;
  g_assert_true(tm_program_read(p, f->n->loss, &loss, TM_F32, NULL));
  const TmView v = {.data = f->params->grad, .dtype = TM_F32, .shape = TM_SHAPE(1, (int)f->params->n_value, 1, 1), .ld = (int)f->params->n_value};
  g_assert_true(tm_backend_read(f->b, &v, grad, TM_F32, NULL));
  return loss;
}

static void compare(Fixture *f, double bound) {
  const gsize n = f->params->n_value;
  g_autofree float *a = g_new(float, n), *b = g_new(float, n), *c = g_new(float, n);
  g_autoptr(TmProgram) fused = compile(f, FALSE, FALSE), plain = compile(f, FALSE, TRUE), taps = compile(f, TRUE, FALSE);
  const float la = run(f, fused, a), lb = run(f, plain, b), lc = run(f, taps, c);
  double most = 0, top = 0;
  for (gsize i = 0; i < n; i++) {
    most = MAX(most, (double)fabsf(a[i] - b[i]));
    top = MAX(top, (double)fabsf(b[i]));
    g_assert_cmpfloat(b[i], ==, c[i]);
  }
  g_assert_cmpfloat(top, >, 0);
  g_assert_cmpfloat(most / top, <=, bound);
  g_assert_cmpfloat_with_epsilon((double)la, (double)lb, bound * 10 + 1e-12);
  g_assert_cmpfloat(lb, ==, lc);
}

/* ref has no patterns: placing and in-place results alone, which must not change a bit. */
static void test_placing_changes_nothing(Fixture *f, gconstpointer data) {
  (void)data;
  compare(f, 0);
}

static void test_fusing_changes_roundings_only(Fixture *f, gconstpointer data) {
  (void)data;
  compare(f, 2e-5);
}

static void test_no_overlap(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE);
  guint pairs = 0;
  for (guint i = 0; i < p->n_values; i++)
    for (guint k = 0; k < i; k++) {
      const TmValue *a = &p->values[i], *b = &p->values[k];
      if (a->last <= b->first || b->last <= a->first) continue; /* handing over in place touches at one step */
      if (a->view.ld != a->view.shape.c || b->view.ld != b->view.shape.c) continue; /* slices: by construction inside their whole */
      const char *pa = a->view.data, *pb = b->view.data;
      const gsize na = tm_shape_count(a->view.shape) * tm_dtype_size(a->view.dtype), nb = tm_shape_count(b->view.shape) * tm_dtype_size(b->view.dtype);
      const gboolean whole_of_slice = a->node->op == TM_OP_CONCAT || b->node->op == TM_OP_CONCAT || a->node->op == TM_OP_SLICE || b->node->op == TM_OP_SLICE;
      if (!whole_of_slice) g_assert_true(pa + na <= pb || pb + nb <= pa);
      pairs++;
    }
  g_assert_cmpuint(pairs, >, 100);
}

static void test_arena_holds_everything(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE), all = compile(f, TRUE, FALSE);
  for (guint i = 0; i < p->n_values; i++) {
    const TmValue *v = &p->values[i];
    if (v->home != TM_HOME_ARENA && v->home != TM_HOME_OWN) continue;
    const char *first = v->view.data;
    const gsize bytes = ((tm_shape_pixels(v->view.shape) - 1) * (gsize)v->view.ld + (gsize)v->view.shape.c) * tm_dtype_size(v->view.dtype);
    g_assert_true(first >= (char *)p->arena && first + bytes <= (char *)p->arena + p->arena_bytes);
  }
  g_assert_cmpuint(p->arena_bytes, <, all->arena_bytes * 6 / 10);
}

/* The bytes of a plan that hold something at step @i, counted in blocks of 256. */
static gsize alive(const TmProgram *p, guint i) {
  const gsize n = p->arena_bytes / 256;
  g_autofree gboolean *used = g_new0(gboolean, n + 1);
  gsize sum = 0;
  for (guint v = 0; v < p->n_values; v++) {
    const TmValue *x = &p->values[v];
    if ((x->home != TM_HOME_ARENA && x->home != TM_HOME_OWN) || i < x->first || i > x->last) continue;
    const gsize from = GPOINTER_TO_SIZE(x->view.data), ld = (gsize)x->view.ld, c = (gsize)x->view.shape.c;
    const gsize to = from + ((tm_shape_pixels(x->view.shape) - 1) * ld + c) * tm_dtype_size(x->view.dtype);
    for (gsize k = from / 256; k <= (to - 1) / 256; k++) used[k] = TRUE;
  }
  for (gsize k = 0; k < n; k++) sum += used[k] ? 256 : 0;
  return sum;
}

/* No more memory than what is alive at once, in nets of several depths and sizes. */
static void test_arena_is_tight(Fixture *f, gconstpointer data) {
  (void)data;
  for (int i = 0; i < 4; i++) {
    g_autoptr(GError) error = NULL;
    TmUNet large = net;
    large.base = 8 << i % 2;
    large.depth = 3 + i / 2;
    g_autoptr(TestNet) n = test_net_new(&large, TM_SHAPE(2, 3, 176, 240), TRUE);
    const TmProgramOptions o = {.precision = TM_F32, .n_outputs = 1, .outputs = &n->loss, .n_grads = n->grads->len,
                                .params = (TmNode *const *)n->params->pdata, .grads = (TmNode *const *)n->grads->pdata};
    g_autoptr(TmProgram) p = tm_program_plan(f->b, n->g, &o, &error);
    g_assert_no_error(error);
    gsize most = 0;
    for (guint k = 0; k < p->n_steps; k++) most = MAX(most, alive(p, k));
    g_assert_cmpuint(p->arena_bytes, <=, most + most / 200);
  }
}

/* A plan is the program without its memory. */
static void test_plan(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TmProgram) p G_GNUC_UNUSED = compile(f, FALSE, FALSE); /* makes the net */
  const TmProgramOptions o = {.precision = TM_F32, .n_outputs = 1, .outputs = &f->n->loss,
                              .n_grads = f->n->grads->len, .params = (TmNode *const *)f->n->params->pdata,
                              .grads = (TmNode *const *)f->n->grads->pdata};
  g_autoptr(TmProgram) plan = tm_program_plan(f->b, f->n->g, &o, &error), whole = tm_program_new(f->b, f->params, f->n->g, &o, &error);
  g_assert_no_error(error);
  g_assert_null(plan->arena);
  g_assert_cmpuint(plan->arena_bytes, ==, whole->arena_bytes);
  g_assert_cmpuint(plan->n_steps, ==, whole->n_steps);
  for (guint i = 0; i < plan->n_values; i++) {
    const TmValue *a = &plan->values[i], *b = &whole->values[i];
    if (a->home == TM_HOME_ARENA) g_assert_cmpuint(GPOINTER_TO_SIZE(a->view.data), ==, (gsize)((char *)b->view.data - (char *)whole->arena));
  }
  gsize needs = 0;
  g_assert_true(tm_backend_needs(f->b, plan, &needs, &error));
  if (g_str_equal(f->b->api->name, "cpu")) g_assert_cmpuint(needs, >, tm_params_count(f->params));
}

static void test_no_concat_copy(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE);
  for (guint i = 0; i < p->n_steps; i++) g_assert_cmpint(p->steps[i].op, !=, TM_OP_CONCAT);
}

static void test_patterns_are_found(Fixture *f, gconstpointer data) {
  (void)data;
  if (strcmp(f->b->api->name, "cpu") != 0) {
    g_test_skip("ref has no fused kernels");
    return;
  }
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE);
  guint found[TM_FUSED_END] = {0};
  for (guint i = 0; i < p->n_steps; i++) found[p->steps[i].op]++;
  g_assert_cmpuint(found[TM_FUSED_BN_RELU_POOL], ==, 3);
  g_assert_cmpuint(found[TM_FUSED_BN_RELU], ==, 14 - 3);
  g_assert_cmpuint(found[TM_FUSED_RELU_DX_BN_REDUCE], ==, 14);
  g_assert_cmpuint(found[TM_FUSED_POOL_DX_ADD], ==, 3);
  g_assert_cmpuint(found[TM_FUSED_CROSS_ENTROPY_GRAD], ==, 1);
  g_assert_cmpuint(found[TM_OP_RELU] + found[TM_OP_ADD] + found[TM_OP_MAX_POOL_DX], ==, 0);
}

static void test_reads_only_what_is_kept(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE);
  g_autoptr(GError) error = NULL;
  float x[64];
  g_assert_false(tm_program_read(p, tm_graph_find(f->n->g, "enc.3.0"), x, TM_F32, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_FAILED);
}

static void test_parameter_missing(Fixture *f, gconstpointer data) {
  (void)data;
  TmUNet wider = net;
  wider.base = 8;
  g_autoptr(TestNet) other = test_net_new(&wider, TM_SHAPE(1, 3, 16, 16), TRUE);
  g_autoptr(GError) error = NULL;
  g_assert_null(test_net_program(other, f->b, f->params, TM_F32, FALSE, FALSE, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SHAPE);
  g_assert_nonnull(strstr(error->message, "enc.0.0"));
}

static void test_runs_repeat(Fixture *f, gconstpointer data) {
  (void)data;
  const gsize n = f->params->n_value;
  g_autofree float *a = g_new(float, n), *b = g_new(float, n);
  g_autoptr(TmProgram) p = compile(f, FALSE, FALSE);
  g_assert_cmpfloat(run(f, p, a), ==, run(f, p, b));
  g_assert_true(memcmp(a, b, n * sizeof(float)) == 0);
}

static void test_two_programs_share_parameters(Fixture *f, gconstpointer data) {
  (void)data;
  g_autoptr(TestNet) infer = test_net_new(&net, TM_SHAPE(1, 3, 9, 14), FALSE);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmProgram) p = test_net_program(infer, f->b, f->params, TM_F32, FALSE, FALSE, &error);
  g_assert_no_error(error);
  test_net_fill(infer, p, 2);
  float before = 0, after = 0;
  g_assert_true(tm_program_run(p, NULL) && tm_program_read(p, infer->loss, &before, TM_F32, NULL));
  const TmParam *bias = tm_params_find(f->params, "head.bias");
  const float shift[5] = {3, 0, 0, 0, 0};
  g_assert_true(tm_params_write(f->params, bias, shift, NULL));
  g_assert_true(tm_program_run(p, NULL) && tm_program_read(p, infer->loss, &after, TM_F32, NULL));
  g_assert_cmpfloat(before, !=, after);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, backend, func) g_test_add("/program/" name, Fixture, backend, set_up, func, tear_down)
  ADD("placing-changes-nothing", "ref", test_placing_changes_nothing);
  ADD("fusing-changes-roundings-only", best_backend(), test_fusing_changes_roundings_only);
  ADD("no-overlap/ref", "ref", test_no_overlap);
  ADD("no-overlap/best", best_backend(), test_no_overlap);
  ADD("arena-holds-everything", best_backend(), test_arena_holds_everything);
  ADD("arena-is-tight/ref", "ref", test_arena_is_tight);
  ADD("arena-is-tight/best", best_backend(), test_arena_is_tight);
  ADD("plan/ref", "ref", test_plan);
  ADD("plan/best", best_backend(), test_plan);
  ADD("no-concat-copy/ref", "ref", test_no_concat_copy);
  ADD("no-concat-copy/best", best_backend(), test_no_concat_copy);
  ADD("patterns-are-found", best_backend(), test_patterns_are_found);
  ADD("reads-only-what-is-kept", "ref", test_reads_only_what_is_kept);
  ADD("parameter-missing", "ref", test_parameter_missing);
  ADD("runs-repeat/ref", "ref", test_runs_repeat);
  ADD("runs-repeat/best", best_backend(), test_runs_repeat);
  ADD("two-programs-share-parameters", best_backend(), test_two_programs_share_parameters);
  return g_test_run();
}
