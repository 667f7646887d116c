/* preferences_window.h: the Preferences window. What is changed holds at once. Main thread. */
#pragma once

#include <adwaita.h>

/** Presents it over @parent. */
void tm_preferences_window_present(GtkWindow *parent);
/** Has the style follow the setting from now on. */
void tm_preferences_apply_style(void);
