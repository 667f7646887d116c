/* frame.h: a GdkPaintable that shows the latest of a sequence of textures and keeps its identity. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_FRAME (tm_frame_get_type())
G_DECLARE_FINAL_TYPE(TmFrame, tm_frame, TM, FRAME, GObject)

TmFrame *tm_frame_new(int w, int h);
/** Shows @texture (referenced); NULL shows nothing. */
void tm_frame_set_texture(TmFrame *f, GdkTexture *texture);
/** May be NULL; owned by the frame. */
GdkTexture *tm_frame_get_texture(TmFrame *f);
