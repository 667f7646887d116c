/* timeline.h: what one training step is made of, as bars on one millisecond axis: the loader's lane (of one
 * worker's time) above the engine's, and one sentence with one cause, one number and what to do. Main thread.
 */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_TIMELINE (tm_timeline_get_type())
G_DECLARE_FINAL_TYPE(TmTimeline, tm_timeline, TM, TIMELINE, GtkWidget)

/* Means over the last steps, in seconds; NAN: not measured yet. */
typedef struct {
  double step, wait, decode, augment, network, update, draw;
} TmTimelineTimes;

GtkWidget *tm_timeline_new(void);
void tm_timeline_set(TmTimeline *t, const TmTimelineTimes *times);

/** The sentence: @strong is its first, bold part, @rest what follows (may be empty). Free both. TRUE when it
 * asks for attention. */
gboolean tm_timeline_sentence(const TmTimelineTimes *times, char **strong, char **rest);
