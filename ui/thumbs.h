/* thumbs.h: small pictures with their masks, decoded on a pool of two threads, kept by bytes. A request that
 * is cancelled is not decoded. Main thread, but for the decoding itself. */
#pragma once

#include "engine/data/dataset.h"
#include "ui/scene.h"

typedef struct _TmThumbs TmThumbs;

/** @side: longest side in pixels; @budget: bytes kept. */
TmThumbs *tm_thumbs_new(TmDataset *d, int side, gsize budget);
/** Cancels everything; returns at once, running decodes end by themselves. */
void tm_thumbs_free(TmThumbs *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmThumbs, tm_thumbs_free)

/** @scene NULL: @error says why. Called on the main thread, never from inside tm_thumbs_request(). */
typedef void (*TmThumbReady)(guint entry, TmScene *scene, const GError *error, gpointer user);

/** The picture if it is kept (referenced); else NULL, and @ready comes later. @id receives what
 * tm_thumbs_cancel() takes (0: nothing pending). */
TmScene *tm_thumbs_request(TmThumbs *t, guint entry, TmThumbReady ready, gpointer user, guint *id);
void tm_thumbs_cancel(TmThumbs *t, guint id);
/** Bytes kept now. */
gsize tm_thumbs_size(TmThumbs *t);
