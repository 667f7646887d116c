/* Rungs A and B. A: the device draws into the pixel buffer itself, which OpenGL shares with it. B: it draws
 * into its own memory, which comes over in one copy into pinned memory and goes from there into the pixel
 * buffer. */
#include "ui/viz_cuda.h"

#include <glib/gi18n.h>

#include "engine/core/error.h"
#include "ui/viz_gl.h"

typedef struct {
  TmVizRing *ring;
  const TmVisibleApi *api;
  TmCanvas *canvas;
} State;

static TmVisible *device; /* any picture of the device that draws; owned */

static void close_sink(gpointer state) {
  State *s = state;
  GdkGLContext *before = tm_viz_ring_enter(s->ring); /* the buffer is taken back before OpenGL deletes it */
  s->api->canvas_free(s->canvas);
  tm_viz_ring_leave(before);
  tm_viz_ring_unref(s->ring);
  g_free(s);
}

static gpointer open_sink(int w, int h, gboolean interop, GError **error) {
  TmVizRing *ring = tm_viz_ring_new(w, h, error);
  if (!ring) return NULL;
  State *s = g_new(State, 1);
  *s = (State){.ring = ring, .api = device->api};
  GdkGLContext *before = tm_viz_ring_enter(ring);
  s->canvas = s->api->canvas(device, interop ? ring->ring.buffer : 0, tm_gl_ring_bytes(&ring->ring), error);
  tm_viz_ring_leave(before);
  if (s->canvas) return s;
  tm_viz_ring_unref(ring);
  g_free(s);
  return NULL;
}

static gpointer open_interop(int w, int h, GError **error) {
  return open_sink(w, h, TRUE, error);
}
static gpointer open_pinned(int w, int h, GError **error) {
  return open_sink(w, h, FALSE, error);
}

/* Lends the canvas, not memory: only the device can write there. */
static gboolean map(gpointer state, TmVizMap *out, GError **error) {
  State *s = state;
  if (!tm_gl_ring_take(&s->ring->ring)) return FALSE;
  GdkGLContext *before = tm_viz_ring_enter(s->ring);
  const gboolean ok = s->api->begin(s->canvas, error);
  tm_viz_ring_leave(before);
  *out = (TmVizMap){.pixels = s->canvas, .stride = (gsize)s->ring->ring.w * 4, .kind = TM_VIZ_DEVICE};
  return ok;
}

static GdkTexture *unmap(gpointer state, GError **error) {
  State *s = state;
  const void *pixels = NULL;
  GdkGLContext *before = tm_viz_ring_enter(s->ring);
  gboolean ok = s->api->finish(s->canvas, &pixels, error) &&
                (!pixels || tm_gl_ring_write(&s->ring->ring, pixels, error)) &&
                tm_gl_ring_load(&s->ring->ring, error);
  tm_viz_ring_leave(before);
  return ok ? tm_viz_ring_texture(s->ring) : NULL;
}

static const TmVizOps interop = {.probe = tm_viz_gl_probe,
                                 .open = open_interop,
                                 .map = map,
                                 .unmap = unmap,
                                 .close = close_sink,
                                 .about = tm_viz_gl_about};
static const TmVizOps pinned = {.probe = tm_viz_gl_probe,
                                .open = open_pinned,
                                .map = map,
                                .unmap = unmap,
                                .close = close_sink,
                                .about = tm_viz_gl_about};

void tm_viz_cuda_offer(TmVisible *v) {
  if (device == v) return;
  const gboolean first = !device || device->api != v->api;
  tm_visible_ref(v);
  tm_visible_unref(device);
  device = v;
  if (!first) return;
  tm_viz_register(TM_VIZ_INTEROP, &interop);
  tm_viz_register(TM_VIZ_PINNED, &pinned);
}

gboolean tm_viz_cuda_draw(const TmVizMap *lent, TmVisible *v, guint64 picture, const TmCompose *how,
                          GError **error) {
  return v->api->draw(lent->pixels, v, picture, how, error);
}
