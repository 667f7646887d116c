/* scrubber.h: one slider through all epochs of a run, with a play button and four key epochs below it, each with its picture; and a second
 * epoch to swipe against. It only chooses: who owns it shows what was chosen. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/scene.h"

#define TM_TYPE_SCRUBBER (tm_scrubber_get_type())
G_DECLARE_FINAL_TYPE(TmScrubber, tm_scrubber, TM, SCRUBBER, GtkBox)

enum { TM_SCRUBBER_KEYS = 4 };
#define TM_SCRUBBER_NOW G_MAXUINT /* the network as it is now, after the last epoch */

/* Signals: "epoch-chosen" (): tm_scrubber_get_epoch() gives another one. "swipe-changed" (): tm_scrubber_get_swipe() or its split do.
 * "keys-changed" (): the key epochs are others, and their pictures are wanted. */
GtkWidget *tm_scrubber_new(void);
/** The epochs (from 0, ascending) that can be shown. The slider ends with the last of them. */
void tm_scrubber_set_epochs(TmScrubber *s, const guint *epochs, guint n);
/** One of the epochs, or TM_SCRUBBER_NOW. */
guint tm_scrubber_get_epoch(TmScrubber *s);
void tm_scrubber_set_epoch(TmScrubber *s, guint epoch);
/** The epoch to swipe against; TM_SCRUBBER_NOW: no swipe. @split: 0..1 of the width. */
guint tm_scrubber_get_swipe(TmScrubber *s, double *split);
void tm_scrubber_set_split(TmScrubber *s, double split);
/** The @i-th key epoch; FALSE when there are not so many. */
gboolean tm_scrubber_get_key(TmScrubber *s, guint i, guint *epoch);
void tm_scrubber_set_key_scene(TmScrubber *s, guint i, TmScene *scene);
