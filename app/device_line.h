/* device_line.h: the sidebar's last line: the device that trains, its load over a minute, memory and
 * temperature. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/monitor/monitor.h"

#define TM_TYPE_DEVICE_LINE (tm_device_line_get_type())
G_DECLARE_FINAL_TYPE(TmDeviceLine, tm_device_line, TM, DEVICE_LINE, GtkBox)

/** The GPU where there is one, else the processor. m lives for the call. */
void tm_device_line_set_machine(TmDeviceLine *l, const TmMachine *m);
/** New samples, oldest first; n may be 0. */
void tm_device_line_update(TmDeviceLine *l, const TmMonitorSample *samples, guint n);
