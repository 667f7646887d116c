/* Rung C: one pixel buffer and a ring of three textures in a context of our own, handed to GTK as
 * GdkGLTexture. A texture's slot is free again when GTK lets go of it. GTK's own context comes back as the
 * current one after every call. */
#include <epoxy/gl.h>
#include <glib/gi18n.h>

#include "engine/core/error.h"
#include "ui/viz.h"

enum { RING = 3 };

typedef struct {
  gatomicrefcount refs; /* the sink and every texture on the screen */
  GdkGLContext *context;
  int w, h;
  GLuint buffer, texture[RING];
  gboolean in_use[RING];
  int next; /* slot lent out by map */
} State;

typedef struct {
  State *state;
  int slot;
} Lease;

static GdkGLContext *shared; /* one for all sinks, made by probe */

static GdkGLContext *enter(GdkGLContext *context) {
  GdkGLContext *before = gdk_gl_context_get_current();
  if (before) g_object_ref(before);
  gdk_gl_context_make_current(context);
  return before;
}

static void leave(GdkGLContext *before) {
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

static gboolean probe(GdkDisplay *display, GError **error) {
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
  leave(before);
  if (is_software(renderer) && !g_getenv("TARMAC_VIZ")) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("OpenGL is drawn by the processor here (%s), plain memory is faster"), renderer);
    return FALSE;
  }
  shared = g_steal_pointer(&context);
  return TRUE;
}

/* Reads every pending error; the first one names the failure. */
static gboolean gl_ok(const char *what, GError **error) {
  GLenum first = GL_NO_ERROR, e;
  for (int i = 0; i < 16 && (e = glGetError()) != GL_NO_ERROR; i++)
    if (first == GL_NO_ERROR) first = e;
  if (first == GL_NO_ERROR) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL failed while %s (error 0x%04x)"), what, first);
  return FALSE;
}

static void state_unref(State *s) {
  if (!g_atomic_ref_count_dec(&s->refs)) return;
  GdkGLContext *before = enter(s->context);
  glDeleteTextures(RING, s->texture);
  glDeleteBuffers(1, &s->buffer);
  leave(before);
  g_object_unref(s->context);
  g_free(s);
}

static gpointer open_sink(int w, int h, GError **error) {
  GdkGLContext *before = enter(shared);
  GLint most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  if (w < 1 || h < 1 || w > most || h > most) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("OpenGL draws at most %d pixels a side here"), most);
    leave(before);
    return NULL;
  }
  State *s = g_new0(State, 1);
  g_atomic_ref_count_init(&s->refs);
  s->context = g_object_ref(shared);
  s->w = w;
  s->h = h;
  glGenBuffers(1, &s->buffer);
  glGenTextures(RING, s->texture);
  for (int i = 0; i < RING; i++) {
    glBindTexture(GL_TEXTURE_2D, s->texture[i]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  }
  glBindTexture(GL_TEXTURE_2D, 0);
  gboolean ok = gl_ok("making textures", error);
  leave(before);
  if (ok) return s;
  state_unref(s);
  return NULL;
}

static gboolean map(gpointer state, TmVizMap *out, GError **error) {
  State *s = state;
  for (s->next = 0; s->next < RING && s->in_use[s->next];) s->next++;
  if (s->next == RING) return FALSE;
  GdkGLContext *before = enter(s->context);
  gsize size = (gsize)s->w * s->h * 4;
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, s->buffer);
  glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)size, NULL, GL_STREAM_DRAW);
  void *pixels = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)size,
                                  GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gboolean ok = gl_ok("mapping the pixel buffer", error);
  if (ok && !pixels) {
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL lends no memory for a picture of %d × %d pixels"),
                s->w, s->h);
    ok = FALSE;
  }
  leave(before);
  *out = (TmVizMap){.pixels = pixels, .stride = (gsize)s->w * 4, .kind = TM_VIZ_HOST};
  return ok;
}

static void lease_end(gpointer data) {
  Lease *l = data;
  l->state->in_use[l->slot] = FALSE;
  state_unref(l->state);
  g_free(l);
}

static GdkTexture *unmap(gpointer state, GError **error) {
  State *s = state;
  GdkGLContext *before = enter(s->context);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, s->buffer);
  gboolean whole = glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
  glBindTexture(GL_TEXTURE_2D, s->texture[s->next]);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, s->w, s->h, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glBindTexture(GL_TEXTURE_2D, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glFlush();
  gboolean ok = gl_ok("copying a picture", error);
  if (ok && !whole) {
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL lost the pixel buffer"));
    ok = FALSE;
  }
  leave(before);
  if (!ok) return NULL;
  Lease *lease = g_new(Lease, 1);
  lease->state = s;
  lease->slot = s->next;
  g_atomic_ref_count_inc(&s->refs);
  s->in_use[s->next] = TRUE;
  return gdk_gl_texture_new(s->context, s->texture[s->next], s->w, s->h, lease_end, lease);
}

static void close_sink(gpointer state) {
  state_unref(state);
}

static char *about(void) {
  GdkGLContext *before = enter(shared);
  int major = 0, minor = 0;
  gdk_gl_context_get_version(shared, &major, &minor);
  const char *renderer = (const char *)glGetString(GL_RENDERER);
  char *text = g_strdup_printf("%s %d.%d, %s",
                               gdk_gl_context_get_api(shared) == GDK_GL_API_GLES ? "OpenGL ES" : "OpenGL",
                               major, minor, renderer ? renderer : "?");
  leave(before);
  return text;
}

const TmVizOps tm_viz_gl_ops = {
    .probe = probe, .open = open_sink, .map = map, .unmap = unmap, .close = close_sink, .about = about};
