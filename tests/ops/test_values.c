/* What the reference backend answers to inputs whose answer is known: worked out by hand, or by PyTorch where
 * it says so. */
#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"
#include "tests/ops/op_bench.h"

#define ACT(n_, c_, h_, w_, values)                                                                          \
  { TM_SHAPE(n_, c_, h_, w_), TM_KIND_ACT, values }
#define STAT(c_, values)                                                                                     \
  { TM_SHAPE(1, c_, 1, 1), TM_KIND_STAT, values }
#define STATE(c_, values)                                                                                    \
  { TM_SHAPE(1, c_, 1, 1), TM_KIND_STATE, values }
#define LABEL(n_, h_, w_, values)                                                                            \
  { TM_SHAPE(n_, 1, h_, w_), TM_KIND_LABEL, values }
#define INPUTS(...) ((const OpInput[]){__VA_ARGS__})
#define WITH(...) (&(const TmAttrs){__VA_ARGS__})
#define EXPECT(got, ...)                                                                                     \
  expect(got, ((const double[]){__VA_ARGS__}), sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void expect(const float *got, const double *right, gsize n) {
  for (gsize i = 0; i < n; i++)
    if (!(fabs((double)got[i] - right[i]) <= 2e-6 * (1 + fabs(right[i]))))
      g_test_fail_printf("element %" G_GSIZE_FORMAT " is %.9g, not %.9g", i, (double)got[i], right[i]);
}

static float *run(TmOp op, const TmAttrs *a, guint n, const OpInput *in) {
  return op_run(op, a, n, in, NULL, NULL);
}

static const float one_to_nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void test_conv(void) {
  const float w[] = {0, 1, 0, 1, -4, 1, 0, 1, 0}, bias[] = {10};
  g_autofree float *y = run(TM_OP_CONV, WITH(.pad = 1), 3,
                            INPUTS(ACT(1, 1, 3, 3, one_to_nine), ACT(1, 1, 3, 3, w), STAT(1, bias)));
  EXPECT(y, 12, 11, 6, 7, 10, 3, -6, -1, -12); /* 0 beyond the border */
  g_autofree float *z =
      run(TM_OP_CONV, WITH(.stride = 2), 2, INPUTS(ACT(1, 1, 3, 3, one_to_nine), ACT(1, 1, 1, 1, bias)));
  EXPECT(z, 10, 30, 70, 90);
}

static void test_conv_order_of_weights(void) {
  /* Two channels into one through a 1x2 kernel: stored O,kH,kW,I. */
  const float x[] = {1, 10, 2, 20}, w[] = {1, 2, 3, 4};
  g_autofree float *y = run(TM_OP_CONV, NULL, 2, INPUTS(ACT(1, 2, 1, 2, x), ACT(1, 2, 1, 2, w)));
  EXPECT(y, 1 + 20 + 6 + 80);
}

static void test_conv_transpose(void) {
  const float x[] = {1, 2}, w[] = {1, 2, 3, 4}, wide[] = {1, 1, 1};
  g_autofree float *y =
      run(TM_OP_CONV_TRANSPOSE, WITH(.stride = 2), 2, INPUTS(ACT(1, 1, 1, 2, x), ACT(1, 1, 2, 2, w)));
  EXPECT(y, 1, 2, 2, 4, 3, 4, 6, 8);
  g_autofree float *z = run(TM_OP_CONV_TRANSPOSE, NULL, 2, INPUTS(ACT(1, 1, 1, 2, x), ACT(1, 1, 1, 3, wide)));
  EXPECT(z, 1, 3, 3, 2); /* stamps overlap and add up */
}

static void test_bn(void) {
  const float x[] = {1, 5, 3, 5}, gamma[] = {2, 3}, beta[] = {10, 20};
  g_autofree float *stats = run(TM_OP_BN_STATS, NULL, 1, INPUTS(ACT(1, 2, 1, 2, x)));
  EXPECT(stats, 2, 5, 1, 0);
  g_autofree float *y = run(TM_OP_BN_APPLY, WITH(.value = 1e-5f), 4,
                            INPUTS(ACT(1, 2, 1, 2, x), STAT(4, stats), STAT(2, gamma), STAT(2, beta)));
  EXPECT(y, 10 - 2 / sqrt(1.00001), 20, 10 + 2 / sqrt(1.00001), 20);
}

/* Far from 0 the variance must not drown in the square of the mean. */
static void test_bn_far_from_zero(void) {
  float x[1000];
  for (int i = 0; i < 1000; i++) x[i] = 30000 + (float)(i % 2);
  g_autofree float *stats = run(TM_OP_BN_STATS, NULL, 1, INPUTS(ACT(10, 1, 10, 10, x)));
  EXPECT(stats, 30000.5, 0.25);
}

static void test_bn_running(void) {
  const float stats[] = {1, 2, 3, 4}, mean[] = {0, 10}, variance[] = {1, 8};
  float *after[2];
  g_autofree float *y = op_run(TM_OP_BN_RUNNING, WITH(.value = 0.1f, .count = 4), 3,
                               INPUTS(STAT(4, stats), STATE(2, mean), STATE(2, variance)), NULL, after);
  EXPECT(y, 0);
  EXPECT(after[0], 0.1, 9.2);
  EXPECT(after[1], 1 + 0.1 * (3 * 4 / 3.0 - 1),
         8 + 0.1 * (4 * 4 / 3.0 - 8)); /* the unbiased variance is kept */
  g_free(after[0]);
  g_free(after[1]);
}

static void test_bn_running_of_one_value(void) {
  const float stats[] = {1, 0}, mean[] = {0}, variance[] = {1};
  float *after[2];
  g_autofree float *y = op_run(TM_OP_BN_RUNNING, WITH(.value = 0.1f, .count = 1), 3,
                               INPUTS(STAT(2, stats), STATE(1, mean), STATE(1, variance)), NULL, after);
  EXPECT(y, 0);
  EXPECT(after[0], 0.1);
  EXPECT(after[1], 0.9); /* not NaN */
  g_free(after[0]);
  g_free(after[1]);
}

static void test_relu_keeps_nan(void) {
  const float x[] = {-1, 0, 2, NAN}, dy[] = {5, 6, 7, 8};
  g_autofree float *y = run(TM_OP_RELU, NULL, 1, INPUTS(ACT(1, 4, 1, 1, x)));
  EXPECT(y, 0, 0, 2);
  g_assert_true(isnan(y[3])); /* a step that went wrong must be seen at the loss */
  const float out[] = {0, 0, 2, 3};
  g_autofree float *dx = run(TM_OP_RELU_DX, NULL, 2, INPUTS(ACT(1, 4, 1, 1, dy), ACT(1, 4, 1, 1, out)));
  EXPECT(dx, 0, 0, 7, 8);
}

static void test_sigmoid_far_out(void) {
  const float x[] = {0, 1000, -1000};
  g_autofree float *y = run(TM_OP_SIGMOID, NULL, 1, INPUTS(ACT(1, 3, 1, 1, x)));
  EXPECT(y, 0.5, 1, 0);
}

static float *dropout(float share, guint64 key, float tick, const float *x, gsize n) {
  return run(TM_OP_DROPOUT, WITH(.value = share, .key = key), 2,
             INPUTS(ACT(1, (int)n, 1, 1, x), {TM_SHAPE(1, 1, 1, 1), TM_KIND_COUNT, &tick}));
}

static void test_dropout(void) {
  enum { COUNT = 20000 };
  g_autofree float *x = g_new(float, COUNT);
  for (int i = 0; i < COUNT; i++) x[i] = 1;
  g_autofree float *y = dropout(0.3f, 5, 17, x, COUNT), *again = dropout(0.3f, 5, 17, x, COUNT);
  g_autofree float *next = dropout(0.3f, 5, 18, x, COUNT), *other = dropout(0.3f, 6, 17, x, COUNT);
  g_assert_cmpmem(y, COUNT * sizeof(float), again, COUNT * sizeof(float));
  int kept = 0, with_next = 0, with_other = 0;
  for (int i = 0; i < COUNT; i++) {
    const double u = (double)(tm_random_hash(5, 17, (guint64)i) >> 40) * 0x1p-24;
    const double right = u >= (double)0.3f ? 1 / (1 - (double)0.3f) : 0;
    g_assert_cmpfloat_with_epsilon((double)y[i], right, 1e-6);
    kept += y[i] != 0;
    with_next += y[i] != 0 && next[i] != 0;
    with_other += y[i] != 0 && other[i] != 0;
  }
  g_assert_cmpfloat(fabs(kept / (double)COUNT - 0.7), <, 0.015);
  g_assert_cmpfloat(fabs(with_next / (double)COUNT - 0.49), <, 0.02); /* steps and layers are independent */
  g_assert_cmpfloat(fabs(with_other / (double)COUNT - 0.49), <, 0.02);
}

static void test_dropout_late_in_training(void) {
  const float x[64] = {[0 ... 63] = 1};
  g_autofree float *a = dropout(0.5f, 1, 16777216, x, 64), *b = dropout(0.5f, 1, 16777218, x, 64);
  g_assert_true(memcmp(a, b, sizeof x) != 0);
}

static void test_normalize(void) {
  const float x[] = {0, 100, 255}, mean[] = {100, 100, 100}, deviation[] = {50, 20, 31};
  g_autofree float *y =
      run(TM_OP_NORMALIZE, NULL, 3,
          INPUTS({TM_SHAPE(1, 3, 1, 1), TM_KIND_PIXEL, x}, STATE(3, mean), STATE(3, deviation)));
  EXPECT(y, -2, 0, 5);
}

static void test_max_pool_ties(void) {
  const float x[] = {7, 7, 1, 7, 7, 2, 3, 3, 3}, dy[] = {5};
  g_autofree float *y = run(TM_OP_MAX_POOL, WITH(.factor = 2), 1, INPUTS(ACT(1, 1, 3, 3, x)));
  EXPECT(y, 7);
  g_autofree float *dx = run(TM_OP_MAX_POOL_DX, WITH(.factor = 2), 3,
                             INPUTS(ACT(1, 1, 1, 1, dy), ACT(1, 1, 3, 3, x), ACT(1, 1, 1, 1, y)));
  EXPECT(dx, 5, 0, 0, 0, 0, 0, 0, 0, 0); /* the first; the cut row and column get nothing */
}

static void test_max_pool_negative(void) {
  const float x[] = {-4, -3, -2, -9};
  g_autofree float *y = run(TM_OP_MAX_POOL, WITH(.factor = 2), 1, INPUTS(ACT(1, 1, 2, 2, x)));
  EXPECT(y, -2);
}

static void test_bilinear_as_pytorch(void) {
  const float x[] = {1, 2, 4, 8, 16, 32};
  g_autofree float *two = run(TM_OP_UPSAMPLE_BILINEAR, WITH(.factor = 2), 1, INPUTS(ACT(1, 1, 2, 3, x)));
  EXPECT(two, 1, 1.25, 1.75, 2.5, 3.5, 4, 2.75, 3.4375, 4.8125, 6.875, 9.625, 11, 6.25, 7.8125, 10.9375,
         15.625, 21.875, 25, 8, 10, 14, 20, 28, 32);
  g_autofree float *three = run(TM_OP_UPSAMPLE_BILINEAR, WITH(.factor = 3), 1, INPUTS(ACT(1, 1, 2, 3, x)));
  EXPECT(three, 1, 1, 4 / 3.0, 5 / 3.0, 2, 8 / 3.0, 10 / 3.0, 4, 4);
  EXPECT(three + 18, 10 / 3.0, 10 / 3.0, 40 / 9.0, 50 / 9.0, 20 / 3.0, 80 / 9.0, 100 / 9.0, 40 / 3.0,
         40 / 3.0);
}

static void test_nearest(void) {
  const float x[] = {1, 2}, dy[] = {1, 2, 3, 4, 5, 6, 7, 8};
  g_autofree float *y = run(TM_OP_UPSAMPLE_NEAREST, WITH(.factor = 2), 1, INPUTS(ACT(1, 1, 1, 2, x)));
  EXPECT(y, 1, 1, 2, 2, 1, 1, 2, 2);
  g_autofree float *dx = run(TM_OP_UPSAMPLE_NEAREST_DX, WITH(.factor = 2), 1, INPUTS(ACT(1, 1, 2, 4, dy)));
  EXPECT(dx, 14, 22);
}

static void test_concat_and_slice(void) {
  const float a[] = {1, 2}, b[] = {10, 11, 20, 21};
  g_autofree float *y = run(TM_OP_CONCAT, NULL, 2, INPUTS(ACT(1, 1, 1, 2, a), ACT(1, 2, 1, 2, b)));
  EXPECT(y, 1, 10, 11, 2, 20, 21);
  g_autofree float *part = run(TM_OP_SLICE, WITH(.from = 1, .count = 2), 1, INPUTS(ACT(1, 3, 1, 2, y)));
  EXPECT(part, 10, 11, 20, 21);
  g_autofree float *back = run(TM_OP_SLICE_DX, WITH(.from = 1, .count = 4), 1, INPUTS(ACT(1, 2, 1, 2, b)));
  EXPECT(back, 0, 10, 11, 0, 0, 20, 21, 0);
}

static void test_pad_reflect(void) {
  const float x[] = {1, 2, 3};
  const TmAttrs *a = WITH(.left = 2, .right = 2, .pad_mode = TM_PAD_REFLECT);
  g_autofree float *y = run(TM_OP_PAD, a, 1, INPUTS(ACT(1, 1, 1, 3, x)));
  EXPECT(y, 3, 2, 1, 2, 3, 2, 1);
  const TmAttrs *far = WITH(.left = 4, .right = 3, .top = 1, .pad_mode = TM_PAD_REFLECT);
  g_autofree float *z = run(TM_OP_PAD, far, 1, INPUTS(ACT(1, 1, 1, 2, x)));
  EXPECT(z, 2, 2, 2, 2, 1, 2, 1, 1, 1, 2, 2, 2, 2, 1, 2, 1, 1, 1); /* clamped where the mirror ends */
  const float dy[] = {1, 2, 3, 4, 5, 6, 7};
  g_autofree float *dx = run(TM_OP_PAD_DX, a, 1, INPUTS(ACT(1, 1, 1, 7, dy)));
  EXPECT(dx, 3 + 7, 2 + 4 + 6, 1 + 5);
}

static void test_pad_zero_and_crop(void) {
  const float x[] = {1, 2};
  const TmAttrs *a = WITH(.top = 1, .left = 1);
  g_autofree float *y = run(TM_OP_PAD, a, 1, INPUTS(ACT(1, 1, 1, 2, x)));
  EXPECT(y, 0, 0, 0, 0, 1, 2);
  g_autofree float *z = run(TM_OP_CROP, a, 1, INPUTS(ACT(1, 1, 2, 3, y)));
  EXPECT(z, 1, 2);
}

static void test_softmax_of_large_numbers(void) {
  const float x[] = {1000, 1001, -1000};
  g_autofree float *p = run(TM_OP_SOFTMAX, NULL, 1, INPUTS(ACT(1, 3, 1, 1, x)));
  EXPECT(p, 1 / (1 + M_E), M_E / (1 + M_E), 0);
}

/* Three pixels of three classes; the last one is void. */
static const float logits3[] = {2, 1, 0, -1, 3, 0, 0.5f, 0.5f, -2}, labels3[] = {0, 2, 255},
                   weights3[] = {1, 2, 0.5f};

static void test_cross_entropy_as_pytorch(void) {
  const float loss = 1;
  g_autofree float *y = run(TM_OP_CROSS_ENTROPY, NULL, 3,
                            INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels3), STATE(3, weights3)));
  EXPECT(y, 1.2936986108820634);
  g_autofree float *dx =
      run(TM_OP_CROSS_ENTROPY_DX, NULL, 4,
          INPUTS(STAT(1, &loss), ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels3), STATE(3, weights3)));
  EXPECT(dx, -0.2231726961501188, 0.16315231403653174, 0.060020382113586956, 0.005715941848506796,
         0.3120798506255019, -0.3177957924740087, 0, 0, 0);
}

static void test_cross_entropy_of_large_numbers(void) {
  const float z[] = {1e4f, -1e4f}, right[] = {0}, wrong[] = {1}, weights[] = {1, 1};
  g_autofree float *sure =
      run(TM_OP_CROSS_ENTROPY, NULL, 3, INPUTS(ACT(1, 2, 1, 1, z), LABEL(1, 1, 1, right), STATE(2, weights)));
  g_autofree float *lost =
      run(TM_OP_CROSS_ENTROPY, NULL, 3, INPUTS(ACT(1, 2, 1, 1, z), LABEL(1, 1, 1, wrong), STATE(2, weights)));
  EXPECT(sure, 0);
  EXPECT(lost, 2e4);
}

/* A label of C, of C+1 and of 255 are all void: no kernel may look a class up with it. */
static void test_labels_out_of_range(void) {
  const float labels[] = {3, 4, 254}, loss = 1;
  g_autofree float *y = run(TM_OP_CROSS_ENTROPY, NULL, 3,
                            INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels), STATE(3, weights3)));
  EXPECT(y, 0);
  g_autofree float *dice = run(TM_OP_DICE, NULL, 2, INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels)));
  EXPECT(dice, 0);
  g_autofree float *dx =
      run(TM_OP_DICE_DX, NULL, 3, INPUTS(STAT(1, &loss), ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels)));
  EXPECT(dx, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  g_autofree float *counts =
      run(TM_OP_CONFUSION, NULL, 2, INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels)));
  EXPECT(counts, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void test_weights_of_zero(void) {
  const float weights[] = {0, 0, 0}, loss = 1;
  g_autofree float *y = run(TM_OP_CROSS_ENTROPY, NULL, 3,
                            INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels3), STATE(3, weights)));
  g_autofree float *dx =
      run(TM_OP_CROSS_ENTROPY_DX, NULL, 4,
          INPUTS(STAT(1, &loss), ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels3), STATE(3, weights)));
  EXPECT(y, 0);
  EXPECT(dx, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void test_dice(void) {
  /* Certain answers: class 0 right on 1 of 2 pixels, class 1 found on its one pixel and on one more; class 2
   * absent. */
  const float z[] = {99, 0, 0, 0, 99, 0, 0, 99, 0}, labels[] = {0, 0, 1};
  g_autofree float *y = run(TM_OP_DICE, NULL, 2, INPUTS(ACT(1, 3, 1, 3, z), LABEL(1, 1, 3, labels)));
  EXPECT(y, 1 - (2 / 3.0 + 2 / 3.0) / 2);
}

static void test_focal(void) {
  const float z[] = {logf(9), 0}, labels[] = {0}, weights[] = {1, 1}; /* the true class has 0.9 */
  g_autofree float *y = run(TM_OP_FOCAL, WITH(.value = 2), 3,
                            INPUTS(ACT(1, 2, 1, 1, z), LABEL(1, 1, 1, labels), STATE(2, weights)));
  EXPECT(y, -0.01 * log(0.9));
  g_autofree float *plain =
      run(TM_OP_FOCAL, WITH(.value = 0), 3,
          INPUTS(ACT(1, 3, 1, 3, logits3), LABEL(1, 1, 3, labels3), STATE(3, weights3)));
  EXPECT(plain, 1.2936986108820634);
}

static void test_focal_when_certain(void) {
  const float z[] = {1000, 0}, labels[] = {0}, weights[] = {1, 1}, loss = 1;
  for (int i = 0; i < 3; i++) { /* below gamma 1 the slope of (1-p)^gamma is infinite at p = 1 */
    const float gamma = (float)(i + 1) / 2;
    g_autofree float *dx =
        run(TM_OP_FOCAL_DX, WITH(.value = gamma), 4,
            INPUTS(STAT(1, &loss), ACT(1, 2, 1, 1, z), LABEL(1, 1, 1, labels), STATE(2, weights)));
    EXPECT(dx, 0, 0);
  }
}

static void test_argmax(void) {
  const float z[] = {1, 3, 3, NAN, 1, 0, NAN, NAN, NAN};
  TmShape s;
  g_autofree float *y = op_run(TM_OP_ARGMAX, NULL, 1, INPUTS(ACT(1, 3, 1, 3, z)), &s, NULL);
  g_assert_true(tm_shape_equal(s, TM_SHAPE(1, 1, 1, 3)));
  EXPECT(y, 1, 1, 0);
}

static void test_confusion(void) {
  const float z[] = {9, 0, 0, 9, 0, 9}, labels[] = {0, 0, 255}; /* called 0, 1, 1 */
  g_autofree float *y = run(TM_OP_CONFUSION, NULL, 2, INPUTS(ACT(1, 2, 1, 3, z), LABEL(1, 1, 3, labels)));
  EXPECT(y, 1, 1, 0, 0); /* rows are the truth */
}

/* Stored in half precision a result may differ from the f32 one by its own rounding and by nothing else. */
static void test_half(gconstpointer data) {
  const TmOpCase *c = data;
  static const struct {
    TmDType type;
    double relative, least;
  } half[] = {{TM_BF16, 0x1p-8, 1e-30}, {TM_F16, 0x1p-11, 0x1p-24}};
  for (guint h = 0; h < G_N_ELEMENTS(half); h++) {
    g_autoptr(OpBench) b = op_bench_new("ref", c), b2 = op_bench_new("ref", c);
    g_autofree float *right = op_bench_run(b, TM_F32, half[h].type, 3),
                     *got = op_bench_run(b2, half[h].type, half[h].type, 3);
    const double relative = b->out->kind == TM_KIND_ACT ? half[h].relative : 0;
    for (gsize i = 0; i < tm_shape_count(b->out->shape); i++)
      if (!(fabs((double)got[i] - (double)right[i]) <=
            relative * fabs((double)right[i]) + (relative > 0 ? half[h].least : 0)))
        g_test_fail_printf("%s: element %" G_GSIZE_FORMAT " is %g, not %g", tm_dtype_name(half[h].type), i,
                           (double)got[i], (double)right[i]);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/values/conv", test_conv);
  g_test_add_func("/values/conv/order-of-weights", test_conv_order_of_weights);
  g_test_add_func("/values/conv_transpose", test_conv_transpose);
  g_test_add_func("/values/bn", test_bn);
  g_test_add_func("/values/bn/far-from-zero", test_bn_far_from_zero);
  g_test_add_func("/values/bn_running", test_bn_running);
  g_test_add_func("/values/bn_running/one-value", test_bn_running_of_one_value);
  g_test_add_func("/values/relu/nan", test_relu_keeps_nan);
  g_test_add_func("/values/sigmoid/far-out", test_sigmoid_far_out);
  g_test_add_func("/values/dropout", test_dropout);
  g_test_add_func("/values/dropout/late", test_dropout_late_in_training);
  g_test_add_func("/values/normalize", test_normalize);
  g_test_add_func("/values/max_pool/ties", test_max_pool_ties);
  g_test_add_func("/values/max_pool/negative", test_max_pool_negative);
  g_test_add_func("/values/upsample_bilinear", test_bilinear_as_pytorch);
  g_test_add_func("/values/upsample_nearest", test_nearest);
  g_test_add_func("/values/concat-and-slice", test_concat_and_slice);
  g_test_add_func("/values/pad/reflect", test_pad_reflect);
  g_test_add_func("/values/pad/zero-and-crop", test_pad_zero_and_crop);
  g_test_add_func("/values/softmax/large", test_softmax_of_large_numbers);
  g_test_add_func("/values/cross_entropy", test_cross_entropy_as_pytorch);
  g_test_add_func("/values/cross_entropy/large", test_cross_entropy_of_large_numbers);
  g_test_add_func("/values/labels-out-of-range", test_labels_out_of_range);
  g_test_add_func("/values/weights-of-zero", test_weights_of_zero);
  g_test_add_func("/values/dice", test_dice);
  g_test_add_func("/values/focal", test_focal);
  g_test_add_func("/values/focal/certain", test_focal_when_certain);
  g_test_add_func("/values/argmax", test_argmax);
  g_test_add_func("/values/confusion", test_confusion);
  guint n;
  const TmOpCase *cases = tm_op_cases(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf("/half/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_half);
  }
  return g_test_run();
}
