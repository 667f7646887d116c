/* conv_choose.h: which way a convolution is run. Private to engine/backend/cpu; the owner's thread. */
#pragma once

#include "engine/backend/cpu/conv_way.h"

/** The way for shapes like @s with activations of @type, or NULL when none can.
 *
 * What the backend was told (TmBackendOptions.convolutions) is taken where it can run the shape. Else, where
 * there is more than one way, the fastest: measured on one thread the first time this machine meets such
 * channels, then remembered in the user's cache, so that the same shapes go the same way from then on. */
const CpuConvWay *tm_cpu_conv_choose(CpuBackend *b, const CpuConvShape *s, TmDType type);
/** Forgets what is held in memory (not on disk). */
void tm_cpu_conv_choices_clear(CpuBackend *b);
