#include "app/split_editor.h"

#include <glib/gi18n.h>

#include "engine/data/split.h"

enum { WIDTH = 460 };

typedef enum { BY_DRIVE, BY_CHANCE, AS_FOUND } Way;

/* Kept with the window. */
typedef struct {
  GtkWidget *window, *way, *val, *test, *seed, *preview;
  TmProject *project;
} Editor;

static void editor_free(gpointer data) {
  Editor *e = data;
  g_object_unref(e->project);
  g_free(e);
}

static double percent(GtkWidget *spin) {
  return gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)) / 100;
}

/* The split as the window says, one an entry of the dataset; NULL: the dataset's own. */
static TmSplit *chosen(const Editor *e, const TmDataset *d) {
  switch ((Way)gtk_drop_down_get_selected(GTK_DROP_DOWN(e->way))) {
  case BY_DRIVE:
    return tm_split_by_sequence(d, percent(e->val), percent(e->test));
  case BY_CHANCE:
    return tm_split_by_chance(d, percent(e->val), percent(e->test),
                              (guint64)gtk_spin_button_get_value(GTK_SPIN_BUTTON(e->seed)));
  default:
    return NULL;
  }
}

static void refresh(Editor *e) {
  TmDataset *d = tm_project_dataset(e->project), *base = tm_project_base(e->project);
  const Way way = (Way)gtk_drop_down_get_selected(GTK_DROP_DOWN(e->way));
  gtk_widget_set_sensitive(e->val, way != AS_FOUND);
  gtk_widget_set_sensitive(e->test, way != AS_FOUND);
  gtk_widget_set_sensitive(e->seed, way == BY_CHANCE);
  if (!d) return;
  g_autofree TmSplit *splits = chosen(e, d);
  guint n[TM_N_SPLITS] = {0};
  for (guint i = 0; i < tm_dataset_n(d); i++) n[splits ? splits[i] : tm_dataset_entry(base, i)->split]++;
  const char *hint = way == BY_CHANCE ? _("\nNeighbours of one video then lie on both sides, which makes "
                                          "scores look better than they are.")
                                      : "";
  g_autofree char *text = g_strdup_printf(_("%u training, %u validation, %u test; %u drives.%s"), n[0], n[1],
                                          n[2], tm_sequence_count(d), hint);
  gtk_label_set_label(GTK_LABEL(e->preview), text);
}

static void apply(Editor *e) {
  TmDataset *d = tm_project_dataset(e->project);
  g_autoptr(TmAmend) next = tm_project_amendment(e->project);
  if (d && next) {
    g_autofree TmSplit *splits = chosen(e, d);
    if (splits)
      tm_amend_set_splits(next, tm_project_base(e->project), d, splits);
    else
      g_hash_table_remove_all(next->splits);
    tm_project_amend(e->project, g_steal_pointer(&next), _("Split changed"));
  }
  gtk_window_close(GTK_WINDOW(e->window));
}

static GtkWidget *row_new(GtkWidget *list, const char *title, const char *subtitle, GtkWidget *editor) {
  GtkWidget *row = adw_action_row_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), subtitle);
  gtk_widget_set_valign(editor, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), editor);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), editor);
  gtk_accessible_update_property(GTK_ACCESSIBLE(editor), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_list_box_append(GTK_LIST_BOX(list), row);
  return editor;
}

static double share(const TmDataset *d, TmSplit s, double usual) {
  const guint n = tm_dataset_n_split(d, s);
  return n ? 100.0 * n / tm_dataset_n(d) : usual;
}

static void fill(Editor *e, GtkWidget *list, const TmDataset *d) {
  const char *const ways[] = {_("By drive"), _("By chance"), _("As found"), NULL};
  e->way = row_new(list, _("Split"), _("Whole drives keep neighbours of a video together"),
                   gtk_drop_down_new_from_strings(ways));
  e->val =
      row_new(list, _("Validation"), _("Percent of the pictures"), gtk_spin_button_new_with_range(0, 90, 1));
  e->test = row_new(list, _("Test"), _("Percent of the pictures"), gtk_spin_button_new_with_range(0, 90, 1));
  e->seed = row_new(list, _("Seed"), _("Another number, another chance"),
                    gtk_spin_button_new_with_range(0, 1e6, 1));
  gtk_spin_button_set_value(GTK_SPIN_BUTTON(e->val), share(d, TM_SPLIT_VAL, 20));
  gtk_spin_button_set_value(GTK_SPIN_BUTTON(e->test), share(d, TM_SPLIT_TEST, 0));
  g_signal_connect_swapped(e->way, "notify::selected", G_CALLBACK(refresh), e);
  GtkWidget *const spins[] = {e->val, e->test, e->seed};
  for (guint i = 0; i < G_N_ELEMENTS(spins); i++)
    g_signal_connect_swapped(spins[i], "value-changed", G_CALLBACK(refresh), e);
}

void tm_split_editor_present(GtkWindow *parent, TmProject *project) {
  TmDataset *d = tm_project_dataset(project);
  if (!d) return;
  Editor *e = g_new0(Editor, 1);
  e->project = g_object_ref(project);
  e->window = adw_window_new();
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
            *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12), *header = adw_header_bar_new(),
            *list = gtk_list_box_new(), *button = gtk_button_new_with_label(_("Apply"));
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  e->preview = gtk_label_new(NULL);
  gtk_label_set_wrap(GTK_LABEL(e->preview), TRUE);
  gtk_label_set_xalign(GTK_LABEL(e->preview), 0);
  gtk_label_set_max_width_chars(GTK_LABEL(e->preview), 50);
  fill(e, list, d);
  gtk_widget_add_css_class(button, "suggested-action");
  gtk_widget_set_tooltip_text(button, _("Use this split from now on; can be undone"));
  g_signal_connect_swapped(button, "clicked", G_CALLBACK(apply), e);
  adw_header_bar_pack_end(ADW_HEADER_BAR(header), button);
  gtk_widget_add_css_class(page, "tm-page");
  gtk_box_append(GTK_BOX(page), list);
  gtk_box_append(GTK_BOX(page), e->preview);
  gtk_box_append(GTK_BOX(box), header);
  gtk_box_append(GTK_BOX(box), page);
  adw_window_set_content(ADW_WINDOW(e->window), box);
  g_object_set(e->window, "title", _("Split"), "default-width", WIDTH, "transient-for", parent, "modal", TRUE,
               "destroy-with-parent", TRUE, NULL);
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(keys),
      gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0), gtk_named_action_new("window.close")));
  gtk_widget_add_controller(e->window, keys);
  g_object_set_data_full(G_OBJECT(e->window), "editor", e, editor_free);
  refresh(e);
  gtk_window_present(GTK_WINDOW(e->window));
}
