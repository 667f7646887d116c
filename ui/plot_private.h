/* plot_private.h: what the three files of the plot share. */
#pragma once

#include "ui/axis.h"
#include "ui/plot.h"

enum { TM_PLOT_MAX_PANES = 4, TM_PLOT_MAX_SERIES = 12 };

typedef struct {
  const char *title, *right_title;
  double weight;
  /* Of the last drawing: */
  graphene_rect_t area; /* inside the axes, widget pixels */
  TmAxis left, right;
  guint low, bad; /* points left out in view */
} TmPlotPane;

typedef struct {
  TmSeries *series;
  TmPlotStyle style;
  double ring; /* step; NAN none */
  char *ring_label;
  gboolean hidden;
  int label_slot; /* where the direct label sits; -1: not placed yet */
} TmPlotCurve;

typedef struct {
  double step;
  char *label;
} TmPlotMarker;

struct _TmPlot {
  GtkWidget parent;
  TmPlotPane panes[TM_PLOT_MAX_PANES];
  guint n_panes;
  TmPlotCurve curves[TM_PLOT_MAX_SERIES];
  guint n_curves;
  GArray *markers; /* TmPlotMarker */
  TmUnit unit;
  gboolean log;
  double zoom0, zoom1; /* zoom0 >= zoom1: everything */
  double cross;        /* NAN: none */
  double drag0, drag1; /* in x; NAN: no drag */
  double pan0, pan1;   /* the range when panning began; NAN: a drag zooms */
  GArray *columns;     /* TmColumn: scratch of drawing */
  guint describe_source;
};

void tm_plot_draw(TmPlot *p, cairo_t *cr, int width, int height);
void tm_plot_add_input(TmPlot *p);
/** Horizontal place of @x in widget pixels, and back. */
double tm_plot_to_px(TmPlot *p, double x);
double tm_plot_from_px(TmPlot *p, double px);
/** The x of optimizer step @step in the present unit, from the longest series. NAN when there are no points.
 */
double tm_plot_step_to_x(TmPlot *p, double step);
const char *tm_plot_unit_name(TmUnit unit);
