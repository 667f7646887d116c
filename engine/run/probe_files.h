/* probe_files.h: the masks of a run's probe pictures at every epoch, probes/<name>-epoch-NNNN.png: index PNGs that any viewer shows in the
 * class colours.
 *
 * What they take is bounded: a mask has at most 512 x 512 pixels (a larger one keeps every second, third … of its pixels), and of a
 * picture at most 256 epochs and one are kept: of longer runs every second, fourth … Any thread. */
#pragma once

#include "engine/core/error.h"

enum { TM_PROBE_PIXELS = 512 * 512, TM_PROBE_EPOCHS = 256 };

/** Keeps @labels (h*w) of the picture called @name at @epoch (from 0), unless that is one of those that are not kept. */
gboolean tm_probe_file_write(const char *run, const char *name, guint epoch, const guint8 *labels, int w, int h,
                             const guint32 *palette, guint n, GError **error);
/** The epochs of which there is a mask, ascending guints; free with g_array_unref(). */
GArray *tm_probe_file_epochs(const char *run, const char *name);
/** Reads one into a mask of w x h: what was left out takes its neighbour's. TM_ERROR_DATA when it has not that shape. Free it. */
guint8 *tm_probe_file_read(const char *run, const char *name, guint epoch, int w, int h, GError **error);
