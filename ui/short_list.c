#include "ui/short_list.h"

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer chars) {
  (void)f;
  GtkWidget *l = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  if (chars) {
    gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_width_chars(GTK_LABEL(l), GPOINTER_TO_INT(chars));
  }
  gtk_list_item_set_child(item, l);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer user) {
  (void)f;
  (void)user;
  gtk_label_set_label(GTK_LABEL(gtk_list_item_get_child(item)),
                      gtk_string_object_get_string(gtk_list_item_get_item(item)));
}

static GtkListItemFactory *factory_new(int chars) {
  GtkListItemFactory *f = gtk_signal_list_item_factory_new();
  g_signal_connect(f, "setup", G_CALLBACK(setup), GINT_TO_POINTER(chars));
  g_signal_connect(f, "bind", G_CALLBACK(bind), NULL);
  return f;
}

void tm_short_list_set_up(GtkDropDown *d, int chars) {
  g_autoptr(GtkListItemFactory) button = factory_new(chars);
  g_autoptr(GtkListItemFactory) list = factory_new(0);
  gtk_drop_down_set_factory(d, button);
  gtk_drop_down_set_list_factory(d, list);
}
