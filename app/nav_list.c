#include "app/nav_list.h"

#include <glib/gi18n.h>

struct _TmNavList {
  GtkBox parent;
  GtkWidget *list;
};

enum { CHOSEN, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmNavList, tm_nav_list, GTK_TYPE_BOX)

static GtkWidget *row_of(TmNavList *l, const char *name) {
  GtkWidget *row = gtk_widget_get_first_child(l->list);
  while (row && strcmp(gtk_widget_get_name(row), name) != 0) row = gtk_widget_get_next_sibling(row);
  return row;
}

static void row_activated(GtkListBox *list, GtkListBoxRow *row, TmNavList *l) {
  (void)list;
  g_signal_emit(l, signals[CHOSEN], 0, gtk_widget_get_name(GTK_WIDGET(row)));
}

void tm_nav_list_add(TmNavList *l, const char *name, const char *icon, const char *title) {
  GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
            *label = gtk_label_new(title), *badge = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_widget_set_hexpand(label, TRUE);
  gtk_widget_add_css_class(badge, "tm-pill");
  gtk_widget_add_css_class(badge, "numeric");
  gtk_widget_set_valign(badge, GTK_ALIGN_CENTER);
  gtk_widget_set_visible(badge, FALSE);
  gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(icon));
  gtk_box_append(GTK_BOX(box), label);
  gtk_box_append(GTK_BOX(box), badge);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
  gtk_widget_set_name(row, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_list_box_append(GTK_LIST_BOX(l->list), row);
  g_autofree char *tip =
      g_strdup_printf(_("%s (Alt+%d)"), title, gtk_list_box_row_get_index(GTK_LIST_BOX_ROW(row)) + 1);
  gtk_widget_set_tooltip_text(row, tip);
}

void tm_nav_list_select(TmNavList *l, const char *name) {
  GtkWidget *row = row_of(l, name);
  if (row) gtk_list_box_select_row(GTK_LIST_BOX(l->list), GTK_LIST_BOX_ROW(row));
}

void tm_nav_list_set_badge(TmNavList *l, const char *name, const char *text, const char *accessible,
                           gboolean warning) {
  GtkWidget *row = row_of(l, name);
  if (!row) return;
  GtkWidget *badge = gtk_widget_get_last_child(gtk_list_box_row_get_child(GTK_LIST_BOX_ROW(row)));
  gtk_widget_set_visible(badge, text != NULL);
  gtk_label_set_label(GTK_LABEL(badge), text ? text : "");
  if (warning)
    gtk_widget_add_css_class(badge, "warning");
  else
    gtk_widget_remove_css_class(badge, "warning");
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, accessible, -1);
}

static void tm_nav_list_class_init(TmNavListClass *c) {
  (void)c;
  signals[CHOSEN] = g_signal_new("chosen", TM_TYPE_NAV_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void tm_nav_list_init(TmNavList *l) {
  l->list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(l->list), GTK_SELECTION_BROWSE);
  gtk_widget_set_hexpand(l->list, TRUE);
  gtk_widget_add_css_class(l->list, "navigation-sidebar");
  gtk_widget_add_css_class(l->list, "tm-nav");
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Pages"), -1);
  gtk_box_append(GTK_BOX(l), l->list);
  g_signal_connect(l->list, "row-activated", G_CALLBACK(row_activated), l);
}
