/* curves.h: the card with the loss, the learning rate and the mean IoU of a run, as a plot or as a table.
 * Main thread. */
#pragma once

#include "engine/run/history.h"
#include "ui/plot.h"

#define TM_TYPE_CURVES (tm_curves_get_type())
G_DECLARE_FINAL_TYPE(TmCurves, tm_curves, TM, CURVES, GtkBox)

GtkWidget *tm_curves_new(void);
/** Empties it for a new run. */
void tm_curves_clear(TmCurves *c);
/** Rows as they come (TmStepRow, TmEpochRow); rows with a step seen before replace what came from there on.
 */
void tm_curves_add_steps(TmCurves *c, const TmStepRow *rows, guint n);
void tm_curves_add_epochs(TmCurves *c, const TmEpochRow *rows, guint n);
/** A live change: "rate ÷ 2". */
void tm_curves_clear_marks(TmCurves *c);
void tm_curves_mark(TmCurves *c, double step, const char *label);
/** What is shown over the empty plot: "Building the network"; NULL takes it away. */
void tm_curves_set_activity(TmCurves *c, const char *text);
/** What can cover the curves, given once, and whether it does. */
void tm_curves_set_sheet(TmCurves *c, GtkWidget *sheet);
void tm_curves_show_sheet(TmCurves *c, gboolean show);
/** Little width: leaves out the smoothing. */
void tm_curves_set_compact(TmCurves *c, gboolean compact);
/** Writes the curves shown: @kind is "png", "svg" or "csv". FALSE: @why, a sentence, is set. */
gboolean tm_curves_export(TmCurves *c, const char *path, const char *kind, char **why);
TmPlot *tm_curves_plot(TmCurves *c);
