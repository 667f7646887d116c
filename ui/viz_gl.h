/* viz_gl.h: what the rungs that end in OpenGL textures share: our own context, and a ring of textures handed
 * to GTK as GdkGLTexture. GTK's own context comes back as the current one after every call. Private to the
 * ladder; main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/gl_ring.h"

/** Makes the context that all sinks share. FALSE with the reason. */
gboolean tm_viz_gl_probe(GdkDisplay *display, GError **error);
/** "OpenGL 4.5, llvmpipe". Free it. */
char *tm_viz_gl_about(void);

typedef struct {
  gatomicrefcount refs; /* the sink and every texture on the screen */
  GdkGLContext *context;
  TmGlRing ring;
} TmVizRing;

TmVizRing *tm_viz_ring_new(int w, int h, GError **error);
void tm_viz_ring_unref(TmVizRing *r);
/** Makes the ring's context the current one; returns the one before for leave(). */
GdkGLContext *tm_viz_ring_enter(TmVizRing *r);
void tm_viz_ring_leave(GdkGLContext *before);
/** The texture filled last, for the screen; its place in the ring is taken until GTK lets go of it. */
GdkTexture *tm_viz_ring_texture(TmVizRing *r);
