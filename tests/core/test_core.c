#include <math.h>
#include <string.h>

#include "engine/core/random.h"
#include "engine/core/tensor.h"

static void test_bf16_every_value(void) {
  for (guint32 i = 0; i < 65536; i++) {
    const float f = tm_bf16_to_f32((guint16)i);
    const guint16 back = tm_f32_to_bf16(f);
    if (isnan(f)) g_assert_true(isnan(tm_bf16_to_f32(back)));
    else g_assert_cmpuint(back, ==, i);
  }
}

static void test_bf16_rounds_to_even(void) {
  const float one = 1, ulp = 0x1p-7f;
  g_assert_cmpuint(tm_f32_to_bf16(one + ulp / 2), ==, 0x3f80);           /* tie: down to even */
  g_assert_cmpuint(tm_f32_to_bf16(one + ulp + ulp / 2), ==, 0x3f82);     /* tie: up to even */
  g_assert_cmpuint(tm_f32_to_bf16(one + ulp / 2 + 0x1p-20f), ==, 0x3f81);
  g_assert_cmpuint(tm_f32_to_bf16(3.4e38f), ==, 0x7f80);                  /* past the largest: infinity */
}

static void test_f16_every_value(void) {
  g_autofree guint16 *in = g_new(guint16, 65536), *out = g_new(guint16, 65536);
  g_autofree float *f = g_new(float, 65536);
  for (guint i = 0; i < 65536; i++) in[i] = (guint16)i;
  tm_convert(f, TM_F32, in, TM_F16, 65536);
  tm_convert(out, TM_F16, f, TM_F32, 65536);
  for (guint i = 0; i < 65536; i++) {
    if (isnan(f[i])) g_assert_cmpuint(out[i] & 0x7c00, ==, 0x7c00);
    else g_assert_cmpuint(out[i], ==, i);
  }
  g_assert_cmpfloat(f[0x3c00], ==, 1.0f);
  g_assert_cmpfloat(f[0x0001], ==, 0x1p-24f);
  g_assert_cmpfloat(f[0x7bff], ==, 65504.0f);
}

static void test_f16_rounding(void) {
  const float in[] = {65519.0f, 65520.0f, 1e-9f, 0x1.004p0f, 0x1.002p0f, -0x1.006p0f, 0x1p-25f, 0x1.8p-24f};
  const guint16 want[] = {0x7bff, 0x7c00, 0, 0x3c01, 0x3c00, 0xbc02, 0, 0x0002};
  guint16 out[G_N_ELEMENTS(in)];
  tm_convert(out, TM_F16, in, TM_F32, G_N_ELEMENTS(in));
  for (guint i = 0; i < G_N_ELEMENTS(in); i++) g_assert_cmpuint(out[i], ==, want[i]);
}

static void test_convert_to_integers(void) {
  const float in[] = {-3, 0.4f, 0.6f, 254.6f, 300, NAN, INFINITY, 1e20f};
  guint8 u[G_N_ELEMENTS(in)];
  gint32 s[G_N_ELEMENTS(in)];
  tm_convert(u, TM_U8, in, TM_F32, G_N_ELEMENTS(in));
  tm_convert(s, TM_I32, in, TM_F32, G_N_ELEMENTS(in));
  const guint8 want[] = {0, 0, 1, 255, 255, 0, 255, 255};
  for (guint i = 0; i < G_N_ELEMENTS(in); i++) g_assert_cmpuint(u[i], ==, want[i]);
  g_assert_cmpint(s[0], ==, -3);
  g_assert_cmpint(s[5], ==, 0);
  g_assert_cmpint(s[7], ==, G_MAXINT32);
}

static void test_layouts(void) {
  const TmShape s = TM_SHAPE(2, 3, 4, 5);
  float nhwc[120], nchw[120], back[120];
  for (int n = 0; n < 2; n++)
    for (int c = 0; c < 3; c++)
      for (int h = 0; h < 4; h++)
        for (int w = 0; w < 5; w++) nhwc[((n * 4 + h) * 5 + w) * 3 + c] = (float)(((n * 3 + c) * 4 + h) * 5 + w);
  tm_nchw_from_nhwc(nchw, nhwc, s, sizeof(float));
  for (int i = 0; i < 120; i++) g_assert_cmpfloat(nchw[i], ==, (float)i);
  tm_nhwc_from_nchw(back, nchw, s, sizeof(float));
  g_assert_cmpmem(back, sizeof back, nhwc, sizeof nhwc);
}

static void test_tensor_refuses(void) {
  const TmShape bad[] = {TM_SHAPE(0, 1, 1, 1), TM_SHAPE(1, -4, 1, 1), TM_SHAPE(G_MAXINT, G_MAXINT, G_MAXINT, 2)};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tm_tensor_new(TM_F32, bad[i], &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_SHAPE);
  }
}

static void test_tensor_is_aligned_and_zero(void) {
  const int sizes[] = {1, 17, 1 << 20, (3 << 20) + 1};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autoptr(TmTensor) t = tm_tensor_new(TM_F32, TM_SHAPE(1, sizes[i], 1, 1), NULL);
    g_assert_nonnull(t);
    g_assert_cmpuint(GPOINTER_TO_SIZE(t->data) % 64, ==, 0);
    g_assert_cmpfloat(((float *)t->data)[sizes[i] - 1], ==, 0);
  }
}

static void test_random_repeats(void) {
  TmRandom a, b;
  tm_random_seed(&a, 7);
  tm_random_seed(&b, 7);
  for (int i = 0; i < 1000; i++) g_assert_cmpuint(tm_random_next(&a), ==, tm_random_next(&b));
  TmRandom saved = a;
  const guint64 next = tm_random_next(&a);
  g_assert_cmpuint(tm_random_next(&saved), ==, next); /* the four words are the whole state */
}

static void test_random_distributions(void) {
  TmRandom r;
  tm_random_seed(&r, 1);
  enum { N = 100000 };
  double sum = 0, squares = 0, normal = 0, normal2 = 0;
  guint bins[10] = {0};
  for (int i = 0; i < N; i++) {
    const double u = tm_random_float(&r), z = tm_random_normal(&r);
    g_assert_true(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
    normal += z;
    normal2 += z * z;
    bins[tm_random_int(&r, 10)]++;
  }
  g_assert_cmpfloat_with_epsilon(sum / N, 0.5, 0.005);
  g_assert_cmpfloat_with_epsilon(squares / N, 1.0 / 3, 0.005);
  g_assert_cmpfloat_with_epsilon(normal / N, 0, 0.015);
  g_assert_cmpfloat_with_epsilon(normal2 / N, 1, 0.02);
  for (int i = 0; i < 10; i++) g_assert_true(bins[i] > N / 10 - 500 && bins[i] < N / 10 + 500);
}

static void test_shuffle_is_a_permutation(void) {
  TmRandom r;
  tm_random_seed(&r, 3);
  guint items[257], seen[257] = {0}, moved = 0;
  for (guint i = 0; i < 257; i++) items[i] = i;
  tm_random_shuffle(&r, items, 257);
  for (guint i = 0; i < 257; i++) {
    seen[items[i]]++;
    moved += items[i] != i;
  }
  for (guint i = 0; i < 257; i++) g_assert_cmpuint(seen[i], ==, 1);
  g_assert_cmpuint(moved, >, 200);
}

static void test_hash_spreads(void) {
  guint bits[64] = {0};
  for (guint64 i = 0; i < 4096; i++) {
    const guint64 h = tm_random_hash(1, 2, i);
    for (int b = 0; b < 64; b++) bits[b] += (guint)((h >> b) & 1);
  }
  for (int b = 0; b < 64; b++) g_assert_true(bits[b] > 1800 && bits[b] < 2300);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/core/bf16/every-value", test_bf16_every_value);
  g_test_add_func("/core/bf16/rounds-to-even", test_bf16_rounds_to_even);
  g_test_add_func("/core/f16/every-value", test_f16_every_value);
  g_test_add_func("/core/f16/rounding", test_f16_rounding);
  g_test_add_func("/core/convert/integers", test_convert_to_integers);
  g_test_add_func("/core/tensor/layouts", test_layouts);
  g_test_add_func("/core/tensor/refuses", test_tensor_refuses);
  g_test_add_func("/core/tensor/aligned-and-zero", test_tensor_is_aligned_and_zero);
  g_test_add_func("/core/random/repeats", test_random_repeats);
  g_test_add_func("/core/random/distributions", test_random_distributions);
  g_test_add_func("/core/random/shuffle", test_shuffle_is_a_permutation);
  g_test_add_func("/core/random/hash", test_hash_spreads);
  return g_test_run();
}
