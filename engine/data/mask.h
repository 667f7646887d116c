/* mask.h: a mask file's exact values, and their translation to class indices. Private to data.
 *
 * Nothing is scaled or rounded: a 1-bit mask holds 0 and 1, a palette mask holds palette indices. JPEG masks
 * are refused, since lossy compression changes values. */
#pragma once

#include "engine/core/error.h"
#include "engine/data/class_table.h"

typedef enum { TM_MASK_GREY, TM_MASK_PALETTE, TM_MASK_RGB } TmMaskKind;

typedef struct {
  int w, h;
  TmMaskKind kind;
  int depth; /* bits a channel in the file: 1, 2, 4, 8, 16 */
  int bytes; /* of one pixel in @px: 1, 2 (native order) or 3 (R, G, B) */
  guint8 *px;
  guint n_palette;
  guint32 palette[256]; /* 0xRRGGBB */
  gboolean warned;      /* the decoder warned of something that leaves the values right */
} TmMask;

/** As tm_image_read_picture(), for masks. Any thread. */
gboolean tm_mask_read(const char *path, TmMask *out, GError **error);
void tm_mask_clear(TmMask *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TmMask, tm_mask_clear)

/** The value at pixel @i as class tables mean it: grey value, palette index or 0xRRGGBB. With @colour, the
 * colour of grey and palette pixels too. */
gint32 tm_mask_value(const TmMask *m, gsize i, gboolean colour);
/** TRUE when an RGB mask has R = G = B everywhere, which then can be read as an index. */
gboolean tm_mask_is_flat_rgb(const TmMask *m);
/** How many pixels have a value, and where the first of them is. */
typedef struct {
  gint32 value;
  guint64 count;
  int x, y;
} TmMaskValue;

/** Every distinct value with its pixels, TmMaskValue, by value; NULL when there are more than @max. @code as
 * in the class table. A flat RGB mask read as TM_MASK_INDEX gives its grey values. Free with g_array_unref().
 */
GArray *tm_mask_values(const TmMask *m, TmMaskCode code, guint max);

/** Writes w*h class indices; values that @t does not know become TM_VOID. TM_ERROR_DATA when an RGB mask that
 * is no grey in disguise meets a table of indices; the message names @path. */
gboolean tm_mask_labels(const TmMask *m, const TmClassTable *t, const char *path, guint8 *labels,
                        GError **error);

/** TRUE when the mask looks smoothed or lossily compressed: many values, and the rare ones lie alone instead
 * of in areas. */
gboolean tm_mask_looks_smoothed(const TmMask *m);
