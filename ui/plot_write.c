/* The plot in files: as a picture, and its points as a table. */
#include <cairo-svg.h>
#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/plot_private.h"

enum { PNG_SCALE = 2 };

static cairo_surface_t *surface_new(const char *path, TmPlotFile kind, int w, int h) {
  if (kind == TM_PLOT_SVG) return cairo_svg_surface_create(path, w, h);
  cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w * PNG_SCALE, h * PNG_SCALE);
  cairo_surface_set_device_scale(s, PNG_SCALE, PNG_SCALE);
  return s;
}

gboolean tm_plot_write(TmPlot *p, const char *path, TmPlotFile kind, char **why) {
  const int w = MAX(gtk_widget_get_width(GTK_WIDGET(p)), 640), h = MAX(gtk_widget_get_height(GTK_WIDGET(p)), 400), margin = 12;
  cairo_surface_t *surface = surface_new(path, kind, w + 2 * margin, h + 2 * margin);
  cairo_t *cr = cairo_create(surface);
  const GdkRGBA text = tm_ink_text(GTK_WIDGET(p), 1);
  const double paper = (double)text.red > 0.5 ? 0.21 : 1; /* under light text the dark card */
  cairo_set_source_rgb(cr, paper, paper, paper);
  cairo_paint(cr);
  cairo_translate(cr, margin, margin);
  const double cross = p->cross;
  p->cross = NAN;
  tm_plot_draw(p, cr, w, h);
  p->cross = cross;
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (status == CAIRO_STATUS_SUCCESS && kind == TM_PLOT_PNG) status = cairo_surface_write_to_png(surface, path);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS) return TRUE;
  g_autofree char *shown = g_filename_display_name(path);
  *why = g_strdup_printf(_("“%s” cannot be written: %s."), shown, cairo_status_to_string(status));
  return FALSE;
}

static void add_number(GString *out, double x) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (isfinite(x)) g_string_append(out, g_ascii_formatd(text, sizeof text, "%.9g", x));
}

char *tm_plot_csv(TmPlot *p) {
  GString *out = g_string_new("epoch,step,minutes,series,value\n");
  for (guint k = 0; k < p->n_curves; k++) {
    const TmPlotCurve *c = &p->curves[k];
    const char *name = c->style.name ? c->style.name : _("training, raw");
    for (guint i = 0; !c->hidden && i < tm_series_n(c->series); i++) {
      static const TmUnit units[] = {TM_UNIT_EPOCHS, TM_UNIT_STEPS, TM_UNIT_MINUTES};
      for (guint u = 0; u < G_N_ELEMENTS(units); u++) {
        add_number(out, tm_series_x(c->series, units[u], i));
        g_string_append_c(out, ',');
      }
      g_autofree char *quoted = g_strescape(name, NULL);
      g_string_append_printf(out, "\"%s\",", quoted);
      add_number(out, tm_series_y(c->series, i));
      g_string_append_c(out, '\n');
    }
  }
  return g_string_free(out, FALSE);
}
