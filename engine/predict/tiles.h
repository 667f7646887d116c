/* tiles.h: how a picture too large for one program is cut into overlapping tiles. Pure; any thread. */
#pragma once

#include <glib.h>

/* Along one axis: the net sees from .. from+size-1, and of its answer keep_from .. keep_to-1 is used (picture
 * coordinates). */
typedef struct {
  int from, size, keep_from, keep_to;
} TmSpan;

/** Tiles of @size (or the whole @extent, when that is shorter), @overlap < size/2 of context on inner edges.
 * All have one size; what they keep covers 0 .. extent-1 once and in order. Free the array. */
GArray *tm_tiles_plan(int extent, int size, int overlap);
