#include "ui/widget_png.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "engine/core/error.h"
#include "engine/run/atomic.h"

enum { RIM = 12 };

static cairo_status_t append(void *closure, const unsigned char *data, unsigned int n) {
  g_byte_array_append(closure, data, n);
  return CAIRO_STATUS_SUCCESS;
}

gboolean tm_widget_write_png(GtkWidget *w, const char *path, GError **error) {
  const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(w);
  GtkSnapshot *snapshot = gtk_snapshot_new();
  const gboolean dark = adw_style_manager_get_dark(adw_style_manager_get_default());
  const GdkRGBA card = dark ? (GdkRGBA){0.21f, 0.21f, 0.21f, 1} : (GdkRGBA){1, 1, 1, 1};
  gtk_snapshot_append_color(snapshot, &card, &GRAPHENE_RECT_INIT(0, 0, (float)width + 2 * RIM, (float)height + 2 * RIM));
  gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(RIM, RIM));
  gdk_paintable_snapshot(paintable, snapshot, MAX(width, 1), MAX(height, 1));
  GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
  cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width + 2 * RIM, height + 2 * RIM);
  cairo_t *cr = cairo_create(s);
  if (node) gsk_render_node_draw(node, cr);
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  const gboolean drawn = width > 0 && height > 0 && node &&
                         cairo_surface_write_to_png_stream(s, append, bytes) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cr);
  cairo_surface_destroy(s);
  g_clear_pointer(&node, gsk_render_node_unref);
  if (drawn) return tm_atomic_write_file(path, bytes->data, bytes->len, error);
  g_autofree char *shown = g_filename_display_name(path);
  g_set_error(error, TM_ERROR, TM_ERROR_FILE, _("“%s” cannot be drawn while it is not on the screen."), shown);
  return FALSE;
}
