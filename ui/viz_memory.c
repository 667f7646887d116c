/* Rung D: a texture in plain memory. Needs nothing but room. */
#include <glib/gi18n.h>

#include "engine/core/error.h"
#include "ui/viz.h"

typedef struct {
  int w, h;
  guint8 *pixels; /* lent out; becomes the texture's */
} State;

static gpointer open_sink(int w, int h, GError **error) {
  if (w < 1 || h < 1 || (guint64)w * (guint64)h > G_MAXINT32 / 4) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("A picture of %d × %d pixels is too large to draw"), w,
                h);
    return NULL;
  }
  State *s = g_new0(State, 1);
  s->w = w;
  s->h = h;
  return s;
}

static gboolean map(gpointer state, TmVizMap *out, GError **error) {
  State *s = state;
  gsize size = (gsize)s->w * s->h * 4;
  if (!s->pixels) s->pixels = g_try_malloc(size);
  if (!s->pixels) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("No memory for a picture of %d × %d pixels"), s->w,
                s->h);
    return FALSE;
  }
  *out = (TmVizMap){.pixels = s->pixels, .stride = (gsize)s->w * 4, .kind = TM_VIZ_HOST};
  return TRUE;
}

static GdkTexture *unmap(gpointer state, GError **error) {
  (void)error;
  State *s = state;
  g_autoptr(GBytes) bytes = g_bytes_new_take(g_steal_pointer(&s->pixels), (gsize)s->w * s->h * 4);
  return gdk_memory_texture_new(s->w, s->h, GDK_MEMORY_R8G8B8A8_PREMULTIPLIED, bytes, (gsize)s->w * 4);
}

static void close_sink(gpointer state) {
  State *s = state;
  g_free(s->pixels);
  g_free(s);
}

const TmVizOps tm_viz_memory_ops = {.open = open_sink, .map = map, .unmap = unmap, .close = close_sink};
