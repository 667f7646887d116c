#include "app/preferences_window.h"

#include <string.h>

#include <glib/gi18n.h>

#include "app/preferences.h"

static const AdwColorScheme schemes[] = {ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                         ADW_COLOR_SCHEME_FORCE_DARK};

static void style_changed(void) {
  const guint at = (guint)g_settings_get_enum(tm_preferences(), "style");
  adw_style_manager_set_color_scheme(adw_style_manager_get_default(),
                                     schemes[MIN(at, G_N_ELEMENTS(schemes) - 1)]);
}

void tm_preferences_apply_style(void) {
  if (!tm_preferences()) return;
  style_changed();
  g_signal_connect(tm_preferences(), "changed::style", G_CALLBACK(style_changed), NULL);
}

/* ---- the style: a list whose places are the values of the enum ---- */

static const char *const nicks[] = {"system", "light", "dark"};

static gboolean style_from_setting(GValue *to, GVariant *from, gpointer user) {
  (void)user;
  for (guint i = 0; i < G_N_ELEMENTS(nicks); i++)
    if (strcmp(nicks[i], g_variant_get_string(from, NULL)) == 0) g_value_set_uint(to, i);
  return TRUE;
}

static GVariant *style_to_setting(const GValue *from, const GVariantType *type, gpointer user) {
  (void)type;
  (void)user;
  return g_variant_new_string(nicks[MIN(g_value_get_uint(from), G_N_ELEMENTS(nicks) - 1)]);
}

static void add_style(AdwPreferencesGroup *group) {
  const char *const names[] = {_("Like the system"), _("Light"), _("Dark"), NULL};
  GtkWidget *row = adw_combo_row_new();
  g_autoptr(GtkStringList) list = gtk_string_list_new(names);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("_Style"));
  adw_preferences_row_set_use_underline(ADW_PREFERENCES_ROW(row), TRUE);
  adw_combo_row_set_model(ADW_COMBO_ROW(row), G_LIST_MODEL(list));
  if (tm_preferences())
    g_settings_bind_with_mapping(tm_preferences(), "style", row, "selected", G_SETTINGS_BIND_DEFAULT,
                                 style_from_setting, style_to_setting, NULL, NULL);
  adw_preferences_group_add(group, row);
}

static void add_switch(AdwPreferencesGroup *group, const char *key, const char *title, const char *subtitle) {
  GtkWidget *row = adw_action_row_new(), *s = gtk_switch_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  adw_preferences_row_set_use_underline(ADW_PREFERENCES_ROW(row), TRUE);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), subtitle);
  gtk_widget_set_valign(s, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), s);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), s);
  gtk_accessible_update_relation(GTK_ACCESSIBLE(s), GTK_ACCESSIBLE_RELATION_LABELLED_BY, row, NULL, -1);
  if (tm_preferences()) g_settings_bind(tm_preferences(), key, s, "active", G_SETTINGS_BIND_DEFAULT);
  adw_preferences_group_add(group, row);
}

void tm_preferences_window_present(GtkWindow *parent) {
  GtkWidget *w = adw_preferences_window_new(), *page = adw_preferences_page_new(),
            *look = adw_preferences_group_new(), *run = adw_preferences_group_new();
  gtk_window_set_transient_for(GTK_WINDOW(w), parent);
  gtk_window_set_modal(GTK_WINDOW(w), TRUE);
  adw_preferences_window_set_search_enabled(ADW_PREFERENCES_WINDOW(w), FALSE);
  gtk_window_set_default_size(GTK_WINDOW(w), 480, 420);
  adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(look), _("Appearance"));
  adw_preferences_group_set_title(ADW_PREFERENCES_GROUP(run), _("Training"));
  if (!tm_preferences())
    adw_preferences_group_set_description(
        ADW_PREFERENCES_GROUP(look),
        _("The settings’ schema is not installed: what is changed here is not kept."));
  add_style(ADW_PREFERENCES_GROUP(look));
  add_switch(ADW_PREFERENCES_GROUP(run), "notify", _("_Notify when training ends"),
             _("While its window is out of sight"));
  add_switch(ADW_PREFERENCES_GROUP(run), "keep-awake", _("_Keep the computer awake"),
             _("A run in progress holds back suspending"));
  adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(look));
  adw_preferences_page_add(ADW_PREFERENCES_PAGE(page), ADW_PREFERENCES_GROUP(run));
  adw_preferences_window_add(ADW_PREFERENCES_WINDOW(w), ADW_PREFERENCES_PAGE(page));
  gtk_window_present(GTK_WINDOW(w));
}
