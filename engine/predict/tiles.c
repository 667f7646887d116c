#include "engine/predict/tiles.h"

GArray *tm_tiles_plan(int extent, int size, int overlap) {
  GArray *tiles = g_array_new(FALSE, FALSE, sizeof(TmSpan));
  const int one = MIN(size, extent), stride = size - 2 * overlap;
  for (int from = 0, kept = 0; kept < extent; from += stride) {
    /* The last tile moves back to end with the picture, so that no size but one is ever compiled. */
    const gboolean last = from >= extent - one;
    TmSpan t = {.from = last ? extent - one : from, .size = one, .keep_from = kept};
    t.keep_to = last ? extent : t.from + size - overlap;
    kept = t.keep_to;
    g_array_append_val(tiles, t);
  }
  return tiles;
}
