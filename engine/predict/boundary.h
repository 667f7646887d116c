/* boundary.h: how well a prediction follows the outlines of the truth (Csurka et al., What is a good evaluation
 * measure for semantic segmentation?, BMVC 2013). Pure; any thread.
 *
 * A pixel is on the boundary of its class when one of its four neighbours within the picture has another class.
 * Void is no class: pixels whose truth is void take part in neither map and make no boundary. Precision is the
 * share of the prediction's boundary pixels that have a boundary pixel of the same class in the truth within
 * @band pixels (Euclidean distance at most @band), recall the reverse, F1 their harmonic mean. */
#pragma once

#include "engine/core/error.h"

/** Writes the boundary F1 of each of @n classes to @f1: NAN when neither map has a boundary of the class, 0 when
 * only one has. @truth and @call hold w*h labels; what is not below @n is void. TM_ERROR_NO_MEMORY. */
gboolean tm_boundary_f1(const guint8 *truth, const guint8 *call, int w, int h, guint n, int band, double *f1,
                        GError **error);
