/* write_mask.h: predictions as files: a mask in the dataset's own values, and a picture to look at. Any
 * thread. */
#pragma once

#include "engine/core/error.h"
#include "engine/data/class_table.h"

/** Writes @labels (h*w class indices) as the masks the net learned from are written: a palette PNG of the
 * classes' values, a 16-bit grey one when a value exceeds 255, an RGB one when the table is colour-coded. */
gboolean tm_write_mask(const char *path, const TmClassTable *t, const guint8 *labels, int w, int h,
                       GError **error);
/** Writes @rgb half covered by the classes' colours. */
gboolean tm_write_overlay(const char *path, const TmClassTable *t, const guint8 *rgb, const guint8 *labels,
                          int w, int h, GError **error);
