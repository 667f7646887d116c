/* test_viz_cuda.c: rungs A and B through GTK's textures, with a device that is host memory: which buffers it
 * is given, in which context and order, what reaches the screen, and which rung follows when it fails. */
#include <epoxy/gl.h>
#include <gtk/gtk.h>
#include <string.h>

#include "engine/core/error.h"
#include "ui/compose.h"
#include "ui/frame.h"
#include "ui/viz_cuda.h"

enum { W = 31, H = 18 };

struct _TmCanvas {
  guint buffer;
  gsize bytes;
  guint8 *pixels;
  gboolean begun;
  GdkGLContext *context;
};

typedef struct {
  TmVisible base;
  guint8 rgb[W * H * 3], labels[W * H];
  guint64 number;
} Fake;

/* Where it fails, and what was seen. */
static struct {
  gboolean no_interop, no_pinned, begin, draw, finish, gone;
  int interop, pinned, open, misuse;
} seen;

static gboolean refuse(gboolean yes, const char *what, GError **error) {
  if (yes) g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, "%s was refused", what);
  return !yes;
}

static TmCanvas *canvas(TmVisible *v, guint buffer, gsize bytes, GError **error) {
  (void)v;
  if (!refuse(buffer ? seen.no_interop : seen.no_pinned, buffer ? "interop" : "pinned", error)) return NULL;
  GLint size = 0;
  if (buffer) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glGetBufferParameteriv(GL_PIXEL_UNPACK_BUFFER, GL_BUFFER_SIZE, &size);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    seen.misuse += size != (GLint)bytes;
  }
  TmCanvas *c = g_new0(TmCanvas, 1);
  *c = (TmCanvas){
      .buffer = buffer, .bytes = bytes, .pixels = g_malloc(bytes), .context = gdk_gl_context_get_current()};
  seen.misuse += c->context == NULL;
  seen.open++;
  *(buffer ? &seen.interop : &seen.pinned) += 1;
  return c;
}

static gboolean begin(TmCanvas *c, GError **error) {
  seen.misuse += c->begun || gdk_gl_context_get_current() != c->context;
  c->begun = refuse(seen.begin, "begin", error);
  return c->begun;
}

static gboolean draw(TmCanvas *c, TmVisible *v, guint64 picture, const TmCompose *how, GError **error) {
  Fake *f = (Fake *)v;
  if (!refuse(seen.draw, "draw", error) || seen.gone || picture != f->number) return FALSE;
  seen.misuse += !c->begun;
  TmCompose plain = *how;
  plain.rgb = f->rgb;
  plain.labels = how->labels ? f->labels : NULL;
  for (int y = 0; y < how->out_h; y++)
    for (int x = 0; x < how->out_w; x++) {
      const guint32 p = GUINT32_TO_LE(tm_compose_pixel(&plain, x, y));
      memcpy(c->pixels + ((gsize)y * (gsize)how->out_w + (gsize)x) * 4, &p, 4);
    }
  return TRUE;
}

static gboolean finish(TmCanvas *c, const void **pixels, GError **error) {
  seen.misuse += !c->begun || gdk_gl_context_get_current() != c->context;
  c->begun = FALSE;
  *pixels = c->buffer ? NULL : c->pixels;
  if (c->buffer) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, c->buffer);
    glBufferSubData(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)c->bytes, c->pixels);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  }
  return refuse(seen.finish, "finish", error);
}

static void canvas_free(TmCanvas *c) {
  seen.open--;
  if (c->buffer) seen.misuse += gdk_gl_context_get_current() != c->context || !glIsBuffer(c->buffer);
  g_free(c->pixels);
  g_free(c);
}

static void fake_free(TmVisible *v) {
  g_free(v);
}

static const TmVisibleApi api = {.free = fake_free,
                                 .canvas = canvas,
                                 .begin = begin,
                                 .draw = draw,
                                 .finish = finish,
                                 .canvas_free = canvas_free};

static Fake *fake_new(void) {
  Fake *f = g_new0(Fake, 1);
  f->base.api = &api;
  g_atomic_ref_count_init(&f->base.refs);
  f->number = 7;
  for (int i = 0; i < W * H * 3; i++) f->rgb[i] = (guint8)(i * 7);
  for (int i = 0; i < W * H; i++) f->labels[i] = (guint8)(i % W / 8);
  return f;
}

/* ---- a view ---- */

typedef struct {
  Fake *fake;
  guint64 picture;
  int on_device, on_host;
} View;

static TmComposition composition(const View *v) {
  static const guint32 colours[] = {0xff0000, 0x00ff00, 0x0000ff};
  return (TmComposition){.show = TM_SHOW_MASK,
                         .w = W,
                         .h = H,
                         .rgb = v->fake->rgb,
                         .labels = v->fake->labels,
                         .colours = colours,
                         .n_classes = 3,
                         .opacity = 0.5};
}

static gboolean on_device(const TmVizMap *map, int w, int h, gpointer user, GError **error) {
  View *v = user;
  const TmComposition c = composition(v);
  const TmCompose plain = tm_composition_plain(&c, w, h);
  v->on_device++;
  return tm_viz_cuda_draw(map, &v->fake->base, v->picture, &plain, error);
}

static void on_host(const TmVizMap *map, int w, int h, gpointer user) {
  View *v = user;
  const TmComposition c = composition(v);
  v->on_host++;
  tm_compose(&c, map->pixels, w, h, map->stride);
}

static void assert_shows(TmVizSink *s, const View *v) {
  GdkTexture *t = tm_frame_get_texture(TM_FRAME(tm_viz_sink_paintable(s)));
  guint8 want[W * H * 4];
  guint32 got[W * H]; /* native-endian ARGB */
  const TmComposition c = composition(v);
  g_assert_nonnull(t);
  tm_compose(&c, want, W, H, W * 4);
  gdk_texture_download(t, (guchar *)got, W * 4);
  for (int i = 0; i < W * H; i++)
    g_assert_cmphex(got[i], ==,
                    0xff000000u | (guint32)want[4 * i] << 16 | (guint32)want[4 * i + 1] << 8 |
                        want[4 * i + 2]);
}

/* FALSE: there is no OpenGL here, and the test is skipped. */
static gboolean begin_test(View *v) {
  memset(&seen, 0, sizeof seen);
  g_setenv("TARMAC_VIZ", "A", TRUE); /* also where the processor draws OpenGL */
  *v = (View){.fake = fake_new(), .picture = 7};
  tm_viz_cuda_offer(&v->fake->base);
  tm_viz_reset();
  g_autoptr(GError) error = NULL;
  if (tm_viz_gl_ops.probe(gdk_display_get_default(), &error)) return TRUE;
  tm_visible_unref(&v->fake->base);
  g_test_skip(error->message);
  return FALSE;
}

static void end_test(View *v) {
  tm_visible_unref(&v->fake->base);
  g_assert_cmpint(seen.open, ==, 0);
  g_assert_cmpint(seen.misuse, ==, 0);
}

static void test_interop(void) {
  View v;
  if (!begin_test(&v)) return;
  TmVizSink *s = tm_viz_sink_new(W, H);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_INTEROP);
  for (int i = 0; i < 9; i++) {
    g_assert_true(tm_viz_sink_draw_device(s, on_device, on_host, &v));
    assert_shows(s, &v);
  }
  g_assert_cmpint(v.on_device, ==, 9);
  g_assert_cmpint(v.on_host, ==, 0);
  g_assert_cmpint(seen.interop, ==, 1); /* registered once */
  g_autofree char *text = tm_viz_describe();
  g_assert_true(g_str_has_prefix(text, "A, "));
  tm_viz_sink_free(s);
  end_test(&v);
}

/* The next rung carries the same frame, says why, and goes on without another try of the failed one. */
static void test_steps_down(void) {
  gboolean *const where[] = {&seen.no_interop, &seen.begin, &seen.draw, &seen.finish};
  for (guint i = 0; i < G_N_ELEMENTS(where); i++) {
    View v;
    if (!begin_test(&v)) return;
    TmVizSink *s = tm_viz_sink_new(W, H);
    *where[i] = TRUE;
    g_assert_true(tm_viz_sink_draw_device(s, on_device, on_host, &v));
    assert_shows(s, &v);
    g_autofree char *text = tm_viz_describe();
    g_assert_nonnull(strstr(text, "was refused"));
    g_assert_cmpint(tm_viz_rung(), ==,
                    i == 0 ? TM_VIZ_PINNED : TM_VIZ_GL); /* what fails in both ends on the processor */
    g_assert_cmpint(seen.pinned, ==, 1);
    *where[i] = FALSE;
    g_assert_true(tm_viz_sink_draw_device(s, on_device, on_host, &v));
    assert_shows(s, &v);
    g_assert_cmpint(v.on_host, ==, i == 0 ? 0 : 2);
    tm_viz_sink_free(s);
    end_test(&v);
  }
}

/* A picture that was overwritten on the device is drawn from the host's copy, and the rung stays. */
static void test_gone(void) {
  View v;
  if (!begin_test(&v)) return;
  TmVizSink *s = tm_viz_sink_new(W, H);
  v.picture = 6;
  g_assert_true(tm_viz_sink_draw_device(s, on_device, on_host, &v));
  assert_shows(s, &v);
  g_assert_cmpint(v.on_host, ==, 1);
  g_assert_cmpint(tm_viz_rung(), ==, TM_VIZ_INTEROP);
  v.picture = 7;
  g_assert_true(tm_viz_sink_draw_device(s, on_device, on_host, &v));
  assert_shows(s, &v);
  g_assert_cmpint(v.on_host, ==, 1);
  tm_viz_sink_free(s);
  end_test(&v);
}

/* A picture that is only in the host's memory never goes to the device. */
static void test_host(void) {
  View v;
  if (!begin_test(&v)) return;
  TmVizSink *s = tm_viz_sink_new(W, H);
  g_assert_true(tm_viz_sink_draw(s, on_host, &v));
  assert_shows(s, &v);
  g_assert_cmpint(seen.interop + seen.pinned, ==, 0);
  tm_viz_sink_free(s);
  end_test(&v);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  g_test_add_func("/ui/viz-cuda/interop", test_interop);
  g_test_add_func("/ui/viz-cuda/steps-down", test_steps_down);
  g_test_add_func("/ui/viz-cuda/gone", test_gone);
  g_test_add_func("/ui/viz-cuda/host", test_host);
  return g_test_run();
}
