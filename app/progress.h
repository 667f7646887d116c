/* progress.h: progress on standard error: a bar with rate and time left on a terminal, plain lines now and
 * then elsewhere. Any thread. */
#pragma once

#include <glib.h>

typedef struct _TmProgress TmProgress;

/** @what is done to @unit: _("Reading pictures"), _("pictures"). */
TmProgress *tm_progress_new(const char *what, const char *unit);
/** Clears the bar and frees. */
void tm_progress_free(TmProgress *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmProgress, tm_progress_free)

/** @done of @total; rate and time left follow from the clock. */
void tm_progress_set(TmProgress *p, guint done, guint total);
/** A bar with words of the caller's: @head before it, @tail behind it. @share 0..1. Elsewhere than on a
 * terminal nothing is printed: say the lines that matter through tm_progress_say(). */
void tm_progress_show(TmProgress *p, double share, const char *head, const char *tail);
/** Prints a line of its own, above the bar. */
void tm_progress_say(TmProgress *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
gboolean tm_progress_on_terminal(const TmProgress *p);

/** "19 s left", "6 min left", "2 h 5 min left"; "" when @seconds is not finite. Free it. */
char *tm_time_left(double seconds);
