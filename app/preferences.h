/* preferences.h: what the program keeps for a person from one start to the next: GSettings of the schema io.github.tarmac.Tarmac, installed or, in
 * a build folder, beside the program. Main thread. */
#pragma once

#include <gio/gio.h>

/** The program's settings, for its life; NULL where the schema is not found: then the defaults hold and nothing is kept. */
GSettings *tm_preferences(void);
/** The child "window" of it: size, page, project; NULL as above. */
GSettings *tm_preferences_window(void);
/** A switch; TRUE where nothing is kept. */
gboolean tm_preferences_get_flag(const char *key);
