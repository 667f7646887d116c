/* Rung C: the processor draws into a pixel buffer, from which a ring of three textures is filled. */
#include "ui/viz_gl.h"

#include <glib/gi18n.h>

#include "engine/core/error.h"
#include "ui/viz.h"

typedef struct {
  TmVizRing *ring;
  int slot;
} Lease;

static GdkGLContext *shared; /* one for all sinks, made by probe */

static GdkGLContext *enter(GdkGLContext *context) {
  GdkGLContext *before = gdk_gl_context_get_current();
  if (before) g_object_ref(before);
  gdk_gl_context_make_current(context);
  return before;
}

GdkGLContext *tm_viz_ring_enter(TmVizRing *r) {
  return enter(r->context);
}

void tm_viz_ring_leave(GdkGLContext *before) {
  if (before)
    gdk_gl_context_make_current(before);
  else
    gdk_gl_context_clear_current();
  g_clear_object(&before);
}

/* Mesa's renderers without a GPU. */
static gboolean is_software(const char *renderer) {
  static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SWR"};
  for (guint i = 0; renderer && i < G_N_ELEMENTS(names); i++)
    if (strstr(renderer, names[i])) return TRUE;
  return FALSE;
}

gboolean tm_viz_gl_probe(GdkDisplay *display, GError **error) {
  g_clear_object(&shared);
  if (!display) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("there is no display"));
    return FALSE;
  }
  g_autoptr(GdkGLContext) context = gdk_display_create_gl_context(display, error);
  if (!context) return FALSE;
  gdk_gl_context_set_allowed_apis(context, GDK_GL_API_GL | GDK_GL_API_GLES);
  gdk_gl_context_set_required_version(context, 3, 0);
  if (!gdk_gl_context_realize(context, error)) return FALSE;
  GdkGLContext *before = enter(context);
  g_autofree char *renderer = g_strdup((const char *)glGetString(GL_RENDERER));
  tm_viz_ring_leave(before);
  if (is_software(renderer) && !g_getenv("TARMAC_VIZ")) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("OpenGL is drawn by the processor here (%s), plain memory is faster"), renderer);
    return FALSE;
  }
  shared = g_steal_pointer(&context);
  return TRUE;
}

char *tm_viz_gl_about(void) {
  GdkGLContext *before = enter(shared);
  int major = 0, minor = 0;
  gdk_gl_context_get_version(shared, &major, &minor);
  const char *renderer = (const char *)glGetString(GL_RENDERER);
  char *text = g_strdup_printf("%s %d.%d, %s",
                               gdk_gl_context_get_api(shared) == GDK_GL_API_GLES ? "OpenGL ES" : "OpenGL",
                               major, minor, renderer ? renderer : "?");
  tm_viz_ring_leave(before);
  return text;
}

/* ---- the ring ---- */

TmVizRing *tm_viz_ring_new(int w, int h, GError **error) {
  TmVizRing *r = g_new0(TmVizRing, 1);
  g_atomic_ref_count_init(&r->refs);
  GdkGLContext *before = enter(shared);
  const gboolean ok = tm_gl_ring_init(&r->ring, w, h, error);
  tm_viz_ring_leave(before);
  r->context = g_object_ref(shared);
  if (ok) return r;
  g_object_unref(r->context);
  g_free(r);
  return NULL;
}

void tm_viz_ring_unref(TmVizRing *r) {
  if (!g_atomic_ref_count_dec(&r->refs)) return;
  GdkGLContext *before = tm_viz_ring_enter(r);
  tm_gl_ring_clear(&r->ring);
  tm_viz_ring_leave(before);
  g_object_unref(r->context);
  g_free(r);
}

static void lease_end(gpointer data) {
  Lease *l = data;
  l->ring->ring.in_use[l->slot] = FALSE;
  tm_viz_ring_unref(l->ring);
  g_free(l);
}

GdkTexture *tm_viz_ring_texture(TmVizRing *r) {
  const int slot = r->ring.next;
  Lease *lease = g_new(Lease, 1);
  *lease = (Lease){r, slot};
  g_atomic_ref_count_inc(&r->refs);
  r->ring.in_use[slot] = TRUE;
  return gdk_gl_texture_new(r->context, r->ring.texture[slot], r->ring.w, r->ring.h, lease_end, lease);
}

/* ---- the rung ---- */

static gpointer open_sink(int w, int h, GError **error) {
  return tm_viz_ring_new(w, h, error);
}

static gboolean map(gpointer state, TmVizMap *out, GError **error) {
  TmVizRing *r = state;
  if (!tm_gl_ring_take(&r->ring)) return FALSE;
  GdkGLContext *before = tm_viz_ring_enter(r);
  *out = (TmVizMap){
      .pixels = tm_gl_ring_map(&r->ring, error), .stride = (gsize)r->ring.w * 4, .kind = TM_VIZ_HOST};
  tm_viz_ring_leave(before);
  return out->pixels != NULL;
}

static GdkTexture *unmap(gpointer state, GError **error) {
  TmVizRing *r = state;
  GdkGLContext *before = tm_viz_ring_enter(r);
  const gboolean ok = tm_gl_ring_unmap(&r->ring, error) && tm_gl_ring_load(&r->ring, error);
  tm_viz_ring_leave(before);
  return ok ? tm_viz_ring_texture(r) : NULL;
}

static void close_sink(gpointer state) {
  tm_viz_ring_unref(state);
}

const TmVizOps tm_viz_gl_ops = {.probe = tm_viz_gl_probe,
                                .open = open_sink,
                                .map = map,
                                .unmap = unmap,
                                .close = close_sink,
                                .about = tm_viz_gl_about};
