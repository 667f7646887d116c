/* sureness.h: how sure a net is of each pixel: the softmax share of the class it names (Guo et al., On
 * Calibration of Modern Neural Networks, 2017, call it the confidence). Pure; any thread. */
#pragma once

#include <glib.h>

/** @logits: @pixels rows of @classes scores; @sure receives the largest softmax share of each row, between
 * 1 / classes and 1. A row that holds no number gives 0. */
void tm_sureness(const float *logits, gsize pixels, guint classes, float *sure);
