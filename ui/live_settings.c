#include "ui/live_settings.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/words.h"

struct _TmLiveSettings {
  GtkBox parent;
  GtkWidget *row, *halve, *redouble;
  char *rate, *note;
};

enum { RATE_FACTOR, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmLiveSettings, tm_live_settings, GTK_TYPE_BOX)

static void finalize(GObject *o) {
  g_free(TM_LIVE_SETTINGS(o)->rate);
  g_free(TM_LIVE_SETTINGS(o)->note);
  G_OBJECT_CLASS(tm_live_settings_parent_class)->finalize(o);
}

static void tm_live_settings_class_init(TmLiveSettingsClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
  signals[RATE_FACTOR] = g_signal_new("rate-factor", TM_TYPE_LIVE_SETTINGS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                      NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
}

static void halve(TmLiveSettings *l) {
  g_signal_emit(l, signals[RATE_FACTOR], 0, 0.5);
}
static void redouble(TmLiveSettings *l) {
  g_signal_emit(l, signals[RATE_FACTOR], 0, 2.0);
}

static GtkWidget *button_new(TmLiveSettings *l, const char *label, const char *name, GCallback clicked) {
  GtkWidget *b = gtk_button_new_with_label(label);
  gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text(b, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_signal_connect_swapped(b, "clicked", clicked, l);
  return b;
}

static void tm_live_settings_init(TmLiveSettings *l) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(l), GTK_ORIENTATION_VERTICAL);
  gtk_widget_add_css_class(GTK_WIDGET(l), "tm-form");
  GtkWidget *group = adw_preferences_group_new(), *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
  adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(group), _("Live settings"));
  GtkWidget *hint = gtk_label_new(_("change while it runs"));
  gtk_widget_add_css_class(hint, "tm-small");
  gtk_widget_add_css_class(hint, "tm-dim");
  adw_preferences_group_set_header_suffix(ADW_PREFERENCES_GROUP(group), hint);
  l->row = adw_action_row_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(l->row), _("Learning rate"));
  gtk_widget_add_css_class(l->row, "numeric");
  gtk_widget_add_css_class(buttons, "linked");
  l->halve = button_new(l, "÷ 2", _("Halve the learning rate"), G_CALLBACK(halve));
  l->redouble = button_new(l, "× 2", _("Double the learning rate"), G_CALLBACK(redouble));
  gtk_box_append(GTK_BOX(buttons), l->halve);
  gtk_box_append(GTK_BOX(buttons), l->redouble);
  gtk_widget_set_valign(buttons, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix(ADW_ACTION_ROW(l->row), buttons);
  adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), l->row);
  gtk_box_append(GTK_BOX(l), group);
}

GtkWidget *tm_live_settings_new(void) {
  return g_object_new(TM_TYPE_LIVE_SETTINGS, NULL);
}

static void show(TmLiveSettings *l) {
  g_autofree char *text =
      g_strdup_printf("%s%s%s", l->rate ? l->rate : "–", l->note ? " · " : "", l->note ? l->note : "");
  if (g_strcmp0(adw_action_row_get_subtitle(ADW_ACTION_ROW(l->row)), text) != 0)
    adw_action_row_set_subtitle(ADW_ACTION_ROW(l->row), text);
}

void tm_live_settings_set_rate(TmLiveSettings *l, double rate) {
  g_free(l->rate);
  l->rate = tm_words_value(rate);
  show(l);
}

void tm_live_settings_set_note(TmLiveSettings *l, const char *note) {
  g_free(l->note);
  l->note = g_strdup(note);
  show(l);
}
