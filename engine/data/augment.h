/* augment.h: one random variant of a picture and its mask: the same geometry for both, colour for the picture only. */
#pragma once

#include "engine/core/random.h"
#include "engine/data/sample.h"

typedef struct {
  float scale_min, scale_max; /* 1,1 off; zoom of the picture before the crop */
  float flip;                 /* probability of a mirror, left-right */
  float rotate;               /* degrees, uniform within +-rotate */
  float brightness;           /* gain uniform in 1 +- brightness */
  float offset;               /* added to all channels, uniform within +-offset (0..255 scale) */
  float contrast, saturation; /* factor uniform in 1 +- value */
  float hue;                  /* degrees, uniform within +-hue */
  int crop_w, crop_h;         /* output size; 0: the picture's own */
} TmAugment;

/** Nothing changes but the crop. */
void tm_augment_none(TmAugment *a);

/** Draws from @r (a fixed number of draws, whatever the settings) and writes crop_w x crop_h into @out, allocated by the callee and freed
 * with tm_sample_clear(). Picture bilinear (area-averaged when shrinking), mask nearest; outside of the picture: the picture's mean colour
 * and TM_VOID. A picture smaller than the crop is padded so. Scale 1, no rotation is exact, pixel for pixel. Any thread. */
gboolean tm_augment_apply(const TmAugment *a, TmRandom *r, const TmSample *in, TmSample *out, GError **error);
