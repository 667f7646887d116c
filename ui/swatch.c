#include "ui/swatch.h"

#include <adwaita.h>

#include "ui/ink.h"

enum { SIDE = 12 };

struct _TmSwatch {
  GtkWidget parent;
  guint32 rgb;
};

G_DEFINE_FINAL_TYPE(TmSwatch, tm_swatch, GTK_TYPE_WIDGET)

static void snapshot(GtkWidget *w, GtkSnapshot *s) {
  TmSwatch *sw = TM_SWATCH(w);
  float x = (float)((gtk_widget_get_width(w) - SIDE) / 2), y = (float)((gtk_widget_get_height(w) - SIDE) / 2);
  GskRoundedRect r;
  gsk_rounded_rect_init_from_rect(&r, &GRAPHENE_RECT_INIT(x, y, SIDE, SIDE), 3);
  gtk_snapshot_push_rounded_clip(s, &r);
  if (sw->rgb == G_MAXUINT32) {
    static const GskColorStop stops[] = {{0, {0.23f, 0.23f, 0.24f, 1}},
                                         {0.5f, {0.23f, 0.23f, 0.24f, 1}},
                                         {0.5f, {0.6f, 0.6f, 0.62f, 1}},
                                         {1, {0.6f, 0.6f, 0.62f, 1}}};
    gtk_snapshot_append_repeating_linear_gradient(s, &r.bounds, &GRAPHENE_POINT_INIT(x, y),
                                                  &GRAPHENE_POINT_INIT(x + 3.5f, y + 3.5f), stops, 4);
  } else {
    GdkRGBA c = {(float)(sw->rgb >> 16 & 255) / 255, (float)(sw->rgb >> 8 & 255) / 255,
                 (float)(sw->rgb & 255) / 255, 1};
    gtk_snapshot_append_color(s, &c, &r.bounds);
  }
  gtk_snapshot_pop(s);
  gboolean dark = adw_style_manager_get_dark(adw_style_manager_get_default());
  GdkRGBA edge = dark ? (GdkRGBA){1, 1, 1, 0.35f} : (GdkRGBA){0, 0, 0, 0.28f};
  gtk_snapshot_append_border(s, &r, (float[]){1, 1, 1, 1}, (GdkRGBA[]){edge, edge, edge, edge});
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base) {
  (void)w;
  (void)o;
  (void)for_size;
  *min = *nat = SIDE;
  *min_base = *nat_base = -1;
}

static void tm_swatch_class_init(TmSwatchClass *c) {
  GTK_WIDGET_CLASS(c)->snapshot = snapshot;
  GTK_WIDGET_CLASS(c)->measure = measure;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void tm_swatch_init(TmSwatch *s) {
  tm_ink_watch(GTK_WIDGET(s));
}

GtkWidget *tm_swatch_new(guint32 rgb) {
  TmSwatch *s = g_object_new(TM_TYPE_SWATCH, NULL);
  s->rgb = rgb;
  return GTK_WIDGET(s);
}
