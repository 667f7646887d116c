#include "app/data_checks.h"

#include <glib/gi18n.h>

#include "ui/words.h"

enum { MOST_NOTES = 100, TOLD = 12 };

struct _TmDataChecks {
  GtkBox parent;
  GtkWidget *list;
  TmProject *project;
  const TmDataset *shown;        /* only compared */
  const GPtrArray *shown_issues; /* only compared */
};

enum { SHOW, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmDataChecks, tm_data_checks, GTK_TYPE_BOX)

guint tm_data_checks_open(TmProject *project) {
  GPtrArray *all = tm_project_issues(project);
  guint open = 0;
  for (guint i = 0; all && i < all->len; i++) open += ((TmIssue *)all->pdata[i])->level != TM_ISSUE_HINT;
  return open;
}

static TmIssue *issue_of(TmDataChecks *c, GtkWidget *w, guint *index) {
  GPtrArray *all = tm_project_issues(c->project);
  *index = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(w), "issue"));
  return all == c->shown_issues && *index < all->len ? all->pdata[*index] : NULL;
}

/* ---- fixes ---- */

static char *done_text(const TmIssue *i) {
  const guint n = i->entries->len;
  switch (i->fix) {
  case TM_FIX_MAP_VOID:
    return g_strdup_printf(_("Void now: %s"), i->value_text);
  case TM_FIX_LEAVE_OUT:
    return g_strdup_printf(ngettext("%u picture left out", "%u pictures left out", n), n);
  default:
    return g_strdup(_("Split by drive"));
  }
}

static void fix_clicked(GtkWidget *button, TmDataChecks *c) {
  guint index;
  const TmIssue *i = issue_of(c, button, &index);
  if (!i) return;
  if (i->fix == TM_FIX_WEIGHTS) {
    gtk_widget_activate_action(GTK_WIDGET(c), "train.set", "(ss)", "class_weights", "median");
    return;
  }
  g_autoptr(TmAmend) next = tm_project_amendment(c->project);
  if (!next || !tm_issue_fix(i, tm_project_base(c->project), tm_project_dataset(c->project), next)) return;
  g_autofree char *said = done_text(i);
  tm_project_amend(c->project, g_steal_pointer(&next), said);
}

/* What the button says, and what it does in full. */
static const char *fix_label(const TmIssue *i, char **name) {
  const guint n = i->entries->len;
  switch (i->fix) {
  case TM_FIX_MAP_VOID:
    *name = g_strdup_printf(ngettext("Map %s to void in %u mask", "Map %s to void in %u masks", n),
                            i->value_text, n);
    return _("Map to Void");
  case TM_FIX_LEAVE_OUT:
    *name = g_strdup_printf(ngettext("Leave out %u picture", "Leave out %u pictures", n), n);
    return _("Leave Out");
  case TM_FIX_BY_SEQUENCE:
    *name = g_strdup(_("Split by drive, so that neighbours stay together"));
    return _("Split by Drive");
  case TM_FIX_WEIGHTS:
    *name = g_strdup(_("Use median class weights for the next run"));
    return _("Use Weights");
  default:
    return NULL;
  }
}

/* ---- rows ---- */

static void row_activated(AdwActionRow *row, TmDataChecks *c) {
  guint index;
  if (issue_of(c, GTK_WIDGET(row), &index)) g_signal_emit(c, signals[SHOW], 0, index);
}

static GtkWidget *add_row(TmDataChecks *c, const char *icon, const char *css, const char *text,
                          const char *subtitle) {
  GtkWidget *row = adw_action_row_new(), *image = gtk_image_new_from_icon_name(icon);
  g_autofree char *title = g_markup_escape_text(text, -1),
                  *below = subtitle ? g_markup_escape_text(subtitle, -1) : NULL;
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  if (below) adw_action_row_set_subtitle(ADW_ACTION_ROW(row), below);
  adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 4);
  adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 3);
  if (css) gtk_widget_add_css_class(image, css);
  adw_action_row_add_prefix(ADW_ACTION_ROW(row), image);
  gtk_list_box_append(GTK_LIST_BOX(c->list), row);
  return row;
}

/* The first pictures, each with its sentence. */
static char *told_text(const TmIssue *i, const TmDataset *d) {
  if (!i->told) return NULL;
  GString *s = g_string_new(NULL);
  for (guint k = 0; k < MIN(i->told->len, TOLD); k++) {
    const TmEntry *e = tm_dataset_entry(d, g_array_index(i->entries, guint, k));
    g_string_append_printf(s, "%s%s: %s", k ? "\n" : "", e->name, (char *)i->told->pdata[k]);
  }
  if (i->told->len > TOLD) g_string_append_printf(s, _("\nand %u more"), i->told->len - TOLD);
  return g_string_free(s, FALSE);
}

static void add_issue(TmDataChecks *c, guint index, const TmIssue *i) {
  static const char *const icons[] = {"dialog-error-symbolic", "dialog-warning-symbolic",
                                      "dialog-information-symbolic"},
                           *const css[] = {"error", "warning", "accent"};
  GtkWidget *row = add_row(c, icons[i->level], css[i->level], i->text, i->follows);
  g_autofree char *name = NULL, *told = told_text(i, c->shown);
  g_object_set_data(G_OBJECT(row), "issue", GUINT_TO_POINTER(index));
  gtk_widget_set_tooltip_text(row, told);
  if (i->entries->len) {
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
    g_signal_connect(row, "activated", G_CALLBACK(row_activated), c);
  }
  const char *label = fix_label(i, &name);
  if (!label) return;
  GtkWidget *button = gtk_button_new_with_label(label);
  gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text(button, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data(G_OBJECT(button), "issue", GUINT_TO_POINTER(index));
  g_signal_connect(button, "clicked", G_CALLBACK(fix_clicked), c);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), button);
}

static void add_summary(TmDataChecks *c, const TmScan *s) {
  g_autofree char *n = tm_words_count(s->n_entries - s->n_left_out), *all = tm_words_count(s->n_entries);
  g_autofree char *good = g_strdup_printf(_("%s of %s pictures can be trained on"), n, all);
  g_autofree char *sizes =
      s->min_w == s->max_w && s->min_h == s->max_h
          ? g_strdup_printf(_("All are %d × %d"), s->min_w, s->min_h)
          : g_strdup_printf(_("From %d × %d to %d × %d"), s->min_w, s->min_h, s->max_w, s->max_h);
  add_row(c, "object-select-symbolic", "success", good, sizes);
}

static void add_notes(TmDataChecks *c, const TmScan *s) {
  guint n = 0;
  for (guint i = 0; s && i < s->findings->len && n < MOST_NOTES; i++) {
    const TmFinding *f = s->findings->pdata[i];
    if (f->kind != TM_FINDING_NOTE) continue;
    add_row(c, "dialog-information-symbolic", NULL, f->text, NULL);
    n++;
  }
  for (const char *const *note = tm_dataset_notes(c->shown); note && *note; note++)
    add_row(c, "dialog-information-symbolic", NULL, *note, NULL);
}

static void refresh(TmDataChecks *c) {
  TmDataset *d = tm_project_dataset(c->project);
  GPtrArray *issues = tm_project_issues(c->project);
  if (d == c->shown && issues == c->shown_issues) return;
  c->shown = d;
  c->shown_issues = issues;
  for (GtkWidget *row; (row = gtk_widget_get_first_child(c->list));)
    gtk_list_box_remove(GTK_LIST_BOX(c->list), row);
  if (!d) return;
  const TmScan *s = tm_project_scan(c->project);
  for (guint i = 0; issues && i < issues->len; i++) add_issue(c, i, issues->pdata[i]);
  if (s) add_summary(c, s);
  add_notes(c, s);
}

static void dispose(GObject *o) {
  TmDataChecks *c = TM_DATA_CHECKS(o);
  if (c->project) g_signal_handlers_disconnect_by_data(c->project, c);
  g_clear_object(&c->project);
  G_OBJECT_CLASS(tm_data_checks_parent_class)->dispose(o);
}

static void tm_data_checks_class_init(TmDataChecksClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[SHOW] = g_signal_new("show-pictures", TM_TYPE_DATA_CHECKS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                               G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void tm_data_checks_init(TmDataChecks *c) {
  GtkWidget *scroller = gtk_scrolled_window_new();
  c->list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(c->list), GTK_SELECTION_NONE);
  gtk_widget_set_valign(c->list, GTK_ALIGN_START);
  gtk_widget_add_css_class(c->list, "boxed-list");
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Findings"), -1);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroller), 150);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), c->list);
  gtk_widget_set_vexpand(scroller, TRUE);
  gtk_widget_set_hexpand(scroller, TRUE);
  gtk_box_append(GTK_BOX(c), scroller);
}

TmDataChecks *tm_data_checks_new(TmProject *project) {
  TmDataChecks *c = g_object_new(TM_TYPE_DATA_CHECKS, NULL);
  c->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(refresh), c);
  refresh(c);
  return c;
}
