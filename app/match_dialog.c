#include "app/match_dialog.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "engine/predict/class_match.h"
#include "ui/swatch.h"

/* Lives as long as its dialog. */
typedef struct {
  GtkWidget *dialog;
  TmClassTable *net, *data;
  GtkWidget **choice; /* a list a class of the network: first "none", then the data's classes */
  void (*matched)(const guint8 *match, gpointer user);
  GWeakRef owner;
} Matching;

static void matching_free(gpointer data) {
  Matching *m = data;
  tm_class_table_free(m->net);
  tm_class_table_free(m->data);
  g_weak_ref_clear(&m->owner);
  g_free(m->choice);
  g_free(m);
}

static void choices(const Matching *m, guint8 match[256]) {
  memset(match, TM_NO_MATCH, 256);
  for (guint i = 0; i < m->net->n; i++) {
    const guint k = gtk_drop_down_get_selected(GTK_DROP_DOWN(m->choice[i]));
    if (k > 0 && k <= m->data->n) match[i] = (guint8)(k - 1);
  }
}

static void changed(Matching *m) {
  guint8 match[256];
  guint missing = 0;
  choices(m, match);
  for (guint i = 0; i < m->net->n; i++) missing += match[i] == TM_NO_MATCH;
  g_autofree char *unknown = tm_class_match_unknown(m->data, match, m->net->n);
  g_autofree char *body =
      missing ? g_strdup_printf(ngettext("%u class of the network has no counterpart yet.",
                                         "%u classes of the network have no counterpart yet.", missing),
                                missing)
      : unknown ? g_strdup_printf(_("The network knows nothing of %s: pixels that truly are of it are left out."), unknown)
                : g_strdup(_("Every class has a counterpart."));
  adw_message_dialog_set_body(ADW_MESSAGE_DIALOG(m->dialog), body);
  adw_message_dialog_set_response_enabled(ADW_MESSAGE_DIALOG(m->dialog), "match", missing == 0);
}

static void answered(AdwMessageDialog *dialog, const char *answer, Matching *m) {
  (void)dialog;
  g_autoptr(GObject) owner = g_weak_ref_get(&m->owner);
  guint8 match[256];
  if (!owner || strcmp(answer, "match") != 0) return;
  choices(m, match);
  m->matched(match, owner);
}

static GtkWidget *rows_new(Matching *m) {
  GtkWidget *list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  guint8 match[256];
  tm_class_match_by_name(m->net, m->data, match);
  for (guint i = 0; i < m->net->n; i++) {
    const TmClass *c = &m->net->classes[i];
    GtkWidget *row = adw_action_row_new();
    g_autoptr(GtkStringList) names = gtk_string_list_new((const char *[]){_("Choose…"), NULL});
    for (guint k = 0; k < m->data->n; k++) gtk_string_list_append(names, m->data->classes[k].name);
    m->choice[i] = gtk_drop_down_new(G_LIST_MODEL(g_steal_pointer(&names)), NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(m->choice[i]), match[i] == TM_NO_MATCH ? 0 : match[i] + 1u);
    gtk_widget_set_valign(m->choice[i], GTK_ALIGN_CENTER);
    g_autofree char *label = g_strdup_printf(_("Counterpart of %s"), c->name), *title = g_markup_escape_text(c->name, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(m->choice[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
    adw_action_row_add_prefix(ADW_ACTION_ROW(row),
                              tm_swatch_new((guint32)c->colour[0] << 16 | (guint32)c->colour[1] << 8 | c->colour[2]));
    adw_action_row_add_suffix(ADW_ACTION_ROW(row), m->choice[i]);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
    g_signal_connect_swapped(m->choice[i], "notify::selected", G_CALLBACK(changed), m);
  }
  GtkWidget *scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), list);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 420);
  return scroller;
}

void tm_match_dialog_show(GtkWindow *parent, const TmClassTable *net, const TmClassTable *data,
                          void (*matched)(const guint8 *match, gpointer user), GObject *owner) {
  Matching *m = g_new0(Matching, 1);
  m->net = tm_class_table_copy(net);
  m->data = tm_class_table_copy(data);
  m->choice = g_new0(GtkWidget *, net->n);
  m->matched = matched;
  g_weak_ref_init(&m->owner, owner);
  m->dialog = adw_message_dialog_new(parent, _("Match Classes"), NULL);
  adw_message_dialog_set_extra_child(ADW_MESSAGE_DIALOG(m->dialog), rows_new(m));
  adw_message_dialog_add_responses(ADW_MESSAGE_DIALOG(m->dialog), "cancel", _("_Cancel"), "match", _("_Evaluate"), NULL);
  adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(m->dialog), "match", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(m->dialog), "match");
  adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(m->dialog), "cancel");
  g_object_set_data_full(G_OBJECT(m->dialog), "matching", m, matching_free);
  g_signal_connect(m->dialog, "response", G_CALLBACK(answered), m);
  changed(m);
  gtk_window_present(GTK_WINDOW(m->dialog));
}
