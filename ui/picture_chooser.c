#include "ui/picture_chooser.h"

#include <glib/gi18n.h>

struct _TmPictureChooser {
  GtkBox parent;
  GtkFilterListModel *filtered;
  GtkStringFilter *filter;
  GtkWidget *search, *count, *view;
  GHashTable *chosen; /* index as pointer */
  guint most;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TmPictureChooser, tm_picture_chooser, GTK_TYPE_BOX)

static void show_count(TmPictureChooser *c) {
  const guint n = g_hash_table_size(c->chosen);
  g_autofree char *text = g_strdup_printf(_("%u of at most %u chosen"), n, c->most);
  gtk_label_set_label(GTK_LABEL(c->count), text);
}

static guint index_of(GtkListItem *item) {
  return GPOINTER_TO_UINT(g_object_get_data(gtk_list_item_get_item(item), "index"));
}

/* What may not be is undone in the row itself. */
static void toggled(GtkCheckButton *b, GtkListItem *item) {
  TmPictureChooser *c = g_object_get_data(G_OBJECT(b), "chooser");
  if (g_object_get_data(G_OBJECT(b), "quiet") || !gtk_list_item_get_item(item)) return;
  const gboolean on = gtk_check_button_get_active(b);
  const guint n = g_hash_table_size(c->chosen);
  if (on ? n >= c->most : n <= 1) {
    g_object_set_data(G_OBJECT(b), "quiet", c);
    gtk_check_button_set_active(b, !on);
    g_object_set_data(G_OBJECT(b), "quiet", NULL);
    return;
  }
  if (on)
    g_hash_table_add(c->chosen, GUINT_TO_POINTER(index_of(item)));
  else
    g_hash_table_remove(c->chosen, GUINT_TO_POINTER(index_of(item)));
  show_count(c);
  g_signal_emit(c, signals[CHANGED], 0);
}

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, TmPictureChooser *c) {
  (void)f;
  GtkWidget *b = gtk_check_button_new();
  g_object_set_data(G_OBJECT(b), "chooser", c);
  g_signal_connect(b, "toggled", G_CALLBACK(toggled), item);
  gtk_list_item_set_child(item, b);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, TmPictureChooser *c) {
  (void)f;
  GtkWidget *b = gtk_list_item_get_child(item);
  gtk_check_button_set_label(GTK_CHECK_BUTTON(b), gtk_string_object_get_string(gtk_list_item_get_item(item)));
  g_object_set_data(G_OBJECT(b), "quiet", c);
  gtk_check_button_set_active(GTK_CHECK_BUTTON(b), g_hash_table_contains(c->chosen, GUINT_TO_POINTER(index_of(item))));
  g_object_set_data(G_OBJECT(b), "quiet", NULL);
}

static void searched(TmPictureChooser *c) {
  gtk_string_filter_set_search(c->filter, gtk_editable_get_text(GTK_EDITABLE(c->search)));
}

static void dispose(GObject *o) {
  TmPictureChooser *c = TM_PICTURE_CHOOSER(o);
  g_clear_object(&c->filtered);
  g_clear_pointer(&c->chosen, g_hash_table_unref);
  G_OBJECT_CLASS(tm_picture_chooser_parent_class)->dispose(o);
}

static void tm_picture_chooser_class_init(TmPictureChooserClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[CHANGED] =
      g_signal_new("changed", TM_TYPE_PICTURE_CHOOSER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void tm_picture_chooser_init(TmPictureChooser *c) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(c), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(c), 6);
  c->chosen = g_hash_table_new(NULL, NULL);
  c->filter = gtk_string_filter_new(gtk_property_expression_new(GTK_TYPE_STRING_OBJECT, NULL, "string"));
  c->filtered = gtk_filter_list_model_new(NULL, GTK_FILTER(c->filter));
  GtkListItemFactory *f = gtk_signal_list_item_factory_new();
  g_signal_connect(f, "setup", G_CALLBACK(setup), c);
  g_signal_connect(f, "bind", G_CALLBACK(bind), c);
  c->view = gtk_list_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(g_object_ref(G_LIST_MODEL(c->filtered)))), f);
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Pictures"), -1);
  c->search = gtk_search_entry_new();
  gtk_accessible_update_property(GTK_ACCESSIBLE(c->search), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Search Pictures"), -1);
  g_signal_connect_swapped(c->search, "search-changed", G_CALLBACK(searched), c);
  c->count = gtk_label_new(NULL);
  gtk_widget_add_css_class(c->count, "tm-small");
  gtk_widget_add_css_class(c->count, "tm-dim");
  GtkWidget *scroller = gtk_scrolled_window_new();
  gtk_widget_set_size_request(scroller, 260, 280);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), c->view);
  gtk_box_append(GTK_BOX(c), c->search);
  gtk_box_append(GTK_BOX(c), scroller);
  gtk_box_append(GTK_BOX(c), c->count);
}

GtkWidget *tm_picture_chooser_new(guint most) {
  TmPictureChooser *c = g_object_new(TM_TYPE_PICTURE_CHOOSER, NULL);
  c->most = most;
  return GTK_WIDGET(c);
}

void tm_picture_chooser_set(TmPictureChooser *c, const char *const *names, const guint *chosen, guint n_chosen) {
  g_hash_table_remove_all(c->chosen);
  for (guint i = 0; i < n_chosen; i++) g_hash_table_add(c->chosen, GUINT_TO_POINTER(chosen[i]));
  g_autoptr(GtkStringList) all = gtk_string_list_new(names);
  const guint n = g_list_model_get_n_items(G_LIST_MODEL(all));
  for (guint i = 0; i < n; i++) { /* the index goes with the name, whatever the search leaves out */
    g_autoptr(GObject) item = g_list_model_get_item(G_LIST_MODEL(all), i);
    g_object_set_data(item, "index", GUINT_TO_POINTER(i));
  }
  gtk_filter_list_model_set_model(c->filtered, G_LIST_MODEL(all));
  show_count(c);
}

static gint ascending(gconstpointer a, gconstpointer b) {
  const guint x = *(const guint *)a, y = *(const guint *)b;
  return x < y ? -1 : x > y;
}

GArray *tm_picture_chooser_get(TmPictureChooser *c) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(guint));
  GHashTableIter it;
  gpointer index;
  g_hash_table_iter_init(&it, c->chosen);
  while (g_hash_table_iter_next(&it, &index, NULL)) {
    const guint i = GPOINTER_TO_UINT(index);
    g_array_append_val(out, i);
  }
  g_array_sort(out, ascending);
  return out;
}
