/* exif.h: the one field of EXIF that changes pixels' places. Pure functions, any thread. */
#pragma once

#include <glib.h>

/** Orientation 1..8 from a TIFF block ("MM\0*" or "II*\0" onwards); 1 when absent or damaged. */
int tm_exif_orientation(const guint8 *tiff, gsize size);
/** TRUE for orientations 5..8, which swap width and height. */
gboolean tm_exif_swaps(int orientation);
/** Writes the upright picture of @src (h*w*3) into @dst, whose rows have h pixels where tm_exif_swaps(), else
 * w. */
void tm_exif_turn(const guint8 *src, int w, int h, int orientation, guint8 *dst);
