#include "app/runs_view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "engine/run/run_card.h"
#include "engine/run/run_list.h"

struct _TmRunsView {
  GtkBox parent;
  GtkWidget *list, *empty;
  char *root, *live, *live_words;
  GPtrArray *cards; /* TmRunInfo, as the rows */
  GCancellable *reading;
};

enum { OPENED, COMPARE, REMOVED, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmRunsView, tm_runs_view, GTK_TYPE_BOX)

/* ---- words and icons ---- */

static gboolean is_live(const TmRunsView *l, const TmRunInfo *c) { return g_strcmp0(l->live, c->path) == 0; }

static const char *icon_of(const TmRunsView *l, const TmRunInfo *c) {
  if (is_live(l, c)) return "media-playback-start-symbolic";
  if (strcmp(c->state, "finished") == 0) return "object-select-symbolic";
  if (strcmp(c->state, "stopped") == 0) return "media-playback-stop-symbolic";
  return "dialog-warning-symbolic";
}

static char *state_words(const TmRunsView *l, const TmRunInfo *c) {
  if (is_live(l, c)) return g_strdup(l->live_words ? l->live_words : _("In training"));
  if (strcmp(c->state, "failed") == 0) return g_strdup(_("Failed"));
  if (strcmp(c->state, "running") == 0) return g_strdup(_("Interrupted"));
  if (isnan(c->best_miou)) return g_strdup_printf(ngettext("%u epoch", "%u epochs", c->epochs), c->epochs);
  return g_strdup_printf(ngettext("mIoU %.3f · %u epoch", "mIoU %.3f · %u epochs", c->epochs), c->best_miou, c->epochs);
}

/* ---- what a row offers ---- */

static TmRunInfo *card_of(TmRunsView *l, const char *folder) {
  for (guint i = 0; l->cards && i < l->cards->len; i++) {
    TmRunInfo *c = l->cards->pdata[i];
    if (strcmp(c->path, folder) == 0) return c;
  }
  return NULL;
}

static void failed(TmRunsView *l, GError *error) {
  g_signal_emit(l, signals[FAILED], 0, error->message);
  g_error_free(error);
}

static void keep(TmRunsView *l, const TmRunInfo *c) {
  GError *error = NULL;
  if (!tm_run_card_write(c->path, c->title, c->note, c->star, &error)) failed(l, error);
  tm_runs_view_refresh(l);
}

typedef struct {
  TmRunsView *list;
  char *folder;
  gboolean note;
  GtkWidget *entry;
} Question;

static void answered(AdwMessageDialog *d, const char *answer, Question *q) {
  (void)d;
  TmRunInfo *c = card_of(q->list, q->folder);
  if (c && strcmp(answer, "keep") == 0) {
    char **field = q->note ? &c->note : &c->title;
    g_free(*field);
    *field = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(q->entry))));
    keep(q->list, c);
  }
}

static void question_free(gpointer data, GClosure *closure) {
  (void)closure;
  Question *q = data;
  g_object_unref(q->list);
  g_free(q->folder);
  g_free(q);
}

static void ask(TmRunsView *l, const TmRunInfo *c, gboolean note) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(l));
  GtkWidget *d = adw_message_dialog_new(GTK_WINDOW(root), note ? _("Note on the Run") : _("Rename the Run"), NULL);
  Question *q = g_new0(Question, 1);
  *q = (Question){.list = g_object_ref(l), .folder = g_strdup(c->path), .note = note, .entry = gtk_entry_new()};
  gtk_editable_set_text(GTK_EDITABLE(q->entry), note ? c->note : c->title);
  gtk_entry_set_activates_default(GTK_ENTRY(q->entry), TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(q->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, note ? _("Note") : _("Name of the run"), -1);
  adw_message_dialog_set_extra_child(ADW_MESSAGE_DIALOG(d), q->entry);
  adw_message_dialog_add_responses(ADW_MESSAGE_DIALOG(d), "cancel", _("Cancel"), "keep", note ? _("Keep") : _("Rename"), NULL);
  adw_message_dialog_set_response_appearance(ADW_MESSAGE_DIALOG(d), "keep", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response(ADW_MESSAGE_DIALOG(d), "keep");
  adw_message_dialog_set_close_response(ADW_MESSAGE_DIALOG(d), "cancel");
  g_signal_connect_data(d, "response", G_CALLBACK(answered), q, question_free, 0);
  gtk_window_present(GTK_WINDOW(d));
}

static void do_rename(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  TmRunInfo *c = card_of(TM_RUNS_VIEW(w), g_variant_get_string(v, NULL));
  if (c) ask(TM_RUNS_VIEW(w), c, FALSE);
}

static void do_note(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  TmRunInfo *c = card_of(TM_RUNS_VIEW(w), g_variant_get_string(v, NULL));
  if (c) ask(TM_RUNS_VIEW(w), c, TRUE);
}

static void do_star(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  TmRunInfo *c = card_of(TM_RUNS_VIEW(w), g_variant_get_string(v, NULL));
  if (!c) return;
  c->star = !c->star;
  keep(TM_RUNS_VIEW(w), c);
}

static void do_compare(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  g_signal_emit(w, signals[COMPARE], 0, g_variant_get_string(v, NULL));
}

static void do_files(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  g_autofree char *uri = g_filename_to_uri(g_variant_get_string(v, NULL), NULL, NULL);
  GtkRoot *root = gtk_widget_get_root(w);
  if (uri) gtk_show_uri(GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL, uri, GDK_CURRENT_TIME);
}

static void do_remove(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  TmRunsView *l = TM_RUNS_VIEW(w);
  g_autofree char *folder = g_variant_dup_string(v, NULL);
  GError *error = NULL;
  if (g_strcmp0(l->live, folder) == 0) {
    g_signal_emit(l, signals[FAILED], 0, _("The run is in training. Stop it first."));
    return;
  }
  if (!tm_run_remove(folder, &error)) {
    failed(l, error);
    return;
  }
  tm_runs_view_refresh(l);
  g_signal_emit(l, signals[REMOVED], 0, folder);
}

void tm_runs_view_restore(TmRunsView *l, const char *folder) {
  GError *error = NULL;
  if (!tm_run_restore(folder, &error)) failed(l, error);
  tm_runs_view_refresh(l);
}

/* ---- rows ---- */

static void add_item(GMenu *m, const char *label, const char *action, const char *folder) {
  g_autoptr(GMenuItem) item = g_menu_item_new(label, NULL);
  g_menu_item_set_action_and_target(item, action, "s", folder);
  g_menu_append_item(m, item);
}

static GMenuModel *menu_of(const TmRunInfo *c) {
  GMenu *m = g_menu_new();
  g_autoptr(GMenu) words = g_menu_new(), look = g_menu_new(), end = g_menu_new();
  add_item(words, _("Rename…"), "runs.rename", c->path);
  add_item(words, _("Note…"), "runs.note", c->path);
  add_item(words, c->star ? _("Take the Star Away") : _("Star"), "runs.star", c->path);
  add_item(look, _("Compare"), "runs.compare", c->path);
  add_item(look, _("Show Files"), "runs.files", c->path);
  add_item(end, _("Delete"), "runs.remove", c->path);
  g_menu_append_section(m, NULL, G_MENU_MODEL(words));
  g_menu_append_section(m, NULL, G_MENU_MODEL(look));
  g_menu_append_section(m, NULL, G_MENU_MODEL(end));
  return G_MENU_MODEL(m);
}

static GtkWidget *label_new(const char *text, const char *style, gboolean dim) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars(GTK_LABEL(l), 1);
  gtk_widget_set_hexpand(l, TRUE);
  gtk_widget_add_css_class(l, style);
  gtk_widget_add_css_class(l, "numeric");
  if (dim) gtk_widget_add_css_class(l, "tm-dim");
  return l;
}

static GtkWidget *row_new(TmRunsView *l, const TmRunInfo *c) {
  GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
            *text = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *more = gtk_menu_button_new();
  g_autofree char *words = state_words(l, c), *title = c->star ? g_strdup_printf("★ %s", c->title) : g_strdup(c->title);
  GtkWidget *first = label_new(title, "tm-small", FALSE), *state = label_new(words, "tm-tiny", TRUE);
  gtk_widget_add_css_class(first, "tm-strong");
  gtk_widget_set_name(state, "state");
  gtk_box_append(GTK_BOX(text), first);
  gtk_box_append(GTK_BOX(text), state);
  gtk_widget_set_valign(text, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand(text, TRUE);
  g_autoptr(GMenuModel) menu = menu_of(c);
  gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(more), "view-more-symbolic");
  gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(more), menu);
  gtk_widget_add_css_class(more, "flat");
  gtk_widget_set_valign(more, GTK_ALIGN_CENTER);
  g_autofree char *more_name = g_strdup_printf(_("More of %s"), c->title);
  gtk_accessible_update_property(GTK_ACCESSIBLE(more), GTK_ACCESSIBLE_PROPERTY_LABEL, more_name, -1);
  gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(icon_of(l, c)));
  gtk_box_append(GTK_BOX(box), text);
  gtk_box_append(GTK_BOX(box), more);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
  g_autofree char *name = g_strdup_printf("%s, %s", c->title, words);
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_widget_set_tooltip_text(row, *c->note ? c->note : words);
  return row;
}

static void fill(TmRunsView *l) {
  for (GtkWidget *w; (w = gtk_widget_get_first_child(l->list));) gtk_list_box_remove(GTK_LIST_BOX(l->list), w);
  for (guint i = 0; i < l->cards->len; i++) gtk_list_box_append(GTK_LIST_BOX(l->list), row_new(l, l->cards->pdata[i]));
  gtk_widget_set_visible(l->empty, l->cards->len == 0);
}

/* ---- reading ---- */

static GPtrArray *starred_first(GPtrArray *runs) {
  GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)tm_run_info_free);
  for (int star = 1; star >= 0; star--)
    for (guint i = 0; i < runs->len; i++)
      if (!!((TmRunInfo *)runs->pdata[i])->star == star) g_ptr_array_add(out, runs->pdata[i]);
  g_ptr_array_set_free_func(runs, NULL);
  g_ptr_array_unref(runs);
  return out;
}

static void read_cards(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  g_task_return_pointer(task, starred_first(tm_run_list(data)), (GDestroyNotify)g_ptr_array_unref);
}

static void cards_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmRunsView *l = TM_RUNS_VIEW(source);
  GPtrArray *cards = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!cards) return; /* another folder is asked for */
  g_clear_pointer(&l->cards, g_ptr_array_unref);
  l->cards = cards;
  if (l->list) fill(l);
}

void tm_runs_view_refresh(TmRunsView *l) {
  if (l->reading) g_cancellable_cancel(l->reading);
  g_clear_object(&l->reading);
  if (!l->root) return;
  l->reading = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(l, l->reading, cards_read, NULL);
  g_task_set_task_data(task, g_strdup(l->root), g_free);
  g_task_run_in_thread(task, read_cards);
}

static void purge(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  tm_run_purge(data);
  g_task_return_boolean(task, TRUE);
}

void tm_runs_view_set_root(TmRunsView *l, const char *root) {
  if (g_strcmp0(root, l->root) == 0) return;
  g_free(l->root);
  l->root = g_strdup(root);
  if (root) { /* what was removed in an earlier session is not asked back */
    g_autoptr(GTask) task = g_task_new(NULL, NULL, NULL, NULL);
    g_task_set_task_data(task, g_strdup(root), g_free);
    g_task_run_in_thread(task, purge);
  }
  tm_runs_view_refresh(l);
}

void tm_runs_view_set_live(TmRunsView *l, const char *folder, const char *words) {
  const gboolean same = g_strcmp0(folder, l->live) == 0;
  if (same && g_strcmp0(words, l->live_words) == 0) return;
  g_autofree char *old = g_steal_pointer(&l->live);
  l->live = g_strdup(folder);
  g_free(l->live_words);
  l->live_words = g_strdup(words);
  if (!same) {
    tm_runs_view_refresh(l);
    return;
  }
  for (guint i = 0; l->cards && i < l->cards->len; i++) {
    if (!is_live(l, l->cards->pdata[i])) continue;
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(l->list), (int)i);
    GtkWidget *box = row ? gtk_list_box_row_get_child(row) : NULL,
              *text = box ? gtk_widget_get_next_sibling(gtk_widget_get_first_child(box)) : NULL;
    if (text) gtk_label_set_label(GTK_LABEL(gtk_widget_get_last_child(text)), words ? words : "");
  }
}

/* ---- the type ---- */

static void activated(GtkListBox *list, GtkListBoxRow *row, TmRunsView *l) {
  (void)list;
  const guint i = (guint)gtk_list_box_row_get_index(row);
  if (l->cards && i < l->cards->len) g_signal_emit(l, signals[OPENED], 0, ((TmRunInfo *)l->cards->pdata[i])->path);
}

static void dispose(GObject *o) {
  TmRunsView *l = TM_RUNS_VIEW(o);
  if (l->reading) g_cancellable_cancel(l->reading);
  g_clear_object(&l->reading);
  l->list = NULL;
  g_clear_pointer(&l->root, g_free);
  g_clear_pointer(&l->live, g_free);
  g_clear_pointer(&l->live_words, g_free);
  g_clear_pointer(&l->cards, g_ptr_array_unref);
  G_OBJECT_CLASS(tm_runs_view_parent_class)->dispose(o);
}

static void tm_runs_view_class_init(TmRunsViewClass *c) {
  static const char *const names[N_SIGNALS] = {"opened", "compare", "removed", "failed"};
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new(names[i], TM_TYPE_RUNS_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_install_action(wc, "runs.rename", "s", do_rename);
  gtk_widget_class_install_action(wc, "runs.note", "s", do_note);
  gtk_widget_class_install_action(wc, "runs.star", "s", do_star);
  gtk_widget_class_install_action(wc, "runs.compare", "s", do_compare);
  gtk_widget_class_install_action(wc, "runs.files", "s", do_files);
  gtk_widget_class_install_action(wc, "runs.remove", "s", do_remove);
}

static void tm_runs_view_init(TmRunsView *l) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(l), GTK_ORIENTATION_VERTICAL);
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *title = gtk_label_new(_("Runs")),
            *add = gtk_button_new_from_icon_name("list-add-symbolic"), *scroller = gtk_scrolled_window_new();
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_set_hexpand(title, TRUE);
  gtk_widget_set_margin_start(title, 20);
  gtk_widget_add_css_class(title, "tm-small");
  gtk_widget_add_css_class(title, "tm-strong");
  gtk_widget_add_css_class(title, "tm-dim");
  gtk_widget_add_css_class(add, "flat");
  gtk_widget_set_margin_end(add, 8);
  gtk_widget_set_tooltip_text(add, _("New run (Ctrl+N)"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(add), "train.new");
  gtk_accessible_update_property(GTK_ACCESSIBLE(add), GTK_ACCESSIBLE_PROPERTY_LABEL, _("New Run"), -1);
  gtk_box_append(GTK_BOX(head), title);
  gtk_box_append(GTK_BOX(head), add);
  l->list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(l->list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(l->list, "navigation-sidebar");
  gtk_widget_add_css_class(l->list, "tm-nav");
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Runs"), -1);
  g_signal_connect(l->list, "row-activated", G_CALLBACK(activated), l);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), l->list);
  gtk_widget_set_vexpand(scroller, TRUE);
  l->empty = label_new(_("None yet"), "tm-small", TRUE);
  gtk_widget_set_margin_start(l->empty, 20);
  gtk_box_append(GTK_BOX(l), head);
  gtk_box_append(GTK_BOX(l), l->empty);
  gtk_box_append(GTK_BOX(l), scroller);
}

GtkWidget *tm_runs_view_new(void) {
  return g_object_new(TM_TYPE_RUNS_VIEW, NULL);
}
