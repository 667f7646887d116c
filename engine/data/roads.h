/* roads.h: the demo roads: road scenes with exact masks, drawn from a seed. CamVid's 11 classes and void. */
#pragma once

#include <glib.h>

/** Draws scene @index of @seed: a perspective road with lane marks, pavement, buildings, trees, sky, poles, signs, fences, cars, pedestrians,
 * bicyclists, in changing light and weather. @rgb holds w*h*3, @labels w*h (class indices of tm_class_table_camvid(), 255 void).
 * The same arguments give the same bytes on every machine (integer and IEEE float arithmetic only). w, h >= 16. Any thread; allocates
 * only on the heap, a few times w*h. */
void tm_roads_draw(guint64 seed, guint index, int w, int h, guint8 *rgb, guint8 *labels);
