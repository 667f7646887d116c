/* test_augment.c: pictures and masks must move together, exactly where exactness is promised. */
#include <math.h>
#include <string.h>

#include "engine/core/error.h"
#include "engine/data/augment.h"

enum { VOID = 255 };

/* Pixel (x, y) says where it is: red x, green y, blue their sum. */
static void coordinates(TmSample *s, int w, int h) {
  *s = (TmSample){
      .w = w, .h = h, .rgb = g_malloc((gsize)w * (gsize)h * 3), .labels = g_malloc((gsize)w * (gsize)h)};
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int i = y * w + x;
      s->rgb[i * 3] = (guint8)x;
      s->rgb[i * 3 + 1] = (guint8)y;
      s->rgb[i * 3 + 2] = (guint8)(x + y);
      s->labels[i] = (guint8)((x / 5 + y / 3) % 11);
    }
}

static void apply(const TmAugment *a, guint64 seed, const TmSample *in, TmSample *out) {
  g_autoptr(GError) error = NULL;
  TmRandom r;
  tm_random_seed(&r, seed);
  g_assert_true(tm_augment_apply(a, &r, in, out, &error));
  g_assert_no_error(error);
}

static TmAugment none(void) {
  TmAugment a;
  memset(&a, 0x55, sizeof a);
  tm_augment_none(&a);
  return a;
}

static void test_identity(void) {
  g_auto(TmSample) in = {0}, out = {0};
  coordinates(&in, 97, 53);
  const TmAugment a = none();
  apply(&a, 1, &in, &out);
  g_assert_cmpint(out.w, ==, 97);
  g_assert_cmpint(out.h, ==, 53);
  g_assert_cmpmem(out.rgb, 97 * 53 * 3, in.rgb, 97 * 53 * 3);
  g_assert_cmpmem(out.labels, 97 * 53, in.labels, 97 * 53);
}

static void test_flip(void) {
  g_auto(TmSample) in = {0}, out = {0};
  coordinates(&in, 31, 17);
  TmAugment a = none();
  a.flip = 1;
  apply(&a, 1, &in, &out);
  for (int y = 0; y < 17; y++)
    for (int x = 0; x < 31; x++) {
      g_assert_cmpint(out.rgb[(y * 31 + x) * 3], ==, 30 - x);
      g_assert_cmpint(out.rgb[(y * 31 + x) * 3 + 1], ==, y);
      g_assert_cmpint(out.labels[y * 31 + x], ==, in.labels[y * 31 + 30 - x]);
    }
}

/* A crop at scale 1 is a window, mirrored or not; over many seeds it reaches both ends. */
static void test_crop(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 60, 40);
  TmAugment a = none();
  a.crop_w = 23;
  a.crop_h = 19;
  a.flip = 0.5f;
  gboolean left = FALSE, right = FALSE, top = FALSE, bottom = FALSE, mirrored = FALSE, straight = FALSE;
  for (guint64 seed = 0; seed < 600; seed++) {
    g_auto(TmSample) out = {0};
    apply(&a, seed, &in, &out);
    const int first = out.rgb[0], step = out.rgb[3] - first, x0 = step > 0 ? first : first - 22,
              y0 = out.rgb[1];
    g_assert_cmpint(ABS(step), ==, 1);
    for (int y = 0; y < 19; y++)
      for (int x = 0; x < 23; x++) {
        const int sx = step > 0 ? x0 + x : x0 + 22 - x, i = y * 23 + x;
        g_assert_cmpint(out.rgb[i * 3], ==, sx);
        g_assert_cmpint(out.rgb[i * 3 + 1], ==, y0 + y);
        g_assert_cmpint(out.labels[i], ==, in.labels[(y0 + y) * 60 + sx]);
      }
    left |= x0 == 0;
    right |= x0 == 60 - 23;
    top |= y0 == 0;
    bottom |= y0 == 40 - 19;
    mirrored |= step < 0;
    straight |= step > 0;
  }
  g_assert_true(left && right && top && bottom && mirrored && straight);
}

typedef struct {
  double x, y, n;
} Middle;

static void weigh(Middle *m, double weight, int x, int y) {
  m->x += weight * x;
  m->y += weight * y;
  m->n += weight;
}

/* A bright square, which is the only label 1: wherever it goes, picture and mask must agree about its middle.
 */
static void check_alignment(const TmSample *in, const TmAugment *a, guint64 seed, int *seen) {
  g_auto(TmSample) out = {0};
  Middle label = {0}, light = {0};
  gboolean cut = FALSE;
  apply(a, seed, in, &out);
  for (int y = 0; y < out.h; y++)
    for (int x = 0; x < out.w; x++) {
      const int i = y * out.w + x;
      weigh(&label, out.labels[i] == 1, x, y);
      weigh(&light, out.labels[i] == VOID ? 0 : out.rgb[i * 3], x,
            y); /* the padding's mean colour is not black */
      cut |= out.labels[i] == 1 && (x < 2 || y < 2 || x > out.w - 3 || y > out.h - 3);
    }
  if (cut || label.n == 0) return;
  (*seen)++;
  g_assert_cmpfloat_with_epsilon(label.x / label.n, light.x / light.n, 0.55);
  g_assert_cmpfloat_with_epsilon(label.y / label.n, light.y / light.n, 0.55);
  g_assert_cmpfloat_with_epsilon(sqrt(label.n / 400), a->scale_min, 0.1 * a->scale_min);
}

static void test_alignment(void) {
  enum { W = 240, H = 180 };
  g_auto(TmSample) in = {.w = W, .h = H, .rgb = g_malloc0(W * H * 3), .labels = g_malloc0(W * H)};
  for (int y = 80; y < 100; y++)
    for (int x = 111; x < 131; x++) {
      in.labels[y * W + x] = 1;
      memset(in.rgb + (y * W + x) * 3, 250, 3);
    }
  /* Crops larger than the picture hold all of it; smaller ones let it shrink. */
  static const struct {
    float scale, rotate, flip;
    int crop;
  } cases[] = {{1, 0, 0, 300},     {0.75f, 0, 0, 100}, {1.5f, 0, 1, 400},  {0.41f, 0, 1, 60},
               {2.37f, 0, 0, 600}, {1, 10, 0, 300},    {1.3f, 30, 1, 400}, {0.6f, 17, 1, 90}};
  for (gsize c = 0; c < G_N_ELEMENTS(cases); c++) {
    int seen = 0;
    TmAugment a = none();
    a.scale_min = a.scale_max = cases[c].scale;
    a.rotate = cases[c].rotate;
    a.flip = cases[c].flip;
    a.crop_w = a.crop_h = cases[c].crop;
    for (guint64 seed = 0; seed < 30; seed++) check_alignment(&in, &a, seed, &seen);
    g_assert_cmpint(seen, >, 8);
  }
}

/* A picture smaller than the crop is padded: void in the mask, the mean colour in the picture, nothing lost.
 */
static void test_small(gconstpointer data) {
  const int *size = data;
  g_auto(TmSample) in = {0};
  coordinates(&in, size[0], size[1]);
  guint64 sum[3] = {0};
  const int n = in.w * in.h;
  for (int i = 0; i < n * 3; i++) sum[i % 3] += in.rgb[i];
  TmAugment a = none();
  a.crop_w = a.crop_h = 256;
  for (guint64 seed = 0; seed < 20; seed++) {
    g_auto(TmSample) out = {0};
    apply(&a, seed, &in, &out);
    int inside = 0;
    for (int i = 0; i < 256 * 256; i++) {
      if (out.labels[i] != VOID) {
        inside++;
        continue;
      }
      for (int c = 0; c < 3; c++)
        g_assert_cmpint(out.rgb[i * 3 + c], ==, (sum[c] + (guint64)n / 2) / (guint64)n);
    }
    g_assert_cmpint(inside, ==, MIN(in.w, 256) * MIN(in.h, 256));
  }
}

/* Zooming out stops at the crop: a picture that is large enough is never padded. */
static void test_never_below_crop(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 200, 90);
  TmAugment a = none();
  a.scale_min = 0.2f;
  a.scale_max = 0.6f;
  a.crop_w = a.crop_h = 64;
  for (guint64 seed = 0; seed < 50; seed++) {
    g_auto(TmSample) out = {0};
    apply(&a, seed, &in, &out);
    for (int i = 0; i < 64 * 64; i++) g_assert_cmpint(out.labels[i], !=, VOID);
  }
}

/* Whatever happens, labels out are labels in, or void; a flat colour stays flat; nothing is read or written
 * outside. */
static void test_anything(void) {
  TmRandom r;
  tm_random_seed(&r, 7);
  for (int round = 0; round < 1500; round++) {
    const int w = 1 + (int)tm_random_int(&r, 70), h = 1 + (int)tm_random_int(&r, 70);
    g_auto(TmSample)
        in = {.w = w, .h = h, .rgb = g_malloc((gsize)(w * h * 3)), .labels = g_malloc((gsize)(w * h))};
    memset(in.rgb, 93, (gsize)(w * h * 3));
    for (int i = 0; i < w * h; i++) in.labels[i] = (guint8[]){0, 2, 6, 7, 10}[tm_random_int(&r, 5)];
    TmAugment a = none();
    a.scale_min = tm_random_range(&r, 0.05f, 2);
    a.scale_max = a.scale_min + tm_random_range(&r, 0, 3);
    a.flip = 0.5f;
    a.rotate = tm_random_int(&r, 2) ? tm_random_range(&r, 0, 180) : 0;
    a.crop_w = (int)tm_random_int(&r, 90);
    a.crop_h = (int)tm_random_int(&r, 90);
    g_auto(TmSample) out = {0};
    apply(&a, (guint64)round, &in, &out);
    g_assert_cmpint(out.w, ==, a.crop_w ? a.crop_w : w);
    g_assert_cmpint(out.h, ==, a.crop_h ? a.crop_h : h);
    for (int i = 0; i < out.w * out.h; i++) {
      g_assert_true(strchr("\1\3\7\10\13", out.labels[i] + 1) || out.labels[i] == VOID);
      g_assert_cmpint(out.rgb[i * 3], ==, 93);
      g_assert_cmpint(out.rgb[i * 3 + 2], ==, 93);
    }
  }
}

/* Shrinking takes the mean: a fine chequered cloth becomes grey, not one of its colours. */
static void test_area(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 64, 64);
  for (int i = 0; i < 64 * 64; i++) memset(in.rgb + i * 3, (i % 64 + i / 64) & 1 ? 255 : 0, 3);
  TmAugment a = none();
  a.scale_min = a.scale_max = 0.25f;
  a.crop_w = a.crop_h = 16;
  g_auto(TmSample) out = {0};
  apply(&a, 3, &in, &out);
  for (int i = 0; i < 16 * 16 * 3; i++) g_assert_cmpint(ABS(out.rgb[i] - 128), <=, 1);
}

static void test_colour(void) {
  g_auto(TmSample) in = {.w = 256, .h = 1, .rgb = g_malloc(256 * 3)};
  for (int i = 0; i < 256; i++) memset(in.rgb + i * 3, i, 3);
  TmAugment a = none();
  a.hue = 180;
  a.saturation = 1;
  g_auto(TmSample) grey = {0}, bright = {0};
  apply(&a, 5, &in, &grey);
  for (int i = 0; i < 256 * 3; i++)
    g_assert_cmpint(ABS(grey.rgb[i] - i / 3), <=, 1); /* grey has neither hue nor saturation */
  g_assert_null(grey.labels);
  /* Gain, then offset, as the recipe; cut off at both ends. */
  tm_augment_none(&a);
  a.brightness = 0.5f;
  a.offset = 100;
  apply(&a, 6, &in, &bright);
  TmRandom r;
  tm_random_seed(&r, 6);
  float draws[10];
  for (int i = 0; i < 10; i++) draws[i] = tm_random_float(&r);
  const float gain = 1 + (draws[5] - 0.5f), offset = 200 * (draws[6] - 0.5f);
  for (int i = 0; i < 256; i++)
    g_assert_cmpfloat(fabsf((float)bright.rgb[i * 3] - CLAMP((float)i * gain + offset, 0.0f, 255.0f)), <=, 1);
}

/* Turning one setting off must not change what the others draw. */
static void test_draws(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 40, 40);
  TmAugment plain = none(), full = none();
  full = (TmAugment){.scale_min = 0.5f,
                     .scale_max = 2,
                     .flip = 0.5f,
                     .rotate = 9,
                     .brightness = 0.3f,
                     .offset = 9,
                     .contrast = 0.2f,
                     .saturation = 0.2f,
                     .hue = 9,
                     .crop_w = 30,
                     .crop_h = 20};
  TmRandom a, b;
  tm_random_seed(&a, 11);
  tm_random_seed(&b, 11);
  g_auto(TmSample) one = {0}, two = {0};
  g_assert_true(tm_augment_apply(&plain, &a, &in, &one, NULL));
  g_assert_true(tm_augment_apply(&full, &b, &in, &two, NULL));
  g_assert_cmpmem(&a, sizeof a, &b, sizeof b);
}

static void test_refused(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 8, 8);
  TmAugment bad[6];
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) bad[i] = none();
  bad[0].scale_min = 0;
  bad[1].scale_max = 0.5f;
  bad[2].rotate = NAN;
  bad[3].crop_w = -1;
  bad[4].crop_h = 1 << 20;
  bad[5].brightness = INFINITY;
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    TmRandom r;
    TmSample out = {0};
    tm_random_seed(&r, 1);
    g_assert_false(tm_augment_apply(bad + i, &r, &in, &out, &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
    g_assert_null(out.rgb);
  }
}

static void test_speed(void) {
  g_auto(TmSample) in = {0};
  coordinates(&in, 480, 360);
  TmAugment a = none();
  a.scale_min = 0.75f;
  a.scale_max = 1.5f;
  a.flip = 0.5f;
  a.brightness = 0.2f;
  a.offset = 20;
  a.crop_w = a.crop_h = 320;
  double best = 1e9;
  for (guint64 k = 0; k < 40; k++) {
    g_auto(TmSample) out = {0};
    const gint64 t0 = g_get_monotonic_time();
    apply(&a, k, &in, &out);
    best = MIN(best, 1e-3 * (double)(g_get_monotonic_time() - t0));
  }
  g_test_message("crop 320 of 480x360: %.2f ms at best", best);
  g_assert_cmpfloat(
      best, <,
      60); /* 20 times what it takes: a loaded machine or a sanitizer passes, a slow algorithm does not */
}

int main(int argc, char **argv) {
  static const int one[2] = {1, 1}, tall[2] = {40, 300};
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/augment/identity", test_identity);
  g_test_add_func("/augment/flip", test_flip);
  g_test_add_func("/augment/crop", test_crop);
  g_test_add_func("/augment/alignment", test_alignment);
  g_test_add_data_func("/augment/one-pixel", one, test_small);
  g_test_add_data_func("/augment/tall", tall, test_small);
  g_test_add_func("/augment/never-below-crop", test_never_below_crop);
  g_test_add_func("/augment/anything", test_anything);
  g_test_add_func("/augment/area", test_area);
  g_test_add_func("/augment/colour", test_colour);
  g_test_add_func("/augment/draws", test_draws);
  g_test_add_func("/augment/refused", test_refused);
  g_test_add_func("/augment/speed", test_speed);
  return g_test_run();
}
