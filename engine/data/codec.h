/* codec.h: the decoders behind image.h and mask.h. Private to data. Each reads from memory, never prints,
 * never ends the process. */
#pragma once

#include "engine/data/file_bytes.h"
#include "engine/data/image.h"
#include "engine/data/mask.h"

/** The kind by signature; TM_ERROR_DATA names @name and, where the signature is known, the format it has. */
gboolean tm_codec_kind(const TmFileBytes *b, const char *name, TmImageKind *out, GError **error);
/** Refuses sizes beyond the limits of image.h, or that need more than half of the free memory.
 * @bytes_per_pixel is what decoding needs at its peak. */
gboolean tm_codec_check_size(const char *name, guint w, guint h, double bytes_per_pixel, GError **error);
/** g_try_malloc0() with a sentence naming @name. */
guint8 *tm_codec_alloc(const char *name, guint64 bytes, GError **error);

/* @name is for messages. @damaged (optional) is set when a checksum was wrong, so that the caller can read
 * the file again. */
gboolean tm_png_info(const TmFileBytes *b, const char *name, TmImageInfo *out, GError **error);
gboolean tm_png_read_picture(const TmFileBytes *b, const char *name, TmPicture *out, gboolean *damaged,
                             GError **error);
gboolean tm_png_read_mask(const TmFileBytes *b, const char *name, TmMask *out, gboolean *damaged,
                          GError **error);

gboolean tm_jpeg_info(const TmFileBytes *b, const char *name, TmImageInfo *out, GError **error);
/** @max_side: 0 or the side down to which the decoder may reduce by itself (it gives at least that, unless
 * the picture is smaller). */
gboolean tm_jpeg_read_picture(const TmFileBytes *b, const char *name, int max_side, TmPicture *out,
                              GError **error);

/** Fills @error for a file whose checksum was wrong, after reading it again: damaged on disk, or a fault of
 * disk or memory. Replaces what
 * @error held. */
void tm_codec_explain_damage(const char *path, const TmFileBytes *first, GError **error);
