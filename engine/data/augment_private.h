/* augment_private.h: the loader's way into augmentation: straight into a batch. Private to data. */
#pragma once

#include "engine/data/augment.h"

/** As tm_augment_apply(), into memory of the caller: crop_w*crop_h*3 bytes and crop_w*crop_h bytes. The crop
 * must be set. Void where @in has no mask. */
gboolean tm_augment_into(const TmAugment *a, TmRandom *r, const TmSample *in, guint8 *rgb, guint8 *labels,
                         GError **error);
