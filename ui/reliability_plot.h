/* reliability_plot.h: how often a network is right where it is so and so sure: a bar a bin, the diagonal of a network
 * that knows itself, and the gap between the two. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "engine/predict/reliability.h"

#define TM_TYPE_RELIABILITY_PLOT (tm_reliability_plot_get_type())
G_DECLARE_FINAL_TYPE(TmReliabilityPlot, tm_reliability_plot, TM, RELIABILITY_PLOT, GtkWidget)

GtkWidget *tm_reliability_plot_new(void);
/** Copies TM_RELIABILITY_BINS of them; NULL empties. */
void tm_reliability_plot_set(TmReliabilityPlot *p, const TmReliabilityBin *bins);
