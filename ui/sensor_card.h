/* sensor_card.h: one sensor of a device: title, value, the last minute as a graph, its limit in words. The graph takes the keyboard and
 * has a menu: copy, show as table. Main thread. */
#pragma once

#include "engine/monitor/devices.h"
#include "ui/spark.h"

#define TM_TYPE_SENSOR_CARD (tm_sensor_card_get_type())
G_DECLARE_FINAL_TYPE(TmSensorCard, tm_sensor_card, TM, SENSOR_CARD, GtkBox)

/** @sensor is read here only. @small: a core among many, title and value in one line over a low graph. */
GtkWidget *tm_sensor_card_new(const TmSensor *sensor, TmInk ink, gboolean small);
/** Of the model that the graph's menu shows; its actions are found by name from the card upwards. Not owned. */
void tm_sensor_card_set_menu(TmSensorCard *c, GMenuModel *menu);
void tm_sensor_card_set_graph_height(TmSensorCard *c, int height);
/** The last minute; n 0: no sample yet, which shows “–”; a newest value of NAN shows “not available”. */
void tm_sensor_card_update(TmSensorCard *c, const float *ages, const float *values, guint n);

/** "62 %", "3.1 GB", "61 °C"; "not available" for NAN. Free it. */
char *tm_sensor_text(TmUnit unit, double value);
/** The colour that readings of this unit have everywhere. */
TmInk tm_sensor_ink(TmUnit unit);
