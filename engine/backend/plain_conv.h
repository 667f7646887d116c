/* plain_conv.h: ref's convolutions for who has no other: the cpu backend, where neither an own kernel nor
 * oneDNN runs a shape. */
#pragma once

#include "engine/core/view.h"
#include "engine/graph/node.h"

/** Bytes of work space for @n, a conv, conv_transpose or conv_dw. */
gsize tm_plain_conv_work(const TmNode *n);
/** Runs @n on views of its shapes (channel slices too) on the calling thread. */
void tm_plain_conv_run(const TmNode *n, guint n_in, const TmView *in, const TmView *out, void *work);
