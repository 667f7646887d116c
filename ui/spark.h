/* spark.h: the last 60 seconds of one reading as a filled line. A reading that is not to be had leaves a gap.
 * Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/ink.h"

#define TM_TYPE_SPARK (tm_spark_get_type())
G_DECLARE_FINAL_TYPE(TmSpark, tm_spark, TM, SPARK, GtkWidget)

enum { TM_SPARK_SECONDS = 60 };

GtkWidget *tm_spark_new(TmInk ink);
/** @full: the value at the top of the well; 0 fits it to the greatest value seen. */
void tm_spark_set_full(TmSpark *s, double full);
/** Replaces the points: @n ages in seconds (0 now), newest last, with values (NAN: none). */
void tm_spark_set_points(TmSpark *s, const float *ages, const float *values, guint n);
