#include "ui/ink.h"

#include <adwaita.h>

static const guint32 inks[TM_N_INKS][2] = {
    [TM_INK_TRAINING] = {0x1c71d8, 0x78aeed}, [TM_INK_VALIDATION] = {0xc64600, 0xffa348},
    [TM_INK_RATE] = {0x813d9c, 0xc9a3e8},     [TM_INK_LIVE] = {0x0d7a74, 0x5bd6cc},
    [TM_INK_GOOD] = {0x1b7446, 0x57e389},     [TM_INK_WARNING] = {0x8a5a00, 0xf8e45c},
    [TM_INK_ERROR] = {0xc01c28, 0xff938c},    [TM_INK_LOAD] = {0xe5a50a, 0xe5a50a},
    [TM_INK_AUGMENT] = {0xb5835a, 0xb5835a},  [TM_INK_NETWORK] = {0x1c71d8, 0x1c71d8},
    [TM_INK_UPDATE] = {0x26a269, 0x26a269},   [TM_INK_DRAW] = {0x0d7a74, 0x0d7a74},
};

GdkRGBA tm_ink(TmInk ink) {
  guint32 v = inks[ink][adw_style_manager_get_dark(adw_style_manager_get_default())];
  return (GdkRGBA){(float)(v >> 16 & 255) / 255, (float)(v >> 8 & 255) / 255, (float)(v & 255) / 255, 1};
}

GdkRGBA tm_ink_text(GtkWidget *w, double alpha) {
  GdkRGBA c;
  gtk_style_context_get_color(gtk_widget_get_style_context(w), &c);
  c.alpha *= (float)alpha;
  return c;
}

void tm_ink_set(cairo_t *cr, const GdkRGBA *c, double alpha) {
  cairo_set_source_rgba(cr, (double)c->red, (double)c->green, (double)c->blue, (double)c->alpha * alpha);
}

gboolean tm_ink_high_contrast(void) {
  return adw_style_manager_get_high_contrast(adw_style_manager_get_default());
}

void tm_ink_watch(GtkWidget *w) {
  AdwStyleManager *m = adw_style_manager_get_default();
  g_signal_connect_object(m, "notify::dark", G_CALLBACK(gtk_widget_queue_draw), w, G_CONNECT_SWAPPED);
  g_signal_connect_object(m, "notify::high-contrast", G_CALLBACK(gtk_widget_queue_draw), w,
                          G_CONNECT_SWAPPED);
}
