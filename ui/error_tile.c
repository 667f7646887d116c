#include "ui/error_tile.h"

#include <glib/gi18n.h>

#include "engine/core/label.h"
#include "ui/compose.h"
#include "ui/swatch.h"

enum { WIDTH = 98, HEIGHT = 74, DRAWN = 224 };

struct _TmErrorTile {
  GtkButton parent;
  GtkWidget *mask, *errors;
};

G_DEFINE_FINAL_TYPE(TmErrorTile, tm_error_tile, GTK_TYPE_BUTTON)

/* A picture asks for its texture's size; in an overlay it takes what its place has. */
static GtkWidget *picture_new(GtkWidget *row) {
  GtkWidget *p = gtk_picture_new(), *overlay = gtk_overlay_new(), *place = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_picture_set_content_fit(GTK_PICTURE(p), GTK_CONTENT_FIT_COVER);
  gtk_widget_set_size_request(place, WIDTH, HEIGHT);
  gtk_widget_set_overflow(p, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class(p, "tm-thumb");
  gtk_widget_set_can_target(p, FALSE);
  gtk_overlay_set_child(GTK_OVERLAY(overlay), place);
  gtk_overlay_add_overlay(GTK_OVERLAY(overlay), p);
  gtk_box_append(GTK_BOX(row), overlay);
  return p;
}

static GtkWidget *label_new(const char *text, const char *css) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars(GTK_LABEL(l), 1);
  gtk_widget_set_hexpand(l, TRUE);
  gtk_widget_add_css_class(l, "tm-tiny");
  gtk_widget_add_css_class(l, css);
  gtk_widget_add_css_class(l, "numeric");
  return l;
}

static guint32 rgb_of(const TmClass *c) {
  return (guint32)c->colour[0] << 16 | (guint32)c->colour[1] << 8 | c->colour[2];
}

static void add_class(GtkWidget *row, const TmClass *c) {
  GtkWidget *l = gtk_label_new(c->name);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class(l, "tm-tiny");
  gtk_box_append(GTK_BOX(row), tm_swatch_new(rgb_of(c)));
  gtk_box_append(GTK_BOX(row), l);
}

static void tm_error_tile_class_init(TmErrorTileClass *c) {
  (void)c;
}

static void tm_error_tile_init(TmErrorTile *t) {
  gtk_widget_add_css_class(GTK_WIDGET(t), "flat");
  gtk_widget_add_css_class(GTK_WIDGET(t), "tm-tile");
}

GtkWidget *tm_error_tile_new(const char *name, const char *score, const TmClassTable *classes, guint truth, guint call) {
  TmErrorTile *t = g_object_new(TM_TYPE_ERROR_TILE, NULL);
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3), *pictures = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 3),
            *words = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *mistake = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
  t->mask = picture_new(pictures);
  t->errors = picture_new(pictures);
  GtkWidget *title = label_new(score, "tm-strong"), *which = label_new(name, "tm-dim");
  gtk_label_set_xalign(GTK_LABEL(which), 1);
  gtk_box_append(GTK_BOX(words), title);
  gtk_box_append(GTK_BOX(words), which);
  g_autofree char *accessible = NULL;
  if (call < classes->n && truth < classes->n) {
    add_class(mistake, &classes->classes[truth]);
    gtk_box_append(GTK_BOX(mistake), label_new("→", "tm-dim"));
    gtk_widget_set_hexpand(gtk_widget_get_last_child(mistake), FALSE);
    gtk_label_set_max_width_chars(GTK_LABEL(gtk_widget_get_last_child(mistake)), -1);
    add_class(mistake, &classes->classes[call]);
    accessible = g_strdup_printf(_("%s, %s, mostly %s called %s"), name, score, classes->classes[truth].name,
                                 classes->classes[call].name);
  } else {
    gtk_box_append(GTK_BOX(mistake), label_new(_("no mistakes"), "tm-dim"));
    accessible = g_strdup_printf("%s, %s", name, score);
  }
  gtk_box_append(GTK_BOX(box), pictures);
  gtk_box_append(GTK_BOX(box), words);
  gtk_box_append(GTK_BOX(box), mistake);
  gtk_button_set_child(GTK_BUTTON(t), box);
  gtk_widget_set_tooltip_text(GTK_WIDGET(t), accessible);
  gtk_accessible_update_property(GTK_ACCESSIBLE(t), GTK_ACCESSIBLE_PROPERTY_LABEL, accessible, -1);
  return GTK_WIDGET(t);
}

static void paint(GtkWidget *picture, const TmScene *s, TmShow show) {
  int w, h;
  tm_compose_size(s->w, s->h, DRAWN, &w, &h);
  const gsize stride = (gsize)w * 4;
  guint8 *pixels = g_malloc(stride * (gsize)h);
  const TmComposition k = {.show = show,
                           .w = s->w,
                           .h = s->h,
                           .rgb = s->rgb,
                           .labels = s->labels,
                           .truth = s->truth,
                           .colours = s->colours,
                           .n_classes = s->classes->n,
                           .opacity = 0.55};
  tm_compose(&k, pixels, w, h, stride);
  g_autoptr(GBytes) bytes = g_bytes_new_take(pixels, stride * (gsize)h);
  g_autoptr(GdkTexture) texture = gdk_memory_texture_new(w, h, GDK_MEMORY_R8G8B8A8, bytes, stride);
  gtk_picture_set_paintable(GTK_PICTURE(picture), GDK_PAINTABLE(texture));
}

void tm_error_tile_set_scene(TmErrorTile *t, TmScene *scene) {
  paint(t->mask, scene, TM_SHOW_MASK);
  paint(t->errors, scene, TM_SHOW_ERRORS);
}
