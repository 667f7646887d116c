#include "ui/confusion_table.h"

#include <glib/gi18n.h>

#include "engine/run/history_csv.h"
#include "ui/cell_item.h"
#include "ui/words.h"

struct _TmConfusionTable {
  GtkBox parent;
  GListStore *rows;
};

G_DEFINE_FINAL_TYPE(TmConfusionTable, tm_confusion_table, GTK_TYPE_BOX)

enum { COL_TRUTH, COL_CALL, COL_SHARE, COL_PIXELS, N_COLS };

static const char *const titles[N_COLS] = {N_("Truth"), N_("Called"), N_("Of truth"), N_("Pixels")};

static char *text_of(TmCellItem *i, int column) {
  switch (column) {
  case COL_TRUTH:
    return g_strdup(tm_cell_item_get_truth(i));
  case COL_CALL:
    return g_strdup(tm_cell_item_get_call(i));
  case COL_SHARE:
    return g_strdup_printf("%.2f\u2009%%", tm_cell_item_get_share(i) * 100);
  default:
    return tm_words_count(tm_cell_item_get_pixels(i));
  }
}

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column) {
  (void)f;
  GtkWidget *l = gtk_label_new(NULL);
  gtk_widget_add_css_class(l, "numeric");
  gtk_label_set_xalign(GTK_LABEL(l), GPOINTER_TO_INT(column) < COL_SHARE ? 0 : 1);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child(item, l);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column) {
  (void)f;
  g_autofree char *text = text_of(gtk_list_item_get_item(item), GPOINTER_TO_INT(column));
  gtk_label_set_label(GTK_LABEL(gtk_list_item_get_child(item)), text);
}

static void copy(GtkButton *b, TmConfusionTable *t) {
  g_autofree char *csv = tm_confusion_table_csv(t);
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(b)), csv);
}

static void dispose(GObject *o) {
  g_clear_object(&TM_CONFUSION_TABLE(o)->rows);
  G_OBJECT_CLASS(tm_confusion_table_parent_class)->dispose(o);
}

static void tm_confusion_table_class_init(TmConfusionTableClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
}

static void tm_confusion_table_init(TmConfusionTable *t) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(t), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(t), 6);
  t->rows = g_list_store_new(TM_TYPE_CELL_ITEM);
  GtkWidget *view = gtk_column_view_new(
      GTK_SELECTION_MODEL(gtk_no_selection_new(g_object_ref(G_LIST_MODEL(t->rows)))));
  gtk_widget_add_css_class(view, "data-table");
  for (int i = 0; i < N_COLS; i++) {
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(setup), GINT_TO_POINTER(i));
    g_signal_connect(f, "bind", G_CALLBACK(bind), GINT_TO_POINTER(i));
    g_autoptr(GtkColumnViewColumn) c = gtk_column_view_column_new(_(titles[i]), f);
    gtk_column_view_column_set_expand(c, TRUE);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(view), c);
  }
  gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Confusion"), -1);
  GtkWidget *scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view);
  gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroller), 200);
  gtk_widget_set_vexpand(scroller, TRUE);
  GtkWidget *button = gtk_button_new_with_label(_("Copy as CSV"));
  gtk_widget_set_halign(button, GTK_ALIGN_END);
  g_signal_connect(button, "clicked", G_CALLBACK(copy), t);
  gtk_box_append(GTK_BOX(t), scroller);
  gtk_box_append(GTK_BOX(t), button);
}

GtkWidget *tm_confusion_table_new(void) {
  return g_object_new(TM_TYPE_CONFUSION_TABLE, NULL);
}

/* Mistakes before what is right, and the frequent before the rare. */
static int by_weight(gconstpointer a, gconstpointer b, gpointer user) {
  (void)user;
  TmCellItem *x = (TmCellItem *)a, *y = (TmCellItem *)b;
  const gboolean right_x = g_str_equal(tm_cell_item_get_truth(x), tm_cell_item_get_call(x)),
                 right_y = g_str_equal(tm_cell_item_get_truth(y), tm_cell_item_get_call(y));
  if (right_x != right_y) return right_x - right_y;
  const guint64 m = tm_cell_item_get_pixels(x), n = tm_cell_item_get_pixels(y);
  return m > n ? -1 : m < n;
}

void tm_confusion_table_set(TmConfusionTable *t, const TmConfusion *c, const TmClassTable *classes) {
  g_list_store_remove_all(t->rows);
  for (guint i = 0; c && i < c->n; i++) {
    const guint64 truth = tm_confusion_truth(c, i);
    for (guint k = 0; k < c->n; k++) {
      const guint64 pixels = c->pixels[(gsize)i * c->n + k];
      if (!pixels) continue;
      g_autoptr(TmCellItem) item = tm_cell_item_new(classes->classes[i].name, classes->classes[k].name, pixels,
                                                    (double)pixels / (double)truth);
      g_list_store_append(t->rows, item);
    }
  }
  g_list_store_sort(t->rows, by_weight, NULL);
}

char *tm_confusion_table_csv(TmConfusionTable *t) {
  GString *s = g_string_new("truth,called,pixels,share_of_truth\n");
  for (guint i = 0; i < g_list_model_get_n_items(G_LIST_MODEL(t->rows)); i++) {
    g_autoptr(TmCellItem) item = g_list_model_get_item(G_LIST_MODEL(t->rows), i);
    tm_csv_text(s, tm_cell_item_get_truth(item));
    g_string_append_c(s, ',');
    tm_csv_text(s, tm_cell_item_get_call(item));
    g_string_append_printf(s, ",%" G_GUINT64_FORMAT ",", tm_cell_item_get_pixels(item));
    tm_csv_number(s, tm_cell_item_get_share(item), 6);
    g_string_append_c(s, '\n');
  }
  return g_string_free(s, FALSE);
}
