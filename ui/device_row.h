/* device_row.h: a device in the list: its first reading over a minute, its name, its newest readings in words. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/monitor/devices.h"

#define TM_TYPE_DEVICE_ROW (tm_device_row_get_type())
G_DECLARE_FINAL_TYPE(TmDeviceRow, tm_device_row, TM, DEVICE_ROW, GtkListBoxRow)

/** @devices outlives the row. NULL: the place of a GPU that is not there. */
GtkWidget *tm_device_row_new(TmDevices *devices, guint device);
void tm_device_row_update(TmDeviceRow *r);
/** -1 for the GPU that is not there. */
int tm_device_row_device(TmDeviceRow *r);
