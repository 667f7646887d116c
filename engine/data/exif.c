#include "engine/data/exif.h"

#include <string.h>

enum { TAG_ORIENTATION = 0x112, TYPE_SHORT = 3, ENTRY = 12 };

static guint32 get(const guint8 *p, int bytes, gboolean big) {
  guint32 v = 0;
  for (int i = 0; i < bytes; i++) v |= (guint32)p[i] << (8 * (big ? bytes - 1 - i : i));
  return v;
}

int tm_exif_orientation(const guint8 *tiff, gsize size) {
  if (size < 8) return 1;
  const gboolean big = memcmp(tiff, "MM\0*", 4) == 0;
  if (!big && memcmp(tiff, "II*\0", 4) != 0) return 1;
  const gsize ifd = get(tiff + 4, 4, big);
  if (ifd > size - 2) return 1;
  const guint n = get(tiff + ifd, 2, big);
  for (guint i = 0; i < n; i++) {
    const gsize at = ifd + 2 + (gsize)i * ENTRY;
    if (at + ENTRY > size) return 1;
    const guint8 *e = tiff + at;
    if (get(e, 2, big) != TAG_ORIENTATION || get(e + 2, 2, big) != TYPE_SHORT) continue;
    const guint32 v = get(e + 8, 2, big);
    return v >= 1 && v <= 8 ? (int)v : 1;
  }
  return 1;
}

gboolean tm_exif_swaps(int orientation) {
  return orientation >= 5 && orientation <= 8;
}

void tm_exif_turn(const guint8 *src, int w, int h, int orientation, guint8 *dst) {
  const gboolean swap = tm_exif_swaps(orientation);
  const int ow = swap ? h : w, oh = swap ? w : h;
  /* Where the stored picture is read from its right edge, its bottom edge. */
  const gboolean right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const gboolean bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int y = 0; y < oh; y++)
    for (int x = 0; x < ow; x++) {
      const int u = swap ? y : x, v = swap ? x : y; /* along the stored row, down the stored column */
      const gsize sx = (gsize)(right ? w - 1 - u : u), sy = (gsize)(bottom ? h - 1 - v : v);
      memcpy(dst + ((gsize)y * (gsize)ow + (gsize)x) * 3, src + (sy * (gsize)w + sx) * 3, 3);
    }
}
