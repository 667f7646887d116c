/* resample.h: cuts a window out of a scaled picture without ever making the whole scaled picture. */
#pragma once

#include "engine/data/sample.h"

/* A window of a picture that was scaled to sw x sh pixels. The window may reach outside of the scaled
 * picture. */
typedef struct {
  int sw, sh;    /* size of the whole picture after scaling, >= 1 */
  int x, y;      /* left top corner of the window in the scaled picture; may be negative */
  int w, h;      /* size of the window, >= 1 */
  gboolean flip; /* the window is mirrored left to right */
} TmWindow;

/** Writes w*h*3 bytes to @rgb: bilinear when enlarging, the mean over each pixel's area when shrinking, @fill
 * outside. A size equal to the picture's copies pixel for pixel. FALSE when there is no memory. Any thread.
 */
gboolean tm_resample_rgb(const TmSample *in, const TmWindow *win, const guint8 fill[3], guint8 *rgb);
/** Writes w*h bytes to @labels: the nearest source pixel, TM_VOID outside and where @in has no mask. FALSE
 * when there is no memory. */
gboolean tm_resample_labels(const TmSample *in, const TmWindow *win, guint8 *labels);
