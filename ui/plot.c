#include "ui/plot_private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

G_DEFINE_FINAL_TYPE(TmPlot, tm_plot, GTK_TYPE_WIDGET)

static void marker_clear(gpointer m) {
  g_free(((TmPlotMarker *)m)->label);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  if (width < 1 || height < 1) return;
  cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
  tm_plot_draw(TM_PLOT(w), cr, width, height);
  cairo_destroy(cr);
  if (gtk_widget_has_visible_focus(w))
    gtk_snapshot_render_focus(s, gtk_widget_get_style_context(w), 1, 1, width - 2, height - 2);
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  (void)w;
  (void)for_size;
  *min = o == GTK_ORIENTATION_HORIZONTAL ? 220 : 180;
  *nat = o == GTK_ORIENTATION_HORIZONTAL ? 400 : 400;
  *min_base = *nat_base = -1;
}

static void dispose(GObject *o) {
  TmPlot *p = TM_PLOT(o);
  g_clear_handle_id(&p->describe_source, g_source_remove);
  for (guint i = 0; i < p->n_curves; i++) {
    g_clear_pointer(&p->curves[i].series, tm_series_unref);
    g_clear_pointer(&p->curves[i].ring_label, g_free);
  }
  p->n_curves = 0;
  g_clear_pointer(&p->markers, g_array_unref);
  g_clear_pointer(&p->columns, g_array_unref);
  G_OBJECT_CLASS(tm_plot_parent_class)->dispose(o);
}

static void tm_plot_class_init(TmPlotClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(c), "plot");
}

static void tm_plot_init(TmPlot *p) {
  p->cross = p->drag0 = p->drag1 = p->pan0 = p->pan1 = NAN;
  p->markers = g_array_new(FALSE, TRUE, sizeof(TmPlotMarker));
  g_array_set_clear_func(p->markers, marker_clear);
  p->columns = g_array_new(FALSE, FALSE, sizeof(TmColumn));
  gtk_widget_set_focusable(GTK_WIDGET(p), TRUE);
  gtk_widget_add_css_class(GTK_WIDGET(p), "tm-tiny");
  tm_ink_watch(GTK_WIDGET(p));
  tm_plot_add_input(p);
}

TmPlot *tm_plot_new(void) {
  return g_object_new(TM_TYPE_PLOT, NULL);
}

guint tm_plot_add_pane(TmPlot *p, const char *title, const char *right_title, double weight) {
  g_return_val_if_fail(p->n_panes < TM_PLOT_MAX_PANES, 0);
  p->panes[p->n_panes] = (TmPlotPane){.title = title, .right_title = right_title, .weight = weight};
  return p->n_panes++;
}

void tm_plot_add_series(TmPlot *p, TmSeries *s, const TmPlotStyle *style) {
  g_return_if_fail(p->n_curves < TM_PLOT_MAX_SERIES && style->pane < p->n_panes);
  p->curves[p->n_curves++] =
      (TmPlotCurve){.series = tm_series_ref(s), .style = *style, .ring = NAN, .label_slot = -1};
}

void tm_plot_set_shown(TmPlot *p, guint n_series, gboolean shown) {
  g_return_if_fail(n_series < p->n_curves);
  p->curves[n_series].hidden = !shown;
  tm_plot_changed(p);
}

void tm_plot_set_title(TmPlot *p, guint pane, const char *title) {
  p->panes[pane].title = title;
  tm_plot_changed(p);
}

void tm_plot_set_unit(TmPlot *p, TmUnit unit) {
  if (p->unit == unit) return;
  p->unit = unit;
  p->zoom0 = p->zoom1 = 0;
  p->cross = NAN;
  tm_plot_changed(p);
}

void tm_plot_set_log(TmPlot *p, gboolean log) {
  p->log = log;
  tm_plot_changed(p);
}

gboolean tm_plot_get_log(TmPlot *p) {
  return p->log;
}

void tm_plot_set_ring(TmPlot *p, guint n_series, double step, const char *label) {
  g_return_if_fail(n_series < p->n_curves);
  p->curves[n_series].ring = step;
  g_free(p->curves[n_series].ring_label);
  p->curves[n_series].ring_label = g_strdup(label);
  tm_plot_changed(p);
}

void tm_plot_add_marker(TmPlot *p, double step, const char *label) {
  TmPlotMarker m = {step, g_strdup(label)};
  g_array_append_val(p->markers, m);
  tm_plot_changed(p);
}

void tm_plot_clear_markers(TmPlot *p) {
  g_array_set_size(p->markers, 0);
  tm_plot_changed(p);
}

static gboolean describe_later(gpointer data) {
  TmPlot *p = data;
  p->describe_source = 0;
  g_autofree char *text = tm_plot_describe(p);
  gtk_accessible_update_property(GTK_ACCESSIBLE(p), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  return G_SOURCE_REMOVE;
}

void tm_plot_changed(TmPlot *p) {
  gtk_widget_queue_draw(GTK_WIDGET(p));
  if (!p->describe_source) p->describe_source = g_timeout_add_seconds(1, describe_later, p);
}

void tm_plot_zoom(TmPlot *p, double x0, double x1) {
  p->zoom0 = x0;
  p->zoom1 = x1;
  gtk_widget_queue_draw(GTK_WIDGET(p));
}

void tm_plot_get_range(TmPlot *p, double *x0, double *x1) {
  if (p->zoom0 < p->zoom1) {
    *x0 = p->zoom0;
    *x1 = p->zoom1;
    return;
  }
  double last = 0;
  for (guint i = 0; i < p->n_curves; i++) {
    guint n = tm_series_n(p->curves[i].series);
    if (n) last = MAX(last, tm_series_x(p->curves[i].series, p->unit, n - 1));
  }
  double least = p->unit == TM_UNIT_STEPS ? 10 : p->unit == TM_UNIT_EPOCHS ? 1 : 0.25;
  *x0 = 0;
  *x1 = MAX(last * 1.04, least);
}

void tm_plot_set_cross(TmPlot *p, double x) {
  p->cross = x;
  tm_plot_changed(p);
}

double tm_plot_to_px(TmPlot *p, double x) {
  double x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  const graphene_rect_t *a = &p->panes[0].area;
  return (double)a->origin.x + (x - x0) / (x1 - x0) * (double)a->size.width;
}

double tm_plot_from_px(TmPlot *p, double px) {
  double x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  const graphene_rect_t *a = &p->panes[0].area;
  if (a->size.width < 1) return NAN;
  return CLAMP(x0 + (px - (double)a->origin.x) / (double)a->size.width * (x1 - x0), x0, x1);
}

double tm_plot_step_to_x(TmPlot *p, double step) {
  const TmSeries *best = NULL;
  for (guint i = 0; i < p->n_curves; i++)
    if (!best || tm_series_n(p->curves[i].series) > tm_series_n(best)) best = p->curves[i].series;
  if (!best || !tm_series_n(best)) return NAN;
  guint i = MIN(tm_series_find(best, TM_UNIT_STEPS, step), tm_series_n(best) - 1);
  return tm_series_x(best, p->unit, i);
}

const char *tm_plot_unit_name(TmUnit unit) {
  return unit == TM_UNIT_EPOCHS ? _("epoch") : unit == TM_UNIT_STEPS ? _("step") : _("minute");
}

char *tm_plot_describe(TmPlot *p) {
  GString *s = g_string_new(NULL);
  double x = p->cross, x0, x1;
  tm_plot_get_range(p, &x0, &x1);
  if (isnan(x)) x = x1;
  for (guint i = 0; i < p->n_curves; i++) {
    const TmPlotCurve *c = &p->curves[i];
    guint at = c->style.name && !c->hidden ? tm_series_nearest(c->series, p->unit, x) : G_MAXUINT;
    if (at == G_MAXUINT) continue;
    if (!s->len) {
      g_autofree char *where = tm_words_value(tm_series_x(c->series, p->unit, at));
      g_string_append_printf(s, "%s %s: ", tm_plot_unit_name(p->unit), where);
    } else {
      g_string_append(s, ", ");
    }
    g_autofree char *value = tm_words_value(tm_series_y(c->series, at));
    g_string_append_printf(s, "%s %s", c->style.name, value);
  }
  for (guint i = 0; i < p->n_curves; i++) {
    const TmPlotCurve *c = &p->curves[i];
    guint at = isnan(c->ring) || c->hidden ? G_MAXUINT : tm_series_find(c->series, TM_UNIT_STEPS, c->ring);
    if (at >= tm_series_n(c->series)) continue;
    g_autofree char *value = tm_words_value(tm_series_y(c->series, at));
    g_string_append_printf(s, _(". Best %s %s at epoch %.0f"), p->panes[c->style.pane].title, value,
                           tm_series_x(c->series, TM_UNIT_EPOCHS, at));
  }
  g_string_append(s, s->len ? "." : _("No values yet."));
  return g_string_free(s, FALSE);
}
