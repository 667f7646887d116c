#include "ui/draw_text.h"

#include "ui/ink.h"

static PangoLayout *layout_new(GtkWidget *w, const char *text, double scale, TmTextFlags flags) {
  PangoLayout *l = gtk_widget_create_pango_layout(w, text);
  PangoAttrList *attrs = pango_attr_list_new();
  pango_attr_list_insert(attrs, pango_attr_scale_new(scale));
  pango_attr_list_insert(attrs, pango_attr_font_features_new("tnum"));
  if (flags & TM_TEXT_BOLD) pango_attr_list_insert(attrs, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
  pango_layout_set_attributes(l, attrs);
  pango_attr_list_unref(attrs);
  return l;
}

int tm_text_width(GtkWidget *w, const char *text, double scale, TmTextFlags flags, int *height) {
  g_autoptr(PangoLayout) l = layout_new(w, text, scale, flags);
  int width, h;
  pango_layout_get_pixel_size(l, &width, &h);
  if (height) *height = h;
  return width;
}

void tm_text_draw(GtkWidget *w, cairo_t *cr, const char *text, double x, double y, double scale, TmTextFlags flags,
                  int most, const GdkRGBA *ink) {
  g_autoptr(PangoLayout) l = layout_new(w, text, scale, flags);
  int width, height;
  if (most > 0) {
    pango_layout_set_width(l, most * PANGO_SCALE);
    pango_layout_set_ellipsize(l, PANGO_ELLIPSIZE_END);
  }
  pango_layout_get_pixel_size(l, &width, &height);
  if (flags & TM_TEXT_RIGHT) x -= width;
  if (flags & TM_TEXT_CENTRE) x -= width / 2.0;
  tm_ink_set(cr, ink, 1);
  cairo_move_to(cr, x, y - height / 2.0);
  pango_cairo_show_layout(cr, l);
}
