/* png_write.h: pictures and masks written as PNG files.
 *
 * All writers are atomic: the bytes go to a temporary file beside @path, which is then renamed over it, so a
 * reader sees the old file or the new one and never half of one. On failure @path is as before and the
 * temporary file is gone. TM_ERROR_NO_SPACE when the disk is full, TM_ERROR_FILE for other failures, both
 * with the file's name. Any thread; no state is shared. */
#pragma once

#include "engine/core/error.h"

/** Writes @labels (h*w, row 0 on top) as an 8-bit palette PNG whose pixel values are the labels themselves.
 * @palette holds @n colours 0xRRGGBB, n in 1..256, for values 0..n-1; values above get grey steps, so that
 * the file is valid whatever the labels. */
gboolean tm_png_write_index(const char *path, const guint8 *labels, int w, int h, const guint32 *palette,
                            guint n, GError **error);
/** Writes @values (h*w) as a 16-bit grey PNG: masks whose values do not fit in a palette. */
gboolean tm_png_write_grey16(const char *path, const guint16 *values, int w, int h, GError **error);
/** Writes @rgb (h*w*3) as an 8-bit RGB PNG. */
gboolean tm_png_write_rgb(const char *path, const guint8 *rgb, int w, int h, GError **error);
