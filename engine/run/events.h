/* events.h: TensorBoard event files: TFRecord frames around Event protocol buffers
 * (tensorflow/core/util/event.proto, summary.proto).
 *
 * Every opening begins a new file, with the file version and a SessionLog START, at which TensorBoard drops
 * what older files of the folder hold from that step on. A new file's name sorts after all older ones:
 * TensorBoard reads them in that order and never goes back. One thread at a time. */
#pragma once

#include <glib.h>

#include "engine/core/error.h"

typedef struct _TmEvents TmEvents;

typedef struct {
  const char *tag; /* "loss/train" */
  float value;
} TmScalar;

/** Begins a new event file in @folder that takes over from @step. */
TmEvents *tm_events_open(const char *folder, guint64 step, GError **error);
void tm_events_close(TmEvents *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmEvents, tm_events_close)
/** One event with @n scalars; buffered. */
gboolean tm_events_add(TmEvents *e, guint64 step, guint n, const TmScalar *scalars, GError **error);
gboolean tm_events_flush(TmEvents *e, gboolean sync, GError **error);
