/* live_settings.h: what can be changed while a run goes on: the learning rate, halved or doubled. Main
 * thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_LIVE_SETTINGS (tm_live_settings_get_type())
G_DECLARE_FINAL_TYPE(TmLiveSettings, tm_live_settings, TM, LIVE_SETTINGS, GtkBox)

/* Signal "rate-factor" (double): the rate is to be multiplied from here on. */
GtkWidget *tm_live_settings_new(void);
/** The rate now; NAN: none yet. */
void tm_live_settings_set_rate(TmLiveSettings *l, double rate);
/** What was done last ("÷ 2 at 8.4"); NULL clears. */
void tm_live_settings_set_note(TmLiveSettings *l, const char *note);
