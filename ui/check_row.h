/* check_row.h: a row of the list of checks: what was looked at, and under it, where there is one, the way out with the command to copy.
 * Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/doctor/check.h"

/** A row for an AdwPreferencesGroup or a list box; @check is read here only. */
GtkWidget *tm_check_row_new(const TmCheck *check);
