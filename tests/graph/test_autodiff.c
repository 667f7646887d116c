/* What reverse mode itself must get right; each op's own rule is tested in tests/ops. */
#include "engine/program/program.h"

typedef struct {
  TmBackend *backend;
  TmGraph *g;
  TmNode *x;
} Fixture;

static void set_up(Fixture *f, gconstpointer data) {
  (void)data;
  f->backend = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  f->g = tm_graph_new();
  f->x = tm_graph_source(f->g, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(1, 4, 1, 1), "x");
  f->x->attrs.value = 3;
}

static void tear_down(Fixture *f, gconstpointer data) {
  (void)data;
  tm_graph_free(f->g);
  tm_backend_close(f->backend);
}

/* The gradient of @loss by x, four numbers into @out. */
static void gradient_of(Fixture *f, TmNode *loss, TmNode *scale, float *out) {
  TmNode *grad = NULL;
  tm_graph_gradients(f->g, loss, scale, 1, &f->x, &grad);
  g_assert_nonnull(grad);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmParams) params = tm_params_new(f->backend, f->g, &error);
  g_assert_no_error(error);
  g_autoptr(TmProgram) p = tm_program_new(f->backend, params, f->g,
      &(TmProgramOptions){.precision = TM_F32, .n_grads = 1, .params = &f->x, .grads = &grad}, &error);
  g_assert_no_error(error);
  g_assert_true(tm_program_run(p, &error));
  g_assert_true(tm_params_read(params, tm_params_find(params, "x"), TRUE, out, &error));
}

static TmNode *first(Fixture *f, TmNode *v) { return tm_node(f->g, TM_OP_SLICE, NULL, (&(TmAttrs){.from = 0, .count = 1}), v); }

static void test_used_twice(Fixture *f, gconstpointer data) {
  (void)data;
  TmNode *y = tm_node(f->g, TM_OP_ADD, NULL, NULL, tm_node(f->g, TM_OP_MUL, NULL, NULL, f->x, f->x), f->x);
  float d[4];
  gradient_of(f, first(f, y), NULL, d); /* x^2 + x at 3 */
  g_assert_cmpfloat(d[0], ==, 7);
  for (int i = 1; i < 4; i++) g_assert_cmpfloat(d[i], ==, 0);
}

static void test_diamond(Fixture *f, gconstpointer data) {
  (void)data;
  TmNode *a = tm_node(f->g, TM_OP_SCALE, NULL, (&(TmAttrs){.value = 2}), f->x);
  TmNode *b = tm_node(f->g, TM_OP_SCALE, NULL, (&(TmAttrs){.value = 5}), f->x);
  float d[4];
  gradient_of(f, first(f, tm_node(f->g, TM_OP_MUL, NULL, NULL, a, b)), NULL, d); /* 10 x^2 */
  g_assert_cmpfloat(d[0], ==, 60);
}

static void test_loss_scale(Fixture *f, gconstpointer data) {
  (void)data;
  TmNode *scale = tm_graph_source(f->g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 1, 1, 1), "loss_scale");
  scale->attrs.value = 1024;
  float d[4];
  gradient_of(f, first(f, tm_node(f->g, TM_OP_MUL, NULL, NULL, f->x, f->x)), scale, d);
  g_assert_cmpfloat(d[0], ==, 6 * 1024);
}

static void test_independent(Fixture *f, gconstpointer data) {
  (void)data;
  TmNode *other = tm_graph_source(f->g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 4, 1, 1), "other");
  TmNode *grad = f->x;
  tm_graph_gradients(f->g, first(f, other), NULL, 1, &f->x, &grad);
  g_assert_null(grad);
}

static void test_only_what_is_asked(Fixture *f, gconstpointer data) {
  (void)data;
  TmNode *w = tm_graph_source(f->g, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(1, 4, 1, 1), "w");
  TmNode *loss = first(f, tm_node(f->g, TM_OP_MUL, NULL, NULL, f->x, w)), *grad = NULL;
  const guint before = tm_graph_n_nodes(f->g);
  tm_graph_gradients(f->g, loss, NULL, 1, &f->x, &grad);
  g_assert_nonnull(grad);
  g_assert_cmpuint(tm_graph_n_nodes(f->g) - before, <=, 3); /* the seed, the slice's and one product: nothing by w */
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, func) g_test_add("/autodiff/" name, Fixture, NULL, set_up, func, tear_down)
  ADD("used-twice", test_used_twice);
  ADD("diamond", test_diamond);
  ADD("loss-scale", test_loss_scale);
  ADD("independent", test_independent);
  ADD("only-what-is-asked", test_only_what_is_asked);
  return g_test_run();
}
