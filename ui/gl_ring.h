/* gl_ring.h: one OpenGL pixel buffer and a ring of three textures that are filled from it. Knows no GTK; the
 * context that it was made in is current in every call. */
#pragma once

#include <epoxy/gl.h>
#include <glib.h>

enum { TM_GL_RING = 3 };

typedef struct {
  int w, h;
  GLuint buffer, texture[TM_GL_RING];
  gboolean in_use[TM_GL_RING]; /* on the screen */
  int next;                    /* the texture to be filled next */
} TmGlRing;

/** Makes the textures, and the buffer with room for one picture. On failure nothing is left. */
gboolean tm_gl_ring_init(TmGlRing *r, int w, int h, GError **error);
void tm_gl_ring_clear(TmGlRing *r);
/** Bytes of a picture, w*h*4. */
gsize tm_gl_ring_bytes(const TmGlRing *r);
/** Chooses a texture that is not on the screen. FALSE: all are. Needs no context. */
gboolean tm_gl_ring_take(TmGlRing *r);
/** Lends the buffer's memory to be written; its content is new each time. NULL with @error. */
void *tm_gl_ring_map(TmGlRing *r, GError **error);
gboolean tm_gl_ring_unmap(TmGlRing *r, GError **error);
/** Fills the buffer from @pixels. */
gboolean tm_gl_ring_write(TmGlRing *r, const void *pixels, GError **error);
/** Buffer to texture `next`. */
gboolean tm_gl_ring_load(TmGlRing *r, GError **error);
