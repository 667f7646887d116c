/* viz_cuda.h: rungs A and B of the ladder (viz.h) for pictures that lie in a device's memory. Main thread. */
#pragma once

#include "engine/backend/visible.h"
#include "ui/viz.h"

/** Offers the device that holds @v for drawing: the two rungs appear, or are tried again when it is another
 * device's than before. */
void tm_viz_cuda_offer(TmVisible *v);
/** Draws picture number @picture of @v into what tm_viz_sink_draw_device() lent. FALSE without an error: it
 * is no longer there. */
gboolean tm_viz_cuda_draw(const TmVizMap *map, TmVisible *v, guint64 picture, const TmCompose *how,
                          GError **error);
