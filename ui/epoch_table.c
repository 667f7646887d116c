#include "ui/epoch_table.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/epoch_item.h"
#include "ui/words.h"

struct _TmEpochTable {
  GtkBox parent;
  GListStore *rows;
  GtkWidget *empty, *scroller;
};

G_DEFINE_FINAL_TYPE(TmEpochTable, tm_epoch_table, GTK_TYPE_BOX)

typedef enum { COL_EPOCH, COL_TRAIN, COL_VAL, COL_MIOU, COL_ACCURACY, COL_TIME, N_COLS } Column;

static const char *const titles[N_COLS] = {N_("Epoch"),    N_("Training"), N_("Validation"),
                                           N_("Mean IoU"), N_("Accuracy"), N_("Time")};
static const char *const csv_names[N_COLS] = {"epoch", "train_loss", "val_loss",
                                              "miou",  "accuracy",   "seconds"};

static double cell(const TmEpochRow *r, Column c) {
  const double values[N_COLS] = {r->epoch + 1.0,  (double)r->train_loss, (double)r->val_loss,
                                 (double)r->miou, (double)r->accuracy,   (double)r->seconds};
  return values[c];
}

static char *cell_text(const TmEpochRow *r, Column c) {
  double v = cell(r, c);
  if (c == COL_EPOCH)
    return r->best ? g_strdup_printf(_("%u, best"), r->epoch + 1) : g_strdup_printf("%u", r->epoch + 1);
  if (c == COL_TIME) return tm_words_duration(v);
  return c == COL_MIOU || c == COL_ACCURACY ? (isnan(v) ? g_strdup("–") : g_strdup_printf("%.3f", v))
                                            : tm_words_value(v);
}

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column) {
  (void)f;
  GtkWidget *l = gtk_label_new(NULL);
  gtk_widget_add_css_class(l, "numeric");
  gtk_label_set_xalign(GTK_LABEL(l), GPOINTER_TO_INT(column) == COL_EPOCH ? 0 : 1);
  gtk_list_item_set_child(item, l);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column) {
  (void)f;
  const TmEpochRow *r = tm_epoch_item_get_row(gtk_list_item_get_item(item));
  g_autofree char *text = cell_text(r, (Column)GPOINTER_TO_INT(column));
  GtkWidget *l = gtk_list_item_get_child(item);
  gtk_label_set_label(GTK_LABEL(l), text);
  if (r->best)
    gtk_widget_add_css_class(l, "tm-strong");
  else
    gtk_widget_remove_css_class(l, "tm-strong");
}

static void copy(GtkButton *b, TmEpochTable *t) {
  g_autofree char *csv = tm_epoch_table_csv(t);
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(b)), csv);
}

static void dispose(GObject *o) {
  g_clear_object(&TM_EPOCH_TABLE(o)->rows);
  G_OBJECT_CLASS(tm_epoch_table_parent_class)->dispose(o);
}

static void tm_epoch_table_class_init(TmEpochTableClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
}

static void tm_epoch_table_init(TmEpochTable *t) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(t), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(t), 6);
  t->rows = g_list_store_new(TM_TYPE_EPOCH_ITEM);
  GtkSelectionModel *model = GTK_SELECTION_MODEL(gtk_no_selection_new(g_object_ref(G_LIST_MODEL(t->rows))));
  GtkWidget *view = gtk_column_view_new(model);
  gtk_widget_add_css_class(view, "data-table");
  for (int i = 0; i < N_COLS; i++) {
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(setup), GINT_TO_POINTER(i));
    g_signal_connect(f, "bind", G_CALLBACK(bind), GINT_TO_POINTER(i));
    GtkColumnViewColumn *c = gtk_column_view_column_new(_(titles[i]), f);
    gtk_column_view_column_set_expand(c, TRUE);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(view), c);
    g_object_unref(c);
  }
  gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Epochs"), -1);
  t->scroller = gtk_scrolled_window_new();
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(t->scroller), view);
  gtk_widget_set_vexpand(t->scroller, TRUE);
  t->empty = gtk_label_new(_("The table begins with the first finished epoch."));
  gtk_widget_add_css_class(t->empty, "tm-dim");
  gtk_label_set_wrap(GTK_LABEL(t->empty), TRUE);
  GtkWidget *button = gtk_button_new_with_label(_("Copy as CSV"));
  gtk_widget_set_halign(button, GTK_ALIGN_END);
  g_signal_connect(button, "clicked", G_CALLBACK(copy), t);
  gtk_box_append(GTK_BOX(t), t->empty);
  gtk_box_append(GTK_BOX(t), t->scroller);
  gtk_box_append(GTK_BOX(t), button);
}

GtkWidget *tm_epoch_table_new(void) {
  return g_object_new(TM_TYPE_EPOCH_TABLE, NULL);
}

void tm_epoch_table_clear(TmEpochTable *t) {
  g_list_store_remove_all(t->rows);
  gtk_widget_set_visible(t->empty, TRUE);
}

void tm_epoch_table_add(TmEpochTable *t, const TmEpochRow *row) {
  for (guint n; (n = g_list_model_get_n_items(G_LIST_MODEL(t->rows))) >
                0;) { /* a resumed run writes its epochs again */
    g_autoptr(TmEpochItem) last = g_list_model_get_item(G_LIST_MODEL(t->rows), n - 1);
    if (tm_epoch_item_get_row(last)->epoch < row->epoch) break;
    g_list_store_remove(t->rows, n - 1);
  }
  g_autoptr(TmEpochItem) item = tm_epoch_item_new(row);
  g_list_store_append(t->rows, item);
  gtk_widget_set_visible(t->empty, FALSE);
}

char *tm_epoch_table_csv(TmEpochTable *t) {
  GString *s = g_string_new(NULL);
  for (int c = 0; c < N_COLS; c++) g_string_append_printf(s, "%s%s", c ? "," : "", csv_names[c]);
  g_string_append_c(s, '\n');
  guint n = g_list_model_get_n_items(G_LIST_MODEL(t->rows));
  for (guint i = 0; i < n; i++) {
    g_autoptr(TmEpochItem) item = g_list_model_get_item(G_LIST_MODEL(t->rows), i);
    for (int c = 0; c < N_COLS; c++) {
      double v = cell(tm_epoch_item_get_row(item), (Column)c);
      char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
      if (isfinite(v)) g_ascii_formatd(text, sizeof text, "%.7g", v);
      g_string_append_printf(s, "%s%s", c ? "," : "", text);
    }
    g_string_append_c(s, '\n');
  }
  return g_string_free(s, FALSE);
}
