#include <math.h>
#include <string.h>

#include "tests/nets/net_fixture.h"

static const TmUNet net = {.classes = 3, .base = 4, .depth = 2, .batch_norm = TRUE, .bn_momentum = 0.1f};

static void test_fill_and_draw(void) {
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(1, 3, 8, 8), TRUE);
  g_autoptr(TmParams) p = tm_params_new(b, n->g, NULL);
  g_assert_true(tm_params_init(p, 9, NULL));
  float w[4 * 27], gamma[4], var[4];
  g_assert_true(tm_params_read(p, tm_params_find(p, "enc.0.0.weight"), FALSE, w, NULL));
  g_assert_true(tm_params_read(p, tm_params_find(p, "enc.0.1.weight"), FALSE, gamma, NULL));
  g_assert_true(tm_params_read(p, tm_params_find(p, "enc.0.1.running_var"), FALSE, var, NULL));
  const float bound = 1 / sqrtf(27);
  double sum = 0, squares = 0;
  for (int i = 0; i < 108; i++) {
    g_assert_true(fabsf(w[i]) <= bound);
    sum += (double)w[i];
    squares += (double)(w[i] * w[i]);
  }
  g_assert_cmpfloat(fabs(sum / 108), <, 0.04);
  g_assert_cmpfloat_with_epsilon(squares / 108, (double)(bound * bound / 3), 0.004);
  for (int i = 0; i < 4; i++) g_assert_true(gamma[i] == 1 && var[i] == 1);
}

static void test_layout(void) {
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(1, 3, 8, 8), TRUE);
  g_autoptr(TmParams) p = tm_params_new(b, n->g, NULL);
  gsize end = 0, count = 0;
  for (guint i = 0; i < p->list->len; i++) {
    const TmParam *one = &g_array_index(p->list, TmParam, i);
    if (!one->trained) continue;
    g_assert_cmpuint(one->offset % 16, ==, 0);
    g_assert_cmpuint(one->offset, >=, end);
    end = one->offset + tm_shape_count(one->shape);
    count += tm_shape_count(one->shape);
  }
  g_assert_cmpuint(end, <=, p->n_value);
  g_assert_cmpuint(count, ==, tm_params_count(p));
  g_assert_null(tm_params_find(p, "no.such"));
}

static void test_write_moves_the_version(void) {
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(1, 3, 8, 8), TRUE);
  g_autoptr(TmParams) p = tm_params_new(b, n->g, NULL);
  const guint64 before = p->version;
  const float x[4] = {1, 2, 3, 4};
  float y[4];
  const TmParam *one = tm_params_find(p, "enc.0.1.bias");
  g_assert_true(tm_params_write(p, one, x, NULL) && tm_params_read(p, one, FALSE, y, NULL));
  g_assert_cmpuint(p->version, !=, before);
  g_assert_cmpmem(x, sizeof x, y, sizeof y);
}

static void test_seeds_differ(void) {
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(1, 3, 8, 8), TRUE);
  g_autoptr(TmParams) p = tm_params_new(b, n->g, NULL);
  float a[108], c[108], d[108];
  const TmParam *one = tm_params_find(p, "enc.0.0.weight");
  for (int i = 0; i < 3; i++) {
    g_assert_true(tm_params_init(p, i == 1 ? 2 : 1, NULL));
    g_assert_true(tm_params_read(p, one, FALSE, i == 0 ? a : i == 1 ? c : d, NULL));
  }
  g_assert_cmpmem(a, sizeof a, d, sizeof d);
  g_assert_true(memcmp(a, c, sizeof a) != 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/params/fill-and-draw", test_fill_and_draw);
  g_test_add_func("/params/layout", test_layout);
  g_test_add_func("/params/version", test_write_moves_the_version);
  g_test_add_func("/params/seeds", test_seeds_differ);
  return g_test_run();
}
