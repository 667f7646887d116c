#include "app/class_editor.h"

#include <glib/gi18n.h>

#include "engine/data/class_edit.h"
#include "ui/words.h"

enum { WIDTH = 640, HEIGHT = 620 };

#define TM_TYPE_CLASS_EDITOR (tm_class_editor_get_type())
G_DECLARE_FINAL_TYPE(TmClassEditor, tm_class_editor, TM, CLASS_EDITOR, AdwWindow)

struct _TmClassEditor {
  AdwWindow parent;
  GtkWidget *list, *about, *apply, *toasts;
  TmProject *project;
  TmClassTable *table; /* as edited so far */
  gboolean changed;
};

G_DEFINE_FINAL_TYPE(TmClassEditor, tm_class_editor, ADW_TYPE_WINDOW)

static void rebuild(TmClassEditor *e);

static guint index_of(gpointer widget) {
  return GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(widget), "class"));
}

static void changed(TmClassEditor *e) {
  e->changed = TRUE;
  gtk_widget_set_sensitive(e->apply, TRUE);
}

/* Takes @next; NULL tells @error. */
static void take(TmClassEditor *e, TmClassTable *next, GError *error) {
  if (!next) {
    adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(e->toasts), adw_toast_new(error->message));
    g_error_free(error);
    return;
  }
  tm_class_table_free(e->table);
  e->table = next;
  changed(e);
  rebuild(e);
}

static void named(GtkEditable *entry, TmClassEditor *e) {
  TmClass *c = &e->table->classes[index_of(entry)];
  const char *text = gtk_editable_get_text(entry);
  if (!*text) return; /* a class keeps its last name */
  g_free(c->name);
  c->name = g_strdup(text);
  changed(e);
}

static void coloured(GtkColorButton *b, TmClassEditor *e) {
  GdkRGBA v;
  gtk_color_chooser_get_rgba(GTK_COLOR_CHOOSER(b), &v);
  const float rgb[3] = {v.red, v.green, v.blue};
  for (int k = 0; k < 3; k++)
    e->table->classes[index_of(b)].colour[k] = (guint8)(CLAMP(rgb[k], 0.0f, 1.0f) * 255 + 0.5f);
  changed(e);
}

static void merged(GtkDropDown *d, GParamSpec *ps, TmClassEditor *e) {
  (void)ps;
  const guint from = index_of(d), chosen = gtk_drop_down_get_selected(d);
  if (chosen == 0 || chosen == GTK_INVALID_LIST_POSITION) return;
  /* "Own class", "Void", then every other class. */
  GError *error = NULL;
  const guint into = chosen - 2 + (chosen - 2 >= from);
  take(e,
       chosen == 1 ? tm_class_table_drop(e->table, from, &error)
                   : tm_class_table_merge(e->table, from, into, &error),
       error);
}

static void safe_colours(TmClassEditor *e) {
  take(e, tm_class_table_safe(e->table), NULL);
}

static void own_table(TmClassEditor *e) {
  take(e, tm_class_table_copy(tm_dataset_classes(tm_project_base(e->project))), NULL);
}

static void apply(TmClassEditor *e) {
  g_autoptr(TmAmend) next = tm_project_amendment(e->project);
  if (next) {
    tm_amend_set_classes(next, tm_class_table_copy(e->table));
    tm_project_amend(e->project, g_steal_pointer(&next), _("Class table changed"));
  }
  gtk_window_close(GTK_WINDOW(e));
}

/* ---- rows ---- */

static char *values_text(const TmClassTable *t, guint index) {
  GString *s = g_string_new(NULL);
  for (guint k = 0; k <= t->n_also; k++) {
    if (k && t->also[k - 1].index != index) continue;
    const guint v = (guint)(k ? t->also[k - 1].value : t->classes[index].value);
    if (s->len) g_string_append(s, ", ");
    if (t->code == TM_MASK_INDEX)
      g_string_append_printf(s, "%u", v);
    else
      g_string_append_printf(s, "%u %u %u", v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff);
  }
  return g_string_free(s, FALSE);
}

static GtkWidget *merge_new(TmClassEditor *e, guint index) {
  g_autoptr(GtkStringList) choices = gtk_string_list_new(NULL);
  gtk_string_list_append(choices, _("Own class"));
  gtk_string_list_append(choices, _("Void"));
  for (guint i = 0; i < e->table->n; i++) {
    g_autofree char *text = g_strdup_printf(_("Part of %s"), e->table->classes[i].name);
    if (i != index) gtk_string_list_append(choices, text);
  }
  return gtk_drop_down_new(G_LIST_MODEL(g_steal_pointer(&choices)), NULL);
}

static void name_widget(GtkWidget *w, guint index, const char *format, const char *class) {
  g_autofree char *name = g_strdup_printf(format, class);
  g_object_set_data(G_OBJECT(w), "class", GUINT_TO_POINTER(index));
  gtk_widget_set_valign(w, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text(w, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void add_row(TmClassEditor *e, guint index) {
  const TmClass *c = &e->table->classes[index];
  const GdkRGBA rgba = {(float)c->colour[0] / 255, (float)c->colour[1] / 255, (float)c->colour[2] / 255, 1};
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10),
            *colour = gtk_color_button_new_with_rgba(&rgba), *name = gtk_entry_new(),
            *value = gtk_label_new(NULL), *merge = merge_new(e, index);
  g_autofree char *values = values_text(e->table, index);
  gtk_widget_add_css_class(row, "tm-editor-row");
  gtk_editable_set_text(GTK_EDITABLE(name), c->name);
  gtk_widget_set_hexpand(name, TRUE);
  gtk_label_set_label(GTK_LABEL(value), values);
  gtk_label_set_ellipsize(GTK_LABEL(value), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars(GTK_LABEL(value), 10);
  gtk_widget_add_css_class(value, "tm-small");
  gtk_widget_add_css_class(value, "tm-dim");
  gtk_widget_set_tooltip_text(value, _("Values in the masks"));
  name_widget(colour, index, _("Colour of %s"), c->name);
  name_widget(name, index, _("Name of %s"), c->name);
  name_widget(merge, index, _("What %s is"), c->name);
  gtk_box_append(GTK_BOX(row), colour);
  gtk_box_append(GTK_BOX(row), name);
  gtk_box_append(GTK_BOX(row), value);
  gtk_box_append(GTK_BOX(row), merge);
  gtk_list_box_append(GTK_LIST_BOX(e->list), row);
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(gtk_widget_get_parent(row)), FALSE);
  gtk_widget_set_focusable(gtk_widget_get_parent(row), FALSE);
  g_signal_connect(name, "changed", G_CALLBACK(named), e);
  g_signal_connect(colour, "color-set", G_CALLBACK(coloured), e);
  g_signal_connect(merge, "notify::selected", G_CALLBACK(merged), e);
}

static gboolean rebuild_now(gpointer data) {
  TmClassEditor *e = data;
  for (GtkWidget *row; (row = gtk_widget_get_first_child(e->list));)
    gtk_list_box_remove(GTK_LIST_BOX(e->list), row);
  for (guint i = 0; i < e->table->n; i++) add_row(e, i);
  GString *s = g_string_new(NULL);
  g_string_append_printf(s, ngettext("%u class. ", "%u classes. ", e->table->n), e->table->n);
  for (guint i = 0; i < e->table->n_void; i++)
    g_string_append_printf(s, "%s%d", i ? ", " : _("Void: "), e->table->void_values[i]);
  if (e->table->n_void) g_string_append(s, ".");
  if (e->table->source && *e->table->source) g_string_append_printf(s, _(" From: %s."), e->table->source);
  gtk_label_set_label(GTK_LABEL(e->about), s->str);
  g_string_free(s, TRUE);
  return G_SOURCE_REMOVE;
}

/* Not from inside a signal of the row that goes. */
static void rebuild(TmClassEditor *e) {
  g_idle_add_full(G_PRIORITY_DEFAULT, rebuild_now, g_object_ref(e), g_object_unref);
}

/* ---- the type ---- */

static void dispose(GObject *o) {
  TmClassEditor *e = TM_CLASS_EDITOR(o);
  g_clear_object(&e->project);
  G_OBJECT_CLASS(tm_class_editor_parent_class)->dispose(o);
}

static void finalize(GObject *o) {
  tm_class_table_free(TM_CLASS_EDITOR(o)->table);
  G_OBJECT_CLASS(tm_class_editor_parent_class)->finalize(o);
}

static void tm_class_editor_class_init(TmClassEditorClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  G_OBJECT_CLASS(c)->finalize = finalize;
  gtk_widget_class_add_binding_action(GTK_WIDGET_CLASS(c), GDK_KEY_Escape, 0, "window.close", NULL);
}

static GtkWidget *button_new(TmClassEditor *e, const char *label, const char *tip, GCallback clicked) {
  GtkWidget *b = gtk_button_new_with_label(label);
  gtk_widget_set_tooltip_text(b, tip);
  g_signal_connect_swapped(b, "clicked", clicked, e);
  return b;
}

static void tm_class_editor_init(TmClassEditor *e) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
            *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10), *header = adw_header_bar_new(),
            *scroller = gtk_scrolled_window_new(), *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  e->apply = button_new(e, _("Apply"), _("Use this table from now on; can be undone"), G_CALLBACK(apply));
  gtk_widget_add_css_class(e->apply, "suggested-action");
  gtk_widget_set_sensitive(e->apply, FALSE);
  adw_header_bar_pack_end(ADW_HEADER_BAR(header), e->apply);
  e->about = gtk_label_new(NULL);
  gtk_label_set_wrap(GTK_LABEL(e->about), TRUE);
  gtk_label_set_xalign(GTK_LABEL(e->about), 0);
  gtk_widget_add_css_class(e->about, "tm-small");
  gtk_widget_add_css_class(e->about, "tm-dim");
  gtk_box_append(GTK_BOX(row),
                 button_new(e, _("Safe Colours"), _("Colours that all kinds of sight tell apart"),
                            G_CALLBACK(safe_colours)));
  gtk_box_append(GTK_BOX(row),
                 button_new(e, _("Dataset's Own"), _("The table as it was found with the dataset"),
                            G_CALLBACK(own_table)));
  e->list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(e->list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(e->list, "boxed-list");
  gtk_accessible_update_property(GTK_ACCESSIBLE(e->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Classes"), -1);
  gtk_box_append(GTK_BOX(page), e->about);
  gtk_box_append(GTK_BOX(page), row);
  gtk_box_append(GTK_BOX(page), e->list);
  gtk_widget_add_css_class(page, "tm-page");
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), page);
  gtk_widget_set_vexpand(scroller, TRUE);
  gtk_box_append(GTK_BOX(box), header);
  gtk_box_append(GTK_BOX(box), scroller);
  e->toasts = adw_toast_overlay_new();
  adw_toast_overlay_set_child(ADW_TOAST_OVERLAY(e->toasts), box);
  adw_window_set_content(ADW_WINDOW(e), e->toasts);
  gtk_window_set_title(GTK_WINDOW(e), _("Classes"));
  gtk_window_set_default_size(GTK_WINDOW(e), WIDTH, HEIGHT);
}

void tm_class_editor_present(GtkWindow *parent, TmProject *project) {
  TmDataset *d = tm_project_dataset(project);
  if (!d) return;
  TmClassEditor *e = g_object_new(TM_TYPE_CLASS_EDITOR, "transient-for", parent, "modal", TRUE,
                                  "destroy-with-parent", TRUE, NULL);
  e->project = g_object_ref(project);
  e->table = tm_class_table_copy(tm_dataset_classes(d));
  rebuild_now(e);
  gtk_window_present(GTK_WINDOW(e));
}
