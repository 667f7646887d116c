#include <gtk/gtk.h>
#include <string.h>

#include "engine/core/error.h"
#include "ui/frame.h"
#include "ui/viz.h"

enum { W = 37, H = 23 };

/* A rung that fails where it is told to: stands for CUDA interop on a display that does not offer it. */
static struct {
  gboolean probe, open, map, unmap, busy;
  int opened, closed, mapped;
} fail;

static gboolean refuse(gboolean yes, const char *what, GError **error) {
  if (yes) g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, "%s was refused", what);
  return !yes;
}

static gboolean fake_probe(GdkDisplay *d, GError **error) {
  (void)d;
  return refuse(fail.probe, "probing", error);
}

static gpointer fake_open(int w, int h, GError **error) {
  if (!refuse(fail.open, "registration", error)) return NULL;
  gpointer s = tm_viz_memory_ops.open(w, h, error);
  fail.opened += s != NULL;
  return s;
}

static gboolean fake_map(gpointer s, TmVizMap *out, GError **error) {
  if (fail.busy) return FALSE;
  fail.mapped++;
  return refuse(fail.map, "mapping", error) && tm_viz_memory_ops.map(s, out, error);
}

static GdkTexture *fake_unmap(gpointer s, GError **error) {
  return refuse(fail.unmap, "unmapping", error) ? tm_viz_memory_ops.unmap(s, error) : NULL;
}

static void fake_close(gpointer s) {
  fail.closed++;
  tm_viz_memory_ops.close(s);
}

static const TmVizOps fake = {
    .probe = fake_probe, .open = fake_open, .map = fake_map, .unmap = fake_unmap, .close = fake_close};

static void draw(const TmVizMap *map, int w, int h, gpointer user) {
  guint8 tint = (guint8)GPOINTER_TO_INT(user);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      guint8 *p = (guint8 *)map->pixels + (gsize)y * map->stride + x * 4;
      p[0] = (guint8)(x * 5);
      p[1] = (guint8)(y * 9);
      p[2] = tint;
      p[3] = 255;
    }
}

/* What arrives is what was drawn, row 0 on top, whatever rung carried it. */
static void assert_shows(TmVizSink *s, int tint) {
  GdkTexture *t = tm_frame_get_texture(TM_FRAME(tm_viz_sink_paintable(s)));
  g_assert_nonnull(t);
  g_assert_cmpint(gdk_texture_get_width(t), ==, W);
  g_assert_cmpint(gdk_texture_get_height(t), ==, H);
  guint32 pixels[W * H]; /* native-endian ARGB */
  gdk_texture_download(t, (guchar *)pixels, W * 4);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      guint32 want =
          0xff000000u | (guint32)(guint8)(x * 5) << 16 | (guint32)(guint8)(y * 9) << 8 | (guint32)tint;
      g_assert_cmphex(pixels[y * W + x], ==, want);
    }
}

static void reset(const char *force) {
  if (force)
    g_setenv("TARMAC_VIZ", force, TRUE);
  else
    g_unsetenv("TARMAC_VIZ");
  memset(&fail, 0, sizeof fail);
  tm_viz_register(TM_VIZ_INTEROP, NULL);
  tm_viz_register(TM_VIZ_PINNED, NULL);
  tm_viz_reset();
}

static void test_memory(void) {
  reset("D");
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_MEMORY);
  g_autoptr(TmVizSink) s = tm_viz_sink_new(W, H);
  GdkPaintable *p = tm_viz_sink_paintable(s);
  for (int i = 0; i < 5; i++) {
    g_assert_true(tm_viz_sink_draw(s, draw, GINT_TO_POINTER(i)));
    assert_shows(s, i);
    g_assert_true(tm_viz_sink_paintable(s) == p); /* keeps its identity */
  }
}

static void test_gl(void) {
  reset("C");
  if (tm_viz_rung() != TM_VIZ_GL) {
    g_autofree char *why = tm_viz_describe();
    g_test_skip(why);
    return;
  }
  TmVizSink *s = tm_viz_sink_new(W, H);
  for (int i = 0; i < 12; i++) { /* more frames than textures in the ring */
    g_assert_true(tm_viz_sink_draw(s, draw, GINT_TO_POINTER(i)));
    assert_shows(s, i);
  }
  /* A texture that someone still holds outlives the sink. */
  g_autoptr(GdkTexture) kept = g_object_ref(tm_frame_get_texture(TM_FRAME(tm_viz_sink_paintable(s))));
  tm_viz_sink_free(s);
  guint32 pixels[W * H];
  gdk_texture_download(kept, (guchar *)pixels, W * 4);
  g_assert_cmphex(pixels[0] & 0xff, ==, 11);
}

/* With all textures on the screen a frame is left out, not drawn over one of them. */
static void test_ring_is_full(void) {
  reset("C");
  if (tm_viz_rung() != TM_VIZ_GL) {
    g_test_skip("no OpenGL here");
    return;
  }
  g_autoptr(TmVizSink) s = tm_viz_sink_new(W, H);
  GdkTexture *held[3];
  for (int i = 0; i < 3; i++) {
    g_assert_true(tm_viz_sink_draw(s, draw, GINT_TO_POINTER(i)));
    held[i] = g_object_ref(tm_frame_get_texture(TM_FRAME(tm_viz_sink_paintable(s))));
  }
  g_assert_false(tm_viz_sink_draw(s, draw, GINT_TO_POINTER(9)));
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_GL); /* busy is no failure */
  assert_shows(s, 2);
  g_object_unref(held[0]);
  g_assert_true(tm_viz_sink_draw(s, draw, GINT_TO_POINTER(9)));
  assert_shows(s, 9);
  g_object_unref(held[1]);
  g_object_unref(held[2]);
}

static void test_large_is_refused_by_gl(void) {
  reset("C");
  if (tm_viz_rung() != TM_VIZ_GL) {
    g_test_skip("no OpenGL here");
    return;
  }
  g_autoptr(GError) error = NULL;
  gpointer s = tm_viz_gl_ops.open(1 << 24, 16, &error);
  g_assert_null(s);
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  s = tm_viz_memory_ops.open(1 << 24, 1 << 10, NULL);
  g_assert_null(s);
}

/* The fakes lend host memory. */
static gboolean never(const TmVizMap *map, int w, int h, gpointer user, GError **error) {
  (void)map, (void)w, (void)h, (void)user, (void)error;
  g_assert_not_reached();
}

/* Whichever call fails, the same frame arrives by a rung below, the reason is kept, and the rung is not tried
 * again. */
static void test_failures(void) {
  gboolean *const where[] = {&fail.probe, &fail.open, &fail.map, &fail.unmap};
  const char *const words[] = {"probing", "registration", "mapping", "unmapping"};
  for (guint i = 0; i < G_N_ELEMENTS(where); i++) {
    reset(NULL);
    tm_viz_register(TM_VIZ_INTEROP, &fake);
    *where[i] = TRUE;
    g_autoptr(TmVizSink) s = tm_viz_sink_new(W, H);
    g_assert_true(tm_viz_sink_draw_device(s, never, draw, GINT_TO_POINTER(7)));
    assert_shows(s, 7);
    g_assert_cmpint(tm_viz_rung(), >, TM_VIZ_INTEROP);
    g_autofree char *text = tm_viz_describe();
    g_assert_nonnull(strstr(text, words[i]));
    *where[i] = FALSE;
    g_assert_true(tm_viz_sink_draw_device(s, never, draw, GINT_TO_POINTER(8)));
    assert_shows(s, 8);
    g_assert_cmpint(tm_viz_rung(), >, TM_VIZ_INTEROP);
    g_assert_cmpint(fail.opened, ==, fail.closed);
  }
}

static void test_highest_works(void) {
  reset(NULL);
  tm_viz_register(TM_VIZ_INTEROP, &fake);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_INTEROP);
  TmVizSink *s = tm_viz_sink_new(W, H);
  g_assert_true(tm_viz_sink_draw_device(s, never, draw, GINT_TO_POINTER(3)));
  assert_shows(s, 3);
  fail.busy = TRUE;
  g_assert_false(tm_viz_sink_draw_device(s, never, draw, GINT_TO_POINTER(4)));
  assert_shows(s, 3);
  tm_viz_sink_free(s);
  g_assert_cmpint(fail.closed, ==, 1);
}

static void test_forced(void) {
  reset("D");
  tm_viz_register(TM_VIZ_INTEROP, &fake);
  tm_viz_register(TM_VIZ_PINNED, &fake);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_MEMORY);
  reset("b");
  tm_viz_register(TM_VIZ_INTEROP, &fake);
  tm_viz_register(TM_VIZ_PINNED, &fake);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_PINNED);
  g_autofree char *text = tm_viz_describe();
  g_assert_true(g_str_has_prefix(text, "B, "));
  g_assert_nonnull(strstr(text, "TARMAC_VIZ=b"));
  reset("nonsense"); /* not a rung: as if it were not set */
  tm_viz_register(TM_VIZ_INTEROP, &fake);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_INTEROP);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  g_test_add_func("/ui/viz/memory", test_memory);
  g_test_add_func("/ui/viz/gl", test_gl);
  g_test_add_func("/ui/viz/ring-is-full", test_ring_is_full);
  g_test_add_func("/ui/viz/large-is-refused-by-gl", test_large_is_refused_by_gl);
  g_test_add_func("/ui/viz/failures", test_failures);
  g_test_add_func("/ui/viz/highest-works", test_highest_works);
  g_test_add_func("/ui/viz/forced", test_forced);
  return g_test_run();
}
