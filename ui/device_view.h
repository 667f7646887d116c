/* device_view.h: the readings of one device as cards: the first over the whole width, the others in two columns, the cores of a processor
 * small below. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/monitor/devices.h"

#define TM_TYPE_DEVICE_VIEW (tm_device_view_get_type())
G_DECLARE_FINAL_TYPE(TmDeviceView, tm_device_view, TM, DEVICE_VIEW, GtkBox)

/** @devices outlives the view. The cards' menus hold the actions "devices.copy-sensor" and "devices.sensor-table" with the sensor's number. */
GtkWidget *tm_device_view_new(TmDevices *devices, guint device);
/** Shows the latest samples. */
void tm_device_view_update(TmDeviceView *v);
/** One column instead of two. */
void tm_device_view_set_narrow(TmDeviceView *v, gboolean narrow);
