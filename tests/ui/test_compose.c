#include <glib.h>
#include <string.h>

#include "ui/compose.h"

enum { W = 7, H = 5 };
static guint8 rgb[W * H * 3], labels[W * H], truth[W * H];
static const guint32 colours[3] = {0xff0000, 0x00ff00, 0x0000ff};

static void fill(void) {
  for (int i = 0; i < W * H; i++) {
    rgb[i * 3] = (guint8)(i * 3);
    rgb[i * 3 + 1] = (guint8)(200 - i);
    rgb[i * 3 + 2] = 77;
    labels[i] = (guint8)(i % 3);
    truth[i] = (guint8)(i % 3);
  }
}

static TmComposition base(TmShow show) {
  fill();
  return (TmComposition){.show = show,
                         .w = W,
                         .h = H,
                         .rgb = rgb,
                         .labels = labels,
                         .truth = truth,
                         .colours = colours,
                         .n_classes = 3,
                         .opacity = 0.55};
}

static const guint8 *at(const guint8 *out, int x, int y) {
  return out + (y * W + x) * 4;
}

static void test_input(void) {
  TmComposition c = base(TM_SHOW_INPUT);
  guint8 out[W * H * 4];
  tm_compose(&c, out, W, H, W * 4);
  for (int i = 0; i < W * H; i++) {
    g_assert_cmpmem(out + i * 4, 3, rgb + i * 3, 3);
    g_assert_cmpuint(out[i * 4 + 3], ==, 255);
  }
}

static void test_opacity(void) {
  TmComposition c = base(TM_SHOW_MASK);
  guint8 out[W * H * 4];
  c.opacity = 0;
  tm_compose(&c, out, W, H, W * 4);
  for (int i = 0; i < W * H; i++) g_assert_cmpmem(out + i * 4, 3, rgb + i * 3, 3);
  c.opacity = 1;
  tm_compose(&c, out, W, H, W * 4);
  for (int i = 0; i < W * H; i++) {
    guint32 v = colours[labels[i]];
    g_assert_cmpuint((guint32)out[i * 4] << 16 | (guint32)out[i * 4 + 1] << 8 | out[i * 4 + 2], ==, v);
  }
}

static void test_hidden(void) {
  TmComposition c = base(TM_SHOW_MASK);
  const gboolean hidden[4] = {FALSE, TRUE, FALSE, FALSE};
  guint8 out[W * H * 4];
  c.opacity = 1;
  c.hidden = hidden;
  tm_compose(&c, out, W, H, W * 4);
  for (int i = 0; i < W * H; i++) {
    if (labels[i] == 1)
      g_assert_cmpmem(out + i * 4, 3, rgb + i * 3, 3);
    else
      g_assert_cmpint(memcmp(out + i * 4, rgb + i * 3, 3), !=, 0);
  }
}

/* A label at or above the number of classes is void, hatched, and never read as a colour. */
static void test_void(void) {
  TmComposition c = base(TM_SHOW_MASK);
  guint8 out[W * H * 4];
  memset(labels, 255, sizeof labels);
  labels[3] = 3;
  c.opacity = 1;
  tm_compose(&c, out, W, H, W * 4);
  gboolean light = FALSE, dark = FALSE;
  for (int i = 0; i < W * H; i++) {
    g_assert_true(out[i * 4] == 0x3a || out[i * 4] == 0x28);
    light |= out[i * 4] == 0x3a;
    dark |= out[i * 4] == 0x28;
  }
  g_assert_true(light && dark);
}

static void test_errors(void) {
  TmComposition c = base(TM_SHOW_ERRORS);
  guint8 out[W * H * 4];
  labels[8] = 2;   /* truth is class 8 % 3 = 2: right */
  labels[9] = 1;   /* truth is 0: wrong */
  truth[10] = 255; /* void is not judged */
  labels[10] = 0;
  tm_compose(&c, out, W, H, W * 4);
  for (int i = 0; i < W * H; i++) {
    gboolean orange = out[i * 4] > out[i * 4 + 2] + 100;
    g_assert_cmpint(orange, ==, i == 9);
    if (!orange) g_assert_cmpuint(out[i * 4], ==, out[i * 4 + 1]); /* the rest is grey */
  }
  c.truth = NULL; /* without truth nothing is wrong */
  tm_compose(&c, out, W, H, W * 4);
  g_assert_cmpuint(at(out, 2, 1)[0], ==, at(out, 2, 1)[1]);
}

/* Pictures wider than a texture may be are drawn smaller, and rows keep their stride. */
static void test_sizes(void) {
  int w, h;
  tm_compose_size(20000, 16, 2048, &w, &h);
  g_assert_cmpint(w, ==, 2048);
  g_assert_cmpint(h, ==, 1);
  tm_compose_size(640, 480, 2048, &w, &h);
  g_assert_cmpint(w, ==, 640);
  g_assert_cmpint(h, ==, 480);
  tm_compose_size(1, 100000, 2048, &w, &h);
  g_assert_cmpint(w, ==, 1);
  g_assert_cmpint(h, ==, 2048);
  TmComposition c = base(TM_SHOW_INPUT);
  enum { OW = 3, OH = 2, STRIDE = 20 };
  guint8 out[OH * STRIDE];
  memset(out, 0xcd, sizeof out);
  tm_compose(&c, out, OW, OH, STRIDE);
  g_assert_cmpmem(out + 4, 3, rgb + (1 * W / OW) * 3 + 0, 3);
  for (int y = 0; y < OH; y++)
    for (int x = OW * 4; x < STRIDE; x++)
      g_assert_cmpuint(out[y * STRIDE + x], ==, 0xcd); /* nothing beyond the row */
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/compose/input", test_input);
  g_test_add_func("/ui/compose/opacity", test_opacity);
  g_test_add_func("/ui/compose/hidden", test_hidden);
  g_test_add_func("/ui/compose/void", test_void);
  g_test_add_func("/ui/compose/errors", test_errors);
  g_test_add_func("/ui/compose/sizes", test_sizes);
  return g_test_run();
}
