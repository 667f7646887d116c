/* interop.c: a picture from the GPU's memory into an OpenGL texture without a display, by the module as the
 * program loads it: on the EGL device of the GPU, where there is one, else on a software driver (with the
 * module on the stand-ins). Compares every pixel with the processor's drawing and times a frame by the shared
 * buffer (A) and by the pinned copy (B). One line; exit status 0 good, 1 wrong, 77 it cannot be tried here.
 */
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <stdio.h>

#include "engine/backend/backend.h"
#include "engine/core/random.h"
#include "ui/gl_ring.h"

enum { W = 480, H = 360, N = W * H, CLASSES = 11, FRAMES = 50 };

typedef struct {
  guint8 rgb[3 * N], labels[N], truth[N];
} Picture;

static gboolean use_display(EGLDisplay d) {
  static const EGLint want[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
  if (d == EGL_NO_DISPLAY || !eglInitialize(d, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return FALSE;
  const EGLContext c = eglCreateContext(d, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, want);
  return c != EGL_NO_CONTEXT && eglMakeCurrent(d, EGL_NO_SURFACE, EGL_NO_SURFACE, c);
}

/* The devices that EGL draws on, those of CUDA first. */
static gboolean use_device(gboolean cuda) {
  EGLDeviceEXT all[16];
  EGLint n = 0;
  if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") ||
      !eglQueryDevicesEXT(16, all, &n))
    return FALSE;
  for (EGLint i = 0; i < n; i++) {
    EGLAttrib number = 0;
    const gboolean is_cuda = eglQueryDeviceAttribEXT(all[i], EGL_CUDA_DEVICE_NV, &number);
    if (is_cuda == cuda && use_display(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, all[i], NULL)))
      return TRUE;
  }
  return FALSE;
}

static gboolean open_context(void) {
  if (use_device(TRUE) || use_device(FALSE)) return TRUE;
  return epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless") &&
         use_display(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL));
}

static TmCompose how_to(const Picture *p) {
  TmCompose c = {.show = TM_SHOW_MASK,
                 .w = W,
                 .h = H,
                 .out_w = W,
                 .out_h = H,
                 .rgb = p->rgb,
                 .labels = p->labels,
                 .truth = p->truth,
                 .n_classes = CLASSES,
                 .alpha = 140};
  for (int i = 0; i < CLASSES; i++) c.colours[i] = (guint32)(i + 1) * 0x171f2bu & 0xffffffu;
  return c;
}

/* Wrong pixels of the texture; -1 with @error when a call failed. @ms: a frame's time. */
static int draw(TmVisible *v, guint64 number, const Picture *p, gboolean shared, double *ms, GError **error) {
  const TmVisibleApi *api = v->api;
  const TmCompose how = how_to(p);
  TmGlRing ring;
  int wrong = -1;
  if (!tm_gl_ring_init(&ring, W, H, error)) return -1;
  TmCanvas *c = api->canvas(v, shared ? ring.buffer : 0, tm_gl_ring_bytes(&ring), error);
  gint64 begin = 0;
  gboolean ok = c != NULL;
  for (int i = 0; i <= FRAMES && ok; i++) {
    const void *pixels = NULL;
    if (i == 1) begin = g_get_monotonic_time(); /* the first one warms up */
    ok = tm_gl_ring_take(&ring) && api->begin(c, error) && api->draw(c, v, number, &how, error) &&
         api->finish(c, &pixels, error) && (!pixels || tm_gl_ring_write(&ring, pixels, error)) &&
         tm_gl_ring_load(&ring, error);
    glFinish();
  }
  *ms = (double)(g_get_monotonic_time() - begin) / 1000 / FRAMES;
  if (ok) {
    g_autofree guint32 *got = g_new0(guint32, N);
    glBindTexture(GL_TEXTURE_2D, ring.texture[ring.next]);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    wrong = 0;
    for (int i = 0; i < N; i++) wrong += GUINT32_FROM_LE(got[i]) != tm_compose_pixel(&how, i % W, i / W);
  }
  api->canvas_free(c);
  tm_gl_ring_clear(&ring);
  return wrong;
}

/* A picture as a program leaves it on the device. */
static guint64 put(TmBackend *b, TmVisible *v, const Picture *p, GError **error) {
  const TmView rgb = {.data = tm_backend_alloc(b, 3 * N, error),
                      .dtype = TM_U8,
                      .shape = TM_SHAPE(1, 3, H, W),
                      .ld = 3},
               labels = {.data = tm_backend_alloc(b, N, error),
                         .dtype = TM_U8,
                         .shape = TM_SHAPE(1, 1, H, W),
                         .ld = 1};
  guint64 number = 0;
  if (rgb.data && labels.data && tm_backend_write(b, &rgb, p->rgb, TM_U8, error) &&
      tm_backend_write(b, &labels, p->labels, TM_U8, error))
    number = v->api->put(v, b, &rgb, &labels, p->truth, error);
  tm_backend_release(b, rgb.data, 3 * N);
  tm_backend_release(b, labels.data, N);
  return number;
}

static int report(TmBackend *b, GError **error) {
  g_autofree Picture *p = g_new(Picture, 1);
  TmRandom r;
  tm_random_seed(&r, 1);
  for (int i = 0; i < 3 * N; i++) p->rgb[i] = (guint8)tm_random_int(&r, 256);
  for (int i = 0; i < N; i++)
    p->labels[i] = p->truth[i] = (guint8)((i % W / 40 + i / W / 40) % (CLASSES + 1));
  TmVisible *v = tm_backend_visible(b)->make(b, W, H, error);
  const guint64 number = v ? put(b, v, p, error) : 0;
  double a_ms = 0, b_ms = 0;
  g_autoptr(GError) why = NULL;
  const int wrong_a = number ? draw(v, number, p, TRUE, &a_ms, &why) : -1,
            wrong_b = number ? draw(v, number, p, FALSE, &b_ms, error) : -1;
  tm_visible_unref(v);
  if (wrong_b < 0) return 1;
  g_print("%s: ", (const char *)glGetString(GL_RENDERER));
  if (wrong_a < 0)
    g_print("A is not offered (%s), ", why->message);
  else
    g_print("A %d of %d pixels wrong, %.3f ms a frame; ", wrong_a, N, a_ms);
  g_print("B %d wrong, %.3f ms\n", wrong_b, b_ms);
  return wrong_a > 0 || wrong_b > 0;
}

int main(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmBackend) b = tm_backend_open("cuda", NULL, &error);
  if (!b) {
    g_print("%s\n", error->message);
    return 77;
  }
  if (!open_context()) {
    g_print("there is no EGL here that draws without a display\n");
    return 77;
  }
  const int status = report(b, &error);
  if (error) g_print("%s\n", error->message);
  return status;
}
