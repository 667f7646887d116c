/* live_settings.h: what can be changed while a run goes on: rate, schedule, class weights, strength of the augmentation, batch, early
 * stop; and the last change taken back. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/train/settings.h"

#define TM_TYPE_LIVE_SETTINGS (tm_live_settings_get_type())
G_DECLARE_FINAL_TYPE(TmLiveSettings, tm_live_settings, TM, LIVE_SETTINGS, GtkBox)

/* Signals: "change" (string key, string to): the person sets a steerable setting; several in a row for the augmentation.
 * The buttons activate train.range-test and train.undo. */
GtkWidget *tm_live_settings_new(void);
/** The settings the run began with: what strength 1 of the augmentation means. */
void tm_live_settings_set_begun(TmLiveSettings *l, const TmSettings *begun);
/** Shows what holds: the settings, the rate now (NAN: none yet), what the schedule is multiplied with, a batch that waits (0: none), and
 * the share of the run that is done. What the person is typing stays. */
void tm_live_settings_show(TmLiveSettings *l, const TmSettings *now, double rate, double factor, int next_batch, double share);
/** What was done last ("÷ 2 at 8.4") and how many changes stand; NULL and 0 clear. */
void tm_live_settings_set_note(TmLiveSettings *l, const char *note, guint n_changes);

/** @s with the augmentation of @begun at @strength times its own; 0 is none. */
void tm_live_settings_strengthen(TmSettings *s, const TmSettings *begun, double strength);
