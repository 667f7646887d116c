/* viz.h: from pixels to the screen by the highest rung of a ladder that works here:
 *
 *   A  a CUDA buffer that OpenGL reads (needs the CUDA engine and a display that offers it)
 *   B  a pinned copy from the GPU into an OpenGL buffer
 *   C  an OpenGL pixel buffer filled by the processor, a ring of three textures
 *   D  a texture in plain memory: always works
 *
 * A sink is one picture on the screen; its paintable keeps its identity from frame to frame. A rung that
 * fails is left for the rest of the session, the reason is kept, and the same frame goes out by the next one.
 * TARMAC_VIZ=A|B|C|D begins at that rung. Main thread only.
 *
 * Rungs A and B are for pictures in a device's memory, and there once the run's device has offered itself
 * (viz_cuda.h). */
#pragma once

#include <gtk/gtk.h>

typedef enum { TM_VIZ_INTEROP, TM_VIZ_PINNED, TM_VIZ_GL, TM_VIZ_MEMORY, TM_N_VIZ } TmVizRung;
typedef enum { TM_VIZ_HOST, TM_VIZ_DEVICE } TmVizMemoryKind;

/* Memory for one frame: h rows of w RGBA8 pixels, row 0 on top, opaque or premultiplied. */
typedef struct {
  void *pixels; /* DEVICE: the rung's own handle of it */
  gsize stride; /* bytes a row */
  TmVizMemoryKind kind;
} TmVizMap;

/* One rung. State is the rung's own, per sink. */
typedef struct {
  /* Can it work here? Asked once, before the first sink. FALSE with the reason in @error. */
  gboolean (*probe)(GdkDisplay *display, GError **error);
  /* A sink's state for w x h pixels; NULL with @error. */
  gpointer (*open)(int w, int h, GError **error);
  /* Lends memory for a frame. FALSE without an error: all textures are still on the screen, leave this frame
   * out. */
  gboolean (*map)(gpointer state, TmVizMap *out, GError **error);
  /* Takes it back and gives the texture to show; NULL with @error. */
  GdkTexture *(*unmap)(gpointer state, GError **error);
  /* Textures given out may outlive it. */
  void (*close)(gpointer state);
  /* (optional) "OpenGL 4.5, llvmpipe" for tm_viz_describe(); NULL says nothing. */
  char *(*about)(void);
} TmVizOps;

/** Adds or replaces a rung (static @ops). Takes effect for sinks made later. NULL takes it away. */
void tm_viz_register(TmVizRung rung, const TmVizOps *ops);
/** Forgets every failure and probe and reads TARMAC_VIZ again. For tests, and "Look Again" on the Devices
 * page. */
void tm_viz_reset(void);
/** The rung in use. */
TmVizRung tm_viz_rung(void);
/** A rung that failed is not tried again; @reason is a sentence. */
void tm_viz_drop(TmVizRung rung, const char *reason);
/** Before the first window: where OpenGL is drawn by the processor (llvmpipe and its like) GTK is told to
 * draw with Cairo, which takes a fraction of the processor's time from the training and answers at once.
 * Leaves GSK_RENDERER and TARMAC_VIZ alone where they are set. */
void tm_viz_spare_processor(void);
/** Begins at @rung from now on (TM_VIZ_INTEROP: at the top); what failed is tried again. TARMAC_VIZ still holds. */
void tm_viz_begin_at(TmVizRung rung);
/** Why @rung is not used, a sentence without its full stop; NULL: it can be, or was not tried because one above it works. */
const char *tm_viz_reason(TmVizRung rung);
/** Seconds that drawing a frame takes, the mean of the latest; NAN before the first. */
double tm_viz_frame_time(void);
/** "C, OpenGL pixel buffer (OpenGL 4.5, llvmpipe). A: no CUDA engine is loaded. B: …": the rung and why none
 * above is used. Free it. */
char *tm_viz_describe(void);

typedef struct _TmVizSink TmVizSink;
typedef void (*TmVizDraw)(const TmVizMap *map, int w, int h, gpointer user);
/* FALSE without an error: the picture is not on the device. */
typedef gboolean (*TmVizDeviceDraw)(const TmVizMap *map, int w, int h, gpointer user, GError **error);

TmVizSink *tm_viz_sink_new(int w, int h);
void tm_viz_sink_free(TmVizSink *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmVizSink, tm_viz_sink_free)
int tm_viz_sink_width(const TmVizSink *s);
int tm_viz_sink_height(const TmVizSink *s);
/** Has the processor draw a frame, by rung C or D; on failure steps down a rung and does it again. FALSE:
 * left out, because every texture is on the screen, or nothing works. */
gboolean tm_viz_sink_draw(TmVizSink *s, TmVizDraw draw, gpointer user);
/** The same from the top of the ladder: @on_device where a rung lends a device's memory, @draw where it lends
 * the host's, or where the picture is not on the device after all. */
gboolean tm_viz_sink_draw_device(TmVizSink *s, TmVizDeviceDraw on_device, TmVizDraw draw, gpointer user);
/** Shows the latest frame; the same object for the sink's life. Owned by the sink. */
GdkPaintable *tm_viz_sink_paintable(TmVizSink *s);

extern const TmVizOps tm_viz_gl_ops, tm_viz_memory_ops;
