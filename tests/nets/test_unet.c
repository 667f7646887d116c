/* The UNet as a function: any size, every option, sizes preserved, gradients by finite differences through the whole net. */
#include <math.h>

#include "engine/core/tensor.h"
#include "tests/nets/net_fixture.h"

static const TmUNet plain = {.classes = 4, .base = 2, .depth = 2, .batch_norm = TRUE, .bn_momentum = 0.1f};

static double loss_of(TestNet *n, TmProgram *p) {
  float loss = 0;
  g_assert_true(tm_program_run(p, NULL));
  g_assert_true(tm_program_read(p, n->loss, &loss, TM_F32, NULL));
  return (double)loss;
}

static void check_size(const TmUNet *net, TmShape x) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, &error);
  g_assert_no_error(error);
  g_autoptr(TestNet) n = test_net_new(net, x, TRUE);
  g_assert_true(tm_graph_check(n->g, &error));
  g_assert_no_error(error);
  g_assert_true(tm_shape_equal(n->logits->shape, TM_SHAPE(x.n, net->classes, x.h, x.w)));
  g_autoptr(TmParams) params = tm_params_new(b, n->g, &error);
  g_assert_no_error(error);
  g_assert_true(tm_params_init(params, 1, NULL));
  g_autoptr(TmProgram) p = test_net_program(n, b, params, TM_F32, FALSE, FALSE, &error);
  g_assert_no_error(error);
  test_net_fill(n, p, 3);
  const double loss = loss_of(n, p);
  g_assert_true(isfinite(loss) && (loss > 0 || net->classes == 1)); /* one class is always right */
  for (guint i = 0; i < n->params->len; i++) { /* every parameter got a finite gradient */
    const TmParam *one = tm_params_find(params, ((TmNode *)n->params->pdata[i])->name);
    g_autoptr(TmTensor) d = tm_tensor_new(TM_F32, one->shape, NULL);
    g_assert_true(tm_params_read(params, one, TRUE, d->data, NULL));
    for (gsize k = 0; k < tm_shape_count(one->shape); k++) g_assert_true(isfinite(((float *)d->data)[k]));
  }
}

static void test_sizes(void) {
  const TmShape sizes[] = {TM_SHAPE(1, 3, 1, 1), TM_SHAPE(1, 3, 17, 31), TM_SHAPE(2, 3, 8, 12), TM_SHAPE(1, 3, 2, 40), TM_SHAPE(3, 3, 5, 4)};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) check_size(&plain, sizes[i]);
}

static void test_options(void) {
  for (int depth = 2; depth <= 5; depth++) {
    TmUNet net = plain;
    net.depth = depth;
    check_size(&net, TM_SHAPE(1, 3, 33, 20));
  }
  TmUNet net = plain;
  net.bilinear = TRUE;
  check_size(&net, TM_SHAPE(1, 3, 11, 13));
  net.batch_norm = FALSE;
  check_size(&net, TM_SHAPE(2, 3, 11, 13));
  net.dropout = 0.3f;
  check_size(&net, TM_SHAPE(2, 3, 12, 8));
  net.classes = 1;
  check_size(&net, TM_SHAPE(1, 3, 12, 8));
}

static void test_inference_has_the_same_parameters(void) {
  g_autoptr(TestNet) a = test_net_new(&plain, TM_SHAPE(1, 3, 16, 16), TRUE);
  g_autoptr(TestNet) b = test_net_new(&plain, TM_SHAPE(2, 3, 20, 12), FALSE);
  guint same = 0;
  for (guint id = 0; id < tm_graph_n_nodes(a->g); id++) {
    const TmNode *n = tm_graph_node(a->g, id);
    if (n->op != TM_OP_PARAM) continue;
    const TmNode *m = tm_graph_find(b->g, n->name);
    g_assert_nonnull(m);
    g_assert_true(tm_shape_equal(n->shape, m->shape));
    same++;
  }
  g_assert_cmpuint(same, ==, 5 * 6 + 2 * 2 + 2); /* double convolutions: 2 weights, 2 gammas, 2 betas; up and head: weight, bias */
}

static void test_dropout_depends_on_the_tick(void) {
  TmUNet net = plain;
  net.dropout = 0.5f;
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(1, 3, 16, 16), TRUE);
  g_autoptr(TmParams) params = tm_params_new(b, n->g, NULL);
  g_assert_true(tm_params_init(params, 1, NULL));
  g_autoptr(TmProgram) p = test_net_program(n, b, params, TM_F32, FALSE, FALSE, NULL);
  test_net_fill(n, p, 3);
  const double first = loss_of(n, p), again = loss_of(n, p);
  const gint32 tick = 4;
  g_assert_true(tm_program_write(p, n->tick, &tick, TM_I32, NULL));
  g_assert_cmpfloat(first, ==, again);
  g_assert_cmpfloat(first, !=, loss_of(n, p));
}

/* Central differences on a few elements of every parameter. */
static void test_gradients(void) {
  TmUNet net = plain;
  net.bilinear = FALSE;
  g_autoptr(TmBackend) b = tm_backend_open("ref", &(TmBackendOptions){.threads = 1}, NULL);
  g_autoptr(TestNet) n = test_net_new(&net, TM_SHAPE(2, 3, 7, 9), TRUE);
  g_autoptr(TmParams) params = tm_params_new(b, n->g, NULL);
  g_assert_true(tm_params_init(params, 5, NULL));
  g_autoptr(TmProgram) p = test_net_program(n, b, params, TM_F32, FALSE, FALSE, NULL);
  test_net_fill(n, p, 8);
  loss_of(n, p);
  guint checked = 0, off = 0;
  for (guint i = 0; i < n->params->len; i++) {
    const TmParam *one = tm_params_find(params, ((TmNode *)n->params->pdata[i])->name);
    const gsize count = tm_shape_count(one->shape);
    g_autoptr(TmTensor) d = tm_tensor_new(TM_F32, one->shape, NULL), w = tm_tensor_new(TM_F32, one->shape, NULL);
    loss_of(n, p);
    g_assert_true(tm_params_read(params, one, TRUE, d->data, NULL) && tm_params_read(params, one, FALSE, w->data, NULL));
    float *x = w->data;
    for (gsize k = 0; k < count; k += count / 2 + 1) {
      const float keep = x[k], h = 2e-3f;
      x[k] = keep + h;
      g_assert_true(tm_params_write(params, one, x, NULL));
      const double up = loss_of(n, p);
      x[k] = keep - h;
      g_assert_true(tm_params_write(params, one, x, NULL));
      const double down = loss_of(n, p), numeric = (up - down) / (2 * (double)h), exact = (double)((float *)d->data)[k];
      x[k] = keep;
      g_assert_true(tm_params_write(params, one, x, NULL));
      checked++;
      off += fabs(numeric - exact) > 2e-3 + 0.03 * fabs(exact);
    }
  }
  g_test_message("%u of %u elements differ by more than the bound", off, checked);
  g_assert_cmpuint(checked, >, 40);
  g_assert_cmpuint(off, <=, checked / 12); /* a ReLU or a pool's maximum that flips within h spoils a difference now and then */
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/unet/sizes", test_sizes);
  g_test_add_func("/unet/options", test_options);
  g_test_add_func("/unet/inference-has-the-same-parameters", test_inference_has_the_same_parameters);
  g_test_add_func("/unet/dropout-depends-on-the-tick", test_dropout_depends_on_the_tick);
  g_test_add_func("/unet/gradients", test_gradients);
  return g_test_run();
}
