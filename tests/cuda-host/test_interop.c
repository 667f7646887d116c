/* test_interop.c: a picture's way from the GPU's memory to an OpenGL texture, on a surfaceless context: what
 * arrives is what the processor would have drawn, bit for bit, by shared buffer and by pinned copy; the calls
 * come in the order and the context that the real ones need; and whichever call fails, an error comes of it,
 * nothing leaks, and the next try works. */
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <string.h>
#include <tm_host.h>

#include "engine/backend/cuda/cuda.h"
#include "engine/core/random.h"
#include "engine/backend/cuda/gl.h"
#include "tests/cuda-host/gl.h"
#include "tests/cuda-host/host_bench.h"
#include "ui/gl_ring.h"

enum { W = 37, H = 23, N = W * H, OUT_W = 40, OUT_H = 20, CLASSES = 5 };

/* FALSE: there is no EGL that draws without a surface. */
static gboolean open_context(void) {
  EGLDisplay d = EGL_NO_DISPLAY;
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    d = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  static const EGLint want[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
  if (d == EGL_NO_DISPLAY || !eglInitialize(d, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return FALSE;
  const EGLContext c = eglCreateContext(d, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, want);
  return c != EGL_NO_CONTEXT && eglMakeCurrent(d, EGL_NO_SURFACE, EGL_NO_SURFACE, c);
}

/* ---- pictures ---- */

typedef struct {
  guint8 rgb[3 * N], labels[N], truth[N];
} Picture;

static void picture_init(Picture *p, guint64 seed) {
  TmRandom r;
  tm_random_seed(&r, seed);
  for (int i = 0; i < 3 * N; i++) p->rgb[i] = (guint8)tm_random_int(&r, 256);
  for (int i = 0; i < N; i++) {
    p->labels[i] = (guint8)((i % W / 6 + i / W / 5 + (int)seed) % (CLASSES + 1));
    p->truth[i] = i % 7 == 0 ? 255 : (guint8)tm_random_int(&r, CLASSES);
  }
}

static TmCompose how_to(TmShow show, gboolean labels, gboolean truth) {
  static const guint8 there[1];
  TmCompose c = {.show = show,
                 .w = W,
                 .h = H,
                 .out_w = OUT_W,
                 .out_h = OUT_H,
                 .rgb = there,
                 .n_classes = CLASSES,
                 .alpha = 140};
  c.labels = labels ? there : NULL;
  c.truth = truth ? there : NULL;
  for (int i = 0; i < CLASSES; i++) c.colours[i] = (guint32)(i + 1) * 0x231f47u & 0xffffffu;
  c.colours[2] |= 0xff000000u;
  return c;
}

/* A picture in the memory of the trainer's device, as a program's values are. */
typedef struct {
  TmBackend *b;
  TmView rgb, labels;
} Source;

static void source_init(Source *s) {
  s->b = host_bench_open();
  s->rgb = (TmView){
      .data = tm_backend_alloc(s->b, 3 * N, NULL), .dtype = TM_U8, .shape = TM_SHAPE(1, 3, H, W), .ld = 3};
  s->labels = (TmView){
      .data = tm_backend_alloc(s->b, N, NULL), .dtype = TM_U8, .shape = TM_SHAPE(1, 1, H, W), .ld = 1};
}

static void source_clear(Source *s) {
  tm_backend_release(s->b, s->rgb.data, 3 * N);
  tm_backend_release(s->b, s->labels.data, N);
  tm_backend_close(s->b);
}

static guint64 source_put(Source *s, TmVisible *v, const Picture *p, GError **error) {
  if (!tm_backend_write(s->b, &s->rgb, p->rgb, TM_U8, error) ||
      !tm_backend_write(s->b, &s->labels, p->labels, TM_U8, error))
    return 0;
  return v->api->put(v, s->b, &s->rgb, &s->labels, p->truth, error);
}

/* One frame, as ui/viz_cuda.c draws it. */
static gboolean frame(TmGlRing *ring, TmCanvas *c, TmVisible *v, guint64 picture, const TmCompose *how,
                      GError **error) {
  const TmVisibleApi *api = v->api;
  const void *pixels = NULL;
  g_assert_true(tm_gl_ring_take(ring));
  if (!api->begin(c, error)) return FALSE;
  const gboolean drawn = api->draw(c, v, picture, how, error), clean = drawn || !error || !*error;
  const gboolean given = api->finish(c, &pixels, clean ? error : NULL);
  return drawn && given && (!pixels || tm_gl_ring_write(ring, pixels, error)) && tm_gl_ring_load(ring, error);
}

static void assert_shows(const TmGlRing *ring, const Picture *p, const TmCompose *how) {
  guint32 got[OUT_W * OUT_H];
  TmCompose c = *how;
  c.rgb = p->rgb;
  c.truth = how->truth ? p->truth : NULL;
  c.labels = how->labels ? p->labels : how->show == TM_SHOW_MASK ? c.truth : NULL;
  glBindTexture(GL_TEXTURE_2D, ring->texture[ring->next]);
  glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
  for (int y = 0; y < OUT_H; y++)
    for (int x = 0; x < OUT_W; x++)
      g_assert_cmphex(GUINT32_FROM_LE(got[y * OUT_W + x]), ==, tm_compose_pixel(&c, x, y));
}

static void test_pixels(gconstpointer data) {
  const gboolean interop = GPOINTER_TO_INT(data);
  g_autoptr(GError) error = NULL;
  Source s;
  TmGlRing ring;
  source_init(&s);
  g_assert_true(tm_gl_ring_init(&ring, OUT_W, OUT_H, &error));
  TmVisible *v = tm_backend_visible(s.b)->make(s.b, W, H, &error);
  g_assert_no_error(error);
  TmCanvas *c = v->api->canvas(v, interop ? ring.buffer : 0, tm_gl_ring_bytes(&ring), &error);
  g_assert_no_error(error);
  const TmCompose ways[] = {how_to(TM_SHOW_INPUT, TRUE, TRUE), how_to(TM_SHOW_MASK, TRUE, TRUE),
                            how_to(TM_SHOW_MASK, FALSE, TRUE), how_to(TM_SHOW_ERRORS, TRUE, TRUE)};
  for (int i = 0; i < 8; i++) { /* with streams that run nothing until they are waited for, too */
    Picture p;
    picture_init(&p, (guint64)i);
    tm_host_lazy(i % 2);
    const guint64 number = source_put(&s, v, &p, &error);
    g_assert_no_error(error);
    for (guint k = 0; k < G_N_ELEMENTS(ways); k++) {
      g_assert_true(frame(&ring, c, v, number, &ways[k], &error));
      assert_shows(&ring, &p, &ways[k]);
    }
    tm_host_lazy(0);
  }
  v->api->canvas_free(c);
  tm_gl_ring_clear(&ring);
  tm_visible_unref(v);
  source_clear(&s);
  g_assert_cmpint(tm_host_gl_misuse(), ==, 0);
  g_assert_cmpint(tm_host_live(), ==, 0);
  g_assert_cmpint((int)glGetError(), ==, GL_NO_ERROR);
}

/* The last two pictures are kept, also after the trainer's engine was closed; an older one is not mistaken
 * for one of them. */
static void test_two_pictures(void) {
  g_autoptr(GError) error = NULL;
  Source s;
  TmGlRing ring;
  Picture p[3];
  guint64 number[3];
  source_init(&s);
  g_assert_true(tm_gl_ring_init(&ring, OUT_W, OUT_H, NULL));
  TmVisible *v = tm_backend_visible(s.b)->make(s.b, W, H, NULL);
  for (int i = 0; i < 3; i++) {
    picture_init(&p[i], (guint64)i);
    number[i] = source_put(&s, v, &p[i], NULL);
  }
  source_clear(&s);
  TmCanvas *c = v->api->canvas(v, ring.buffer, tm_gl_ring_bytes(&ring), NULL);
  const TmCompose how = how_to(TM_SHOW_MASK, TRUE, FALSE);
  for (int i = 2; i > 0; i--) {
    g_assert_true(frame(&ring, c, v, number[i], &how, &error));
    assert_shows(&ring, &p[i], &how);
  }
  g_assert_false(frame(&ring, c, v, number[0], &how, &error));
  g_assert_no_error(error);
  g_assert_false(frame(&ring, c, v, 0, &how, &error));
  g_assert_no_error(error);
  TmCompose other = how;
  other.out_h--;
  g_assert_false(frame(&ring, c, v, number[2], &other, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SHAPE);
  v->api->canvas_free(c);
  tm_visible_unref(v);
  tm_gl_ring_clear(&ring);
  g_assert_cmpint(tm_host_live(), ==, 0);
  g_assert_cmpint(tm_host_gl_misuse(), ==, 0);
}

/* A display drawn by another device: told, not tried. */
static void test_another_device(void) {
  g_autoptr(GError) error = NULL;
  Source s;
  TmGlRing ring;
  source_init(&s);
  g_assert_true(tm_gl_ring_init(&ring, OUT_W, OUT_H, NULL));
  TmVisible *v = tm_backend_visible(s.b)->make(s.b, W, H, NULL);
  tm_host_gl_device(1);
  g_assert_null(v->api->canvas(v, ring.buffer, tm_gl_ring_bytes(&ring), &error));
  tm_host_gl_device(0);
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  g_assert_nonnull(strstr(error->message, "another device"));
  tm_gl_ring_clear(&ring);
  tm_visible_unref(v);
  source_clear(&s);
  g_assert_cmpint(tm_host_live(), ==, 0);
}

/* A picture's whole way. FALSE with @error where a call failed. */
static gboolean whole_way(Source *s, TmGlRing *ring, const Picture *p, gboolean interop, GError **error) {
  const TmVisibleApi *api = tm_backend_visible(s->b);
  const TmCompose how = how_to(TM_SHOW_MASK, TRUE, TRUE);
  TmVisible *v = api->make(s->b, W, H, error);
  if (!v) return FALSE;
  TmCanvas *c = api->canvas(v, interop ? ring->buffer : 0, tm_gl_ring_bytes(ring), error);
  guint64 number = c ? source_put(s, v, p, error) : 0;
  const gboolean ok = number && frame(ring, c, v, number, &how, error);
  if (ok) assert_shows(ring, p, &how);
  api->canvas_free(c);
  tm_visible_unref(v);
  return ok;
}

static void test_faults(gconstpointer data) {
  const gboolean interop = GPOINTER_TO_INT(data);
  Source s;
  TmGlRing ring;
  Picture p;
  source_init(&s);
  picture_init(&p, 3);
  g_assert_true(tm_gl_ring_init(&ring, OUT_W, OUT_H, NULL));
  g_assert_true(whole_way(&s, &ring, &p, interop, NULL));
  const long live = tm_host_live();
  long calls = 1;
  for (;; calls++) {
    g_autoptr(GError) error = NULL;
    tm_host_fail(NULL, calls, cudaErrorUnknown);
    const gboolean ok = whole_way(&s, &ring, &p, interop, &error);
    const gboolean fired = tm_host_fault_fired() != 0;
    tm_host_fail(NULL, 0, cudaSuccess);
    if (!fired) break;
    if (ok) /* the picture was through, and clean-up cannot fail */
      g_assert_cmpstr(tm_host_fault_name(), ==, "cudaSetDevice");
    else
      g_assert_nonnull(error);
    g_assert_cmpint(tm_host_live(), ==, live);
    g_assert_true(whole_way(&s, &ring, &p, interop, NULL));
  }
  g_test_message("%ld calls, each failed once", calls - 1);
  g_assert_cmpint(calls, >, 15);
  tm_gl_ring_clear(&ring);
  source_clear(&s);
  g_assert_cmpint(tm_host_live(), ==, 0);
  g_assert_cmpint(tm_host_gl_misuse(), ==, 0);
}

/* The stand-in notices what the real one would not forgive. */
static void test_notices(void) {
  TmGlRing ring;
  void *p;
  size_t n;
  struct cudaGraphicsResource *r = NULL;
  g_assert_true(tm_gl_ring_init(&ring, OUT_W, OUT_H, NULL));
  g_assert_cmpint(tm_cuda_gl.add(&r, ring.buffer, CUDA_GL_WRITE_DISCARD), ==, cudaSuccess);
  g_assert_cmpint(tm_cuda_gl.pointer(&p, &n, r), ==, cudaErrorNotMapped);
  g_assert_cmpint(tm_cuda_gl.unmap(1, &r, NULL), ==, cudaErrorNotMapped);
  g_assert_cmpint(tm_cuda_gl.map(1, &r, NULL), ==, cudaSuccess);
  g_assert_cmpint(tm_cuda_gl.map(1, &r, NULL), ==, cudaErrorAlreadyMapped);
  tm_gl_ring_take(&ring);
  g_assert_false(tm_gl_ring_load(&ring, NULL)); /* OpenGL itself refuses a mapped buffer */
  g_assert_cmpint(tm_cuda_gl.unmap(1, &r, NULL), ==, cudaSuccess);
  tm_gl_ring_clear(&ring);
  g_assert_cmpint(tm_cuda_gl.remove(r), ==, cudaErrorInvalidResourceHandle); /* after OpenGL deleted it */
  g_assert_cmpint(tm_host_gl_misuse(), ==, 4);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!open_context()) {
    g_print("1..0 # SKIP there is no EGL that draws without a surface\n");
    return 0;
  }
  g_test_message("%s", (const char *)glGetString(GL_RENDERER));
  g_test_add_data_func("/cuda-host/interop/pixels/shared-buffer", GINT_TO_POINTER(TRUE), test_pixels);
  g_test_add_data_func("/cuda-host/interop/pixels/pinned-copy", GINT_TO_POINTER(FALSE), test_pixels);
  g_test_add_func("/cuda-host/interop/two-pictures", test_two_pictures);
  g_test_add_func("/cuda-host/interop/another-device", test_another_device);
  g_test_add_data_func("/cuda-host/interop/faults/shared-buffer", GINT_TO_POINTER(TRUE), test_faults);
  g_test_add_data_func("/cuda-host/interop/faults/pinned-copy", GINT_TO_POINTER(FALSE), test_faults);
  g_test_add_func("/cuda-host/interop/notices", test_notices);
  return g_test_run();
}
