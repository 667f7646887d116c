#include "ui/check_row.h"

#include <glib/gi18n.h>

static GtkWidget *icon_new(TmVerdict v) {
  static const char *const icons[] = {"emblem-ok-symbolic", "dialog-information-symbolic",
                                      "dialog-warning-symbolic", "dialog-error-symbolic"};
  static const char *const styles[] = {"tm-good", "tm-dim", "tm-warn", "tm-bad"};
  GtkWidget *i = gtk_image_new_from_icon_name(icons[v]);
  gtk_widget_add_css_class(i, styles[v]);
  gtk_accessible_update_state(GTK_ACCESSIBLE(i), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE,
                              -1); /* the row's name says it */
  return i;
}

static void copy(GtkButton *b, gpointer user) {
  (void)user;
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(b)), g_object_get_data(G_OBJECT(b), "command"));
  gtk_button_set_icon_name(b, "object-select-symbolic");
}

static GtkWidget *command_row(const char *command) {
  GtkWidget *row = adw_action_row_new(), *b = gtk_button_new_from_icon_name("edit-copy-symbolic");
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), command);
  gtk_widget_add_css_class(row, "tm-command");
  gtk_widget_add_css_class(b, "flat");
  gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text(b, _("Copy command"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Copy Command"), -1);
  g_object_set_data_full(G_OBJECT(b), "command", g_strdup(command), g_free);
  g_signal_connect(b, "clicked", G_CALLBACK(copy), NULL);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), b);
  return row;
}

static GtkWidget *way_row(const char *way) {
  GtkWidget *row = adw_action_row_new();
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), way);
  return row;
}

/* "Warning: There is little memory free, 412 MB of 8 GB free". */
static void set_name(GtkWidget *row, const TmCheck *c) {
  const char *const words[] = {_("Good"), _("Note"), _("Warning"), _("Error")};
  g_autofree char *name = g_strdup_printf("%s: %s%s%s", words[c->verdict], c->title, c->detail ? ", " : "",
                                          c->detail ? c->detail : "");
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(row),
                                GTK_ACCESSIBLE_RELATION_LABELLED_BY); /* its title alone */
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

GtkWidget *tm_check_row_new(const TmCheck *check) {
  const gboolean more = check->way_out || check->command;
  GtkWidget *row = more ? adw_expander_row_new() : adw_action_row_new(), *icon = icon_new(check->verdict);
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), check->title);
  set_name(row, check);
  if (!more) {
    adw_action_row_set_subtitle(ADW_ACTION_ROW(row), check->detail ? check->detail : "");
    adw_action_row_add_prefix(ADW_ACTION_ROW(row), icon);
    return row;
  }
  adw_expander_row_set_subtitle(ADW_EXPANDER_ROW(row), check->detail ? check->detail : "");
  adw_expander_row_add_prefix(ADW_EXPANDER_ROW(row), icon);
  if (check->way_out) adw_expander_row_add_row(ADW_EXPANDER_ROW(row), way_row(check->way_out));
  if (check->command) adw_expander_row_add_row(ADW_EXPANDER_ROW(row), command_row(check->command));
  return row;
}
