#include "ui/gl_ring.h"

#include <glib/gi18n.h>

#include "engine/core/error.h"

/* Reads every pending error; the first one names the failure. */
static gboolean gl_ok(const char *what, GError **error) {
  GLenum first = GL_NO_ERROR, e;
  for (int i = 0; i < 16 && (e = glGetError()) != GL_NO_ERROR; i++)
    if (first == GL_NO_ERROR) first = e;
  if (first == GL_NO_ERROR) return TRUE;
  g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL failed while %s (error 0x%04x)"), what, first);
  return FALSE;
}

gsize tm_gl_ring_bytes(const TmGlRing *r) {
  return (gsize)r->w * (gsize)r->h * 4;
}

static void allocate(const TmGlRing *r) {
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, r->buffer);
  glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)tm_gl_ring_bytes(r), NULL, GL_STREAM_DRAW);
}

gboolean tm_gl_ring_init(TmGlRing *r, int w, int h, GError **error) {
  GLint most = 0;
  *r = (TmGlRing){.w = w, .h = h};
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  if (w < 1 || h < 1 || w > most || h > most) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("OpenGL draws at most %d pixels a side here"), most);
    return FALSE;
  }
  glGenBuffers(1, &r->buffer);
  glGenTextures(TM_GL_RING, r->texture);
  for (int i = 0; i < TM_GL_RING; i++) {
    glBindTexture(GL_TEXTURE_2D, r->texture[i]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  }
  glBindTexture(GL_TEXTURE_2D, 0);
  allocate(r);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  if (gl_ok(_("making textures"), error)) return TRUE;
  tm_gl_ring_clear(r);
  return FALSE;
}

void tm_gl_ring_clear(TmGlRing *r) {
  glDeleteTextures(TM_GL_RING, r->texture);
  glDeleteBuffers(1, &r->buffer);
  *r = (TmGlRing){0};
}

gboolean tm_gl_ring_take(TmGlRing *r) {
  for (r->next = 0; r->next < TM_GL_RING && r->in_use[r->next];) r->next++;
  return r->next < TM_GL_RING;
}

void *tm_gl_ring_map(TmGlRing *r, GError **error) {
  allocate(r); /* the driver may still read the old content: it gets other memory */
  void *pixels = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)tm_gl_ring_bytes(r),
                                  GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  if (!gl_ok(_("mapping the pixel buffer"), error)) return NULL;
  if (!pixels)
    g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL lends no memory for a picture of %d × %d pixels"),
                r->w, r->h);
  return pixels;
}

gboolean tm_gl_ring_unmap(TmGlRing *r, GError **error) {
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, r->buffer);
  const gboolean whole = glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  if (!gl_ok(_("copying a picture"), error)) return FALSE;
  if (!whole) g_set_error(error, TM_ERROR, TM_ERROR_DEVICE, _("OpenGL lost the pixel buffer"));
  return whole;
}

gboolean tm_gl_ring_write(TmGlRing *r, const void *pixels, GError **error) {
  allocate(r);
  glBufferSubData(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)tm_gl_ring_bytes(r), pixels);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return gl_ok(_("copying a picture"), error);
}

gboolean tm_gl_ring_load(TmGlRing *r, GError **error) {
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, r->buffer);
  glBindTexture(GL_TEXTURE_2D, r->texture[r->next]);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, r->w, r->h, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glBindTexture(GL_TEXTURE_2D, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glFlush();
  return gl_ok(_("copying a picture"), error);
}
