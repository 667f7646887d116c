/* meter.h: one reading of the machine: name, value, 60 second graph, caption. A reading that is not to be had
 * says so. Main thread. */
#pragma once

#include "engine/monitor/monitor.h"
#include "ui/spark.h"

#define TM_TYPE_METER (tm_meter_get_type())
G_DECLARE_FINAL_TYPE(TmMeter, tm_meter, TM, METER, GtkBox)

/** @title is translated. */
GtkWidget *tm_meter_new(const char *title, TmReading reading, TmInk ink);
/** The value at the top of the graph (percent, bytes, degrees); 0 fits. */
void tm_meter_set_full(TmMeter *m, double full);
/** The line under the graph while the reading is there, and the reason while it is not. Copied; NULL clears.
 */
void tm_meter_set_caption(TmMeter *m, const char *caption, const char *missing);
/** New samples, oldest first. */
void tm_meter_update(TmMeter *m, const TmMonitorSample *samples, guint n);
/** "62 %", "3.1 GB", "61 °C": the text of a value of @reading. Free it. */
char *tm_meter_text(TmReading reading, double value);
/** Feeds @reading of @samples into a spark; returns the newest value, NAN when it is not there. */
double tm_meter_feed(TmSpark *s, TmReading reading, const TmMonitorSample *samples, guint n);
