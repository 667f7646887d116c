/* plot.h: a plot of curves over one horizontal axis in one or more panes above each other, each with a left
 * and, if asked for, a right axis. A cross spans all panes and reads the values out; dragging zooms, a double
 * click or 0 shows everything again; arrows, Home, End,
 * + and − do the same from the keyboard. Drawn in min/max per pixel column, so a million points stay fluid.
 * Values that are not numbers are marked at the top; on a logarithmic axis values of 0 and below are left out
 * and counted. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/ink.h"
#include "ui/series.h"

#define TM_TYPE_PLOT (tm_plot_get_type())
G_DECLARE_FINAL_TYPE(TmPlot, tm_plot, TM, PLOT, GtkWidget)

typedef struct {
  const char *name; /* translated, static: direct label and read-out; NULL: neither */
  TmInk ink;
  guint pane;
  gboolean right;     /* on the right axis, which begins at 0 */
  gboolean faint;     /* thin and pale: raw values behind a mean */
  gboolean dots;      /* a dot per point, while there is room */
  double dash[2];     /* on, off in pixels; 0: solid */
  gboolean end_value; /* the last value beside the last point */
} TmPlotStyle;

TmPlot *tm_plot_new(void);
/** Adds a pane below the others; returns its number. @weight: share of the height. Titles are translated and
 * static; @right may be NULL. */
guint tm_plot_add_pane(TmPlot *p, const char *title, const char *right_title, double weight);
/** Takes a reference to @s. */
void tm_plot_add_series(TmPlot *p, TmSeries *s, const TmPlotStyle *style);
/** Leaves a series out, as if it were not there; @n_series as in tm_plot_set_ring(). */
void tm_plot_set_shown(TmPlot *p, guint n_series, gboolean shown);
/** Translated, static. */
void tm_plot_set_title(TmPlot *p, guint pane, const char *title);
typedef enum { TM_PLOT_PNG, TM_PLOT_SVG } TmPlotFile;
/** Draws it as it is on the screen, on paper of the theme's card, into a file; a PNG at twice the size. FALSE: @why, a sentence, is set. */
gboolean tm_plot_write(TmPlot *p, const char *path, TmPlotFile kind, char **why);
/** All points of the shown series as CSV: epoch, step, minutes, series, value. Free it. */
char *tm_plot_csv(TmPlot *p);
void tm_plot_set_unit(TmPlot *p, TmUnit unit);
/** Logarithmic left axis of pane 0. */
void tm_plot_set_log(TmPlot *p, gboolean log);
gboolean tm_plot_get_log(TmPlot *p);
/** A ring around a value; @n_series counts from 0 in the order of adding. NAN takes it away. */
void tm_plot_set_ring(TmPlot *p, guint n_series, double step, const char *label);
/** A dashed line through all panes with a label on top. */
void tm_plot_add_marker(TmPlot *p, double step, const char *label);
void tm_plot_clear_markers(TmPlot *p);
/** The series changed: redraws, and renews the description at most once a second. */
void tm_plot_changed(TmPlot *p);
/** Zooms to the horizontal range (in the present unit); @x0 >= @x1 shows everything. */
void tm_plot_zoom(TmPlot *p, double x0, double x1);
void tm_plot_get_range(TmPlot *p, double *x0, double *x1);
/** Puts the cross at @x; NAN takes it away. */
void tm_plot_set_cross(TmPlot *p, double x);
/** The reading in words, as given to assistive technology. Free it. */
char *tm_plot_describe(TmPlot *p);
