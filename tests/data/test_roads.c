/* test_roads.c: the demo roads are the same everywhere, their masks are valid and fit, and every class turns
 * up. */
#include <string.h>

#include "engine/data/roads.h"

enum { CLASSES = 11, VOID = 255 };

typedef struct {
  int w, h;
  guint8 *rgb, *labels;
} Scene;

static Scene draw(guint64 seed, guint index, int w, int h) {
  const Scene s = {w, h, g_malloc((gsize)w * (gsize)h * 3), g_malloc((gsize)w * (gsize)h)};
  memset(s.labels, 0xee, (gsize)w * (gsize)h);
  tm_roads_draw(seed, index, w, h, s.rgb, s.labels);
  return s;
}

static void scene_clear(Scene *s) {
  g_free(s->rgb);
  g_free(s->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static char *digest(const Scene *s) {
  GChecksum *c = g_checksum_new(G_CHECKSUM_SHA1);
  g_checksum_update(c, s->rgb, (gssize)s->w * s->h * 3);
  g_checksum_update(c, s->labels, (gssize)s->w * s->h);
  char *text = g_strndup(g_checksum_get_string(c), 16);
  g_checksum_free(c);
  return text;
}

/* Written down once; every compiler and machine must give them. */
static void test_golden(void) {
  static const struct {
    guint64 seed;
    guint index;
    int w, h;
    const char *digest;
  } golden[] = {
      {0u, 0u, 240, 180, "7f1684bdef1be851"},
      {1u, 3u, 240, 180, "7383c50d6c5168d3"},
      {1u, 17u, 101, 67, "059e3a48b9f595cc"},
      {42u, 1000u, 320, 240, "e484a8a63591e771"},
      {18446744073709551615u, 4294967295u, 64, 48, "2528a7e4e48e431a"},
      {7u, 5u, 480, 360, "04a6469277fed65e"},
      {3u, 12u, 160, 120, "5a5e113eb9e8016b"},
      {3u, 13u, 160, 120, "8eff19aad126ea5b"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(golden); i++) {
    g_auto(Scene) s = draw(golden[i].seed, golden[i].index, golden[i].w, golden[i].h);
    g_autofree char *d = digest(&s);
    g_assert_cmpstr(d, ==, golden[i].digest);
  }
}

/* Over sets of 20 pictures: labels are classes or void, most sets show every class, rare ones are rare, and
 * the picture has light in it. */
static void test_classes(void) {
  enum { SETS = 6, PER_SET = 20, W = 240, H = 180 };
  guint64 pixels[CLASSES] = {0};
  int sets[CLASSES] = {0};
  for (guint set = 0; set < SETS; set++) {
    gboolean seen[CLASSES] = {0};
    for (guint k = 0; k < PER_SET; k++) {
      g_auto(Scene) s = draw(5, set * PER_SET + k, W, H);
      int count[256] = {0};
      guint64 light = 0;
      for (int i = 0; i < W * H; i++) count[s.labels[i]]++;
      for (int i = 0; i < W * H * 3; i++) light += s.rgb[i];
      for (int c = 0; c < 256; c++) g_assert_true(c < CLASSES || c == VOID || count[c] == 0);
      for (int c = 0; c < CLASSES; c++) {
        pixels[c] += (guint64)count[c];
        seen[c] |= count[c] > 20;
      }
      g_assert_cmpint(count[VOID], <, W * H / 4);
      g_assert_cmpint(light / (W * H * 3), >, 25);
      g_assert_cmpint(light / (W * H * 3), <, 215);
    }
    for (int c = 0; c < CLASSES; c++) sets[c] += seen[c];
  }
  const double all = (double)SETS * PER_SET * W * H;
  for (int c = 0; c < CLASSES; c++) {
    g_test_message("class %2d: %.2f %% of the pixels, in %d of %d sets", c, 100 * (double)pixels[c] / all,
                   sets[c], SETS);
    g_assert_cmpint(sets[c], >=, SETS - 1);
    g_assert_cmpfloat((double)pixels[c] / all, >, 0.002);
  }
  static const int rare[] = {2, 6, 7, 9, 10}, common[] = {0, 1, 3, 5};
  for (gsize i = 0; i < G_N_ELEMENTS(rare); i++) g_assert_cmpfloat((double)pixels[rare[i]] / all, <, 0.03);
  for (gsize i = 0; i < G_N_ELEMENTS(common); i++)
    g_assert_cmpfloat((double)pixels[common[i]] / all, >, 0.08);
}

static int step_at(const Scene *s, int i, int j) {
  int d = 0;
  for (int c = 0; c < 3; c++) d += ABS(s->rgb[i * 3 + c] - s->rgb[j * 3 + c]);
  return d;
}

/* The mask fits the picture: colours change far more across a border of labels than beside it, and a shifted
 * mask fits worse. */
static void test_mask_fits(void) {
  double border = 0, inner = 0, shifted = 0, n_border = 0, n_inner = 0, n_shifted = 0;
  for (guint k = 0; k < 20; k++) {
    g_auto(Scene) s = draw(9, k, 240, 180);
    for (int y = 0; y < 180; y++)
      for (int x = 0; x + 5 < 240; x++) {
        const int i = y * 240 + x, d = step_at(&s, i, i + 1);
        if (s.labels[i] != s.labels[i + 1])
          border += d, n_border++;
        else
          inner += d, n_inner++;
        if (s.labels[i + 3] != s.labels[i + 4]) shifted += d, n_shifted++;
      }
  }
  g_test_message("step across borders %.1f, elsewhere %.1f, with the mask 3 pixels off %.1f",
                 border / n_border, inner / n_inner, shifted / n_shifted);
  g_assert_cmpfloat(border / n_border, >, 2.5 * inner / n_inner);
  g_assert_cmpfloat(border / n_border, >, 1.4 * shifted / n_shifted);
}

/* Road below, sky above: over many scenes. */
static void test_layout(void) {
  int road_low = 0, sky_high = 0, sky_low = 0, n = 0;
  for (guint k = 0; k < 30; k++) {
    g_auto(Scene) s = draw(2, k, 120, 90);
    for (int y = 0; y < 90; y++)
      for (int x = 0; x < 120; x++) {
        const int label = s.labels[y * 120 + x];
        road_low += label == 3 && y > 60;
        sky_high += label == 0 && y < 20;
        sky_low += label == 0 && y > 60;
        n += y > 60;
      }
  }
  g_assert_cmpint(road_low, >, n * 2 / 5);
  g_assert_cmpint(sky_high, >, 30 * 20 * 120 / 5);
  g_assert_cmpint(sky_low, ==, 0);
}

static gpointer draw_some(gpointer data) {
  char **digests = data;
  for (guint k = 0; k < 8; k++) {
    g_auto(Scene) s = draw(77, k, 96, 72);
    digests[k] = digest(&s);
  }
  return NULL;
}

static void test_threads(void) {
  enum { THREADS = 4 };
  char *digests[THREADS][8];
  GThread *threads[THREADS];
  for (int t = 0; t < THREADS; t++) threads[t] = g_thread_new(NULL, draw_some, digests[t]);
  for (int t = 0; t < THREADS; t++) g_thread_join(threads[t]);
  for (int k = 0; k < 8; k++) {
    for (int t = 1; t < THREADS; t++) g_assert_cmpstr(digests[t][k], ==, digests[0][k]);
    if (k > 0) g_assert_cmpstr(digests[0][k], !=, digests[0][k - 1]);
  }
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < 8; k++) g_free(digests[t][k]);
}

/* Any size from 16 up, and not a byte beyond it. */
static void test_sizes(void) {
  static const int sizes[][2] = {{16, 16}, {17, 33}, {300, 16}, {16, 300}, {641, 79}, {480, 360}};
  for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint k = 0; k < 4; k++) {
      const gsize n = (gsize)sizes[i][0] * (gsize)sizes[i][1];
      g_autofree guint8 *rgb = g_malloc(n * 3 + 64), *labels = g_malloc(n + 64);
      memset(rgb, 0xa5, n * 3 + 64);
      memset(labels, 0xa5, n + 64);
      tm_roads_draw(1, k, sizes[i][0], sizes[i][1], rgb + 32, labels + 32);
      for (gsize b = 0; b < 32; b++) {
        g_assert_cmpint(rgb[b], ==, 0xa5);
        g_assert_cmpint(rgb[n * 3 + 32 + b], ==, 0xa5);
        g_assert_cmpint(labels[b], ==, 0xa5);
        g_assert_cmpint(labels[n + 32 + b], ==, 0xa5);
      }
      for (gsize b = 0; b < n; b++) g_assert_true(labels[32 + b] < CLASSES || labels[32 + b] == VOID);
    }
}

static void test_seeds(void) {
  g_auto(Scene) a = draw(1, 0, 64, 48), b = draw(2, 0, 64, 48), c = draw(1, 1, 64, 48);
  g_assert_cmpint(memcmp(a.rgb, b.rgb, 64 * 48 * 3), !=, 0);
  g_assert_cmpint(memcmp(a.rgb, c.rgb, 64 * 48 * 3), !=, 0);
  g_assert_cmpint(memcmp(a.labels, b.labels, 64 * 48), !=, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/roads/golden", test_golden);
  g_test_add_func("/roads/classes", test_classes);
  g_test_add_func("/roads/mask-fits", test_mask_fits);
  g_test_add_func("/roads/layout", test_layout);
  g_test_add_func("/roads/threads", test_threads);
  g_test_add_func("/roads/sizes", test_sizes);
  g_test_add_func("/roads/seeds", test_seeds);
  return g_test_run();
}
