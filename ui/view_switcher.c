#include "ui/view_switcher.h"

#include <glib/gi18n.h>

void tm_view_switcher_fill(GtkBox *row, const char *const *names, const char *const *icons, guint n,
                           GtkWidget **buttons, GCallback toggled, gpointer user) {
  for (guint i = 0; i < n; i++) {
    GtkWidget *b = gtk_toggle_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(icons[i]));
    gtk_box_append(GTK_BOX(box), gtk_label_new(_(names[i])));
    gtk_button_set_child(GTK_BUTTON(b), box);
    gtk_widget_add_css_class(b, "flat");
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, _(names[i]), -1);
    if (i) gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(b), GTK_TOGGLE_BUTTON(buttons[0]));
    buttons[i] = b;
    gtk_box_append(row, b);
  }
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(buttons[0]), TRUE);
  for (guint i = 0; i < n; i++) g_signal_connect(buttons[i], "toggled", toggled, user);
}
