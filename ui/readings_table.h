/* readings_table.h: a window with the last minute of a device in numbers, as they were when it was opened, for reading with a screen
 * reader and for copying. Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/monitor/devices.h"

/** Presents it over @parent. @sensor: that one only; -1: all. */
void tm_readings_table_present(GtkWindow *parent, TmDevices *d, guint device, int sensor);
