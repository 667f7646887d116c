#include <string.h>

#include "engine/graph/fused.h"
#include "engine/graph/graph.h"

static TmNode *input(TmGraph *g, TmShape s, const char *name) { return tm_graph_source(g, TM_OP_INPUT, TM_KIND_ACT, s, name); }

static void test_builds(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = input(g, TM_SHAPE(2, 3, 8, 8), "x");
  TmNode *y = tm_node(g, TM_OP_RELU, "y", NULL, x);
  g_assert_true(tm_graph_check(g, NULL));
  g_assert_true(tm_graph_find(g, "y") == y);
  g_assert_null(tm_graph_find(g, "z"));
  g_assert_cmpuint(tm_graph_n_nodes(g), ==, 2);
  g_assert_true(tm_shape_equal(y->shape, x->shape));
}

static void expect_error(TmGraph *g, const char *part) {
  g_autoptr(GError) error = NULL;
  g_assert_false(tm_graph_check(g, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SHAPE);
  g_assert_nonnull(strstr(error->message, part));
}

static void test_keeps_the_first_error(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *a = input(g, TM_SHAPE(1, 3, 4, 4), "a"), *b = input(g, TM_SHAPE(1, 4, 4, 4), "b");
  TmNode *sum = tm_node(g, TM_OP_ADD, "first", NULL, a, b);
  tm_node(g, TM_OP_ADD, "second", NULL, sum, b);
  expect_error(g, "first");
}

static void test_name_twice(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  input(g, TM_SHAPE(1, 1, 1, 1), "x");
  input(g, TM_SHAPE(1, 1, 1, 1), "x");
  expect_error(g, "x");
}

static void test_foreign_node(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  g_autoptr(TmGraph) other = tm_graph_new();
  input(g, TM_SHAPE(1, 1, 1, 1), "x");
  TmNode *alien = input(other, TM_SHAPE(1, 1, 1, 1), "y");
  tm_node(g, TM_OP_RELU, NULL, NULL, alien);
  expect_error(g, "relu");
}

static void test_number_of_inputs(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = input(g, TM_SHAPE(1, 1, 1, 1), "x");
  tm_node(g, TM_OP_ADD, NULL, NULL, x);
  expect_error(g, "add");
}

static void test_bad_source(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  input(g, TM_SHAPE(1, 0, 4, 4), "nothing");
  expect_error(g, "nothing");
}

static void test_vectors_stay_f32(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *v = tm_graph_source(g, TM_OP_STATE, TM_KIND_STATE, TM_SHAPE(1, 4, 1, 1), "v");
  TmNode *x = input(g, TM_SHAPE(1, 4, 1, 1), "x");
  g_assert_cmpint(tm_node(g, TM_OP_SCALE, NULL, (&(TmAttrs){.value = 2}), v)->kind, ==, TM_KIND_STAT);
  g_assert_cmpint(tm_node(g, TM_OP_SCALE, NULL, (&(TmAttrs){.value = 2}), x)->kind, ==, TM_KIND_ACT);
}

static void test_flops(void) {
  g_autoptr(TmGraph) g = tm_graph_new();
  TmNode *x = input(g, TM_SHAPE(2, 3, 10, 10), "x");
  TmNode *w = tm_graph_source(g, TM_OP_PARAM, TM_KIND_PARAM, TM_SHAPE(8, 3, 3, 3), "w");
  TmNode *y = tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.stride = 1, .pad = 1}), x, w);
  tm_node(g, TM_OP_CONV, NULL, (&(TmAttrs){.stride = 1, .pad = 1}), x, w); /* not needed by the root */
  g_assert_cmpfloat(tm_graph_flops(g, 1, &y), ==, 2.0 * 2 * 8 * 100 * 27);
}

static void test_names(void) {
  for (int op = 0; op < TM_N_OPS; op++) {
    g_assert_cmpint(tm_op_by_name(tm_op_info((TmOp)op)->name), ==, op);
    g_assert_cmpstr(tm_step_op_name(op), ==, tm_op_info((TmOp)op)->name);
  }
  g_assert_cmpint(tm_op_by_name("no such op"), ==, TM_N_OPS);
  g_assert_cmpstr(tm_step_op_name(TM_FUSED_BN_RELU_POOL), ==, "bn_apply+relu+max_pool");
  g_assert_cmpstr(tm_step_op_name(TM_FUSED_CROSS_ENTROPY_GRAD), ==, "cross_entropy+cross_entropy_dx");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/graph/builds", test_builds);
  g_test_add_func("/graph/keeps-the-first-error", test_keeps_the_first_error);
  g_test_add_func("/graph/name-twice", test_name_twice);
  g_test_add_func("/graph/foreign-node", test_foreign_node);
  g_test_add_func("/graph/number-of-inputs", test_number_of_inputs);
  g_test_add_func("/graph/bad-source", test_bad_source);
  g_test_add_func("/graph/vectors-stay-f32", test_vectors_stay_f32);
  g_test_add_func("/graph/flops", test_flops);
  g_test_add_func("/graph/names", test_names);
  return g_test_run();
}
