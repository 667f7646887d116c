/* read_scene.h: one picture of a dataset with its truth, read on a thread for a view that may have moved on.
 * Main thread. */
#pragma once

#include <gio/gio.h>

#include "engine/data/dataset.h"
#include "ui/scene.h"

/** Reads @entry of @d; @done is called on the main thread with @source, which lives until then. @reading is
 * the view's one reading: what was under way is cancelled, and it holds this one's cancellable afterwards. */
void tm_read_scene(GObject *source, TmDataset *d, guint entry, GCancellable **reading,
                   GAsyncReadyCallback done);
/** The scene (to unref), or NULL with the reason, G_IO_ERROR_CANCELLED when another reading took its place.
 * @d and
 * @entry receive what was read; @d lives as long as @result and may be NULL. */
TmScene *tm_read_scene_finish(GAsyncResult *result, TmDataset **d, guint *entry, GError **error);
/** Cancels what is under way. */
void tm_read_scene_cancel(GCancellable **reading);
