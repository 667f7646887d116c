#include "ui/readings_table.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/sensor_card.h"

/* What one column shows; of the window, all columns have the same rows. */
typedef struct {
  TmUnit unit;
  gboolean ages; /* the first column */
  guint n;
  float values[TM_DEVICES_RING];
} Column;

static void setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer user) {
  (void)f;
  (void)user;
  GtkWidget *l = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(l), 1);
  gtk_widget_add_css_class(l, "numeric");
  gtk_list_item_set_child(item, l);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer user) {
  (void)f;
  const Column *c = user;
  const guint row = gtk_list_item_get_position(item);
  const double v = row < c->n ? (double)c->values[c->n - 1 - row] : NAN; /* newest on top */
  g_autofree char *text = c->ages ? g_strdup_printf(_("%.0f\u2009s ago"), v) : tm_sensor_text(c->unit, v);
  gtk_label_set_label(GTK_LABEL(gtk_list_item_get_child(item)), text);
}

static void add_column(GtkColumnView *view, const char *title, const Column *from) {
  Column *c = g_memdup2(from, sizeof *from);
  GtkListItemFactory *f = gtk_signal_list_item_factory_new();
  g_signal_connect(f, "setup", G_CALLBACK(setup), NULL);
  g_signal_connect_data(f, "bind", G_CALLBACK(bind), c, (GClosureNotify)(void (*)(void))g_free, 0);
  GtkColumnViewColumn *column = gtk_column_view_column_new(title, f);
  gtk_column_view_column_set_expand(column, TRUE);
  gtk_column_view_append_column(view, column);
  g_object_unref(column);
}

static void copy(GtkButton *b, gpointer user) {
  (void)user;
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(b)), g_object_get_data(G_OBJECT(b), "csv"));
}

static GtkWidget *view_new(TmDevices *d, guint device, int only) {
  const GArray *sensors = tm_devices_get(d, device)->sensors;
  Column ages = {.ages = TRUE}, values = {0};
  GtkStringList *rows = gtk_string_list_new(NULL);
  GtkWidget *view = gtk_column_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(G_LIST_MODEL(rows))));
  gtk_widget_add_css_class(view, "data-table");
  for (guint k = 0; k < sensors->len; k++) {
    const TmSensor *s = &g_array_index(sensors, TmSensor, k);
    if (only >= 0 && k != (guint)only) continue;
    values.unit = s->unit;
    values.n = ages.n = tm_devices_read(d, device, k, ages.values, values.values);
    if (k == 0 || only >= 0) add_column(GTK_COLUMN_VIEW(view), _("Time"), &ages);
    add_column(GTK_COLUMN_VIEW(view), s->title, &values);
  }
  for (guint i = 0; i < ages.n; i++) gtk_string_list_append(rows, "");
  gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Readings"), -1);
  return view;
}

static gboolean close_by_key(GtkWidget *w, GVariant *args, gpointer user) {
  (void)args;
  (void)user;
  gtk_window_close(GTK_WINDOW(w));
  return TRUE;
}

void tm_readings_table_present(GtkWindow *parent, TmDevices *d, guint device, int sensor) {
  GtkWidget *w = adw_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
            *header = adw_header_bar_new(), *scroller = gtk_scrolled_window_new(),
            *button = gtk_button_new_with_label(_("Copy as CSV"));
  g_autofree char *title = g_strdup_printf(_("%s, last minute"), tm_devices_get(d, device)->title);
  gtk_window_set_title(GTK_WINDOW(w), title);
  gtk_window_set_transient_for(GTK_WINDOW(w), parent);
  gtk_window_set_modal(GTK_WINDOW(w), TRUE);
  gtk_window_set_default_size(GTK_WINDOW(w), sensor < 0 ? 720 : 360, 520);
  g_object_set_data_full(G_OBJECT(button), "csv", tm_devices_csv(d, device, sensor), g_free);
  g_signal_connect(button, "clicked", G_CALLBACK(copy), NULL);
  adw_header_bar_pack_start(ADW_HEADER_BAR(header), button);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view_new(d, device, sensor));
  gtk_widget_set_vexpand(scroller, TRUE);
  gtk_box_append(GTK_BOX(box), header);
  gtk_box_append(GTK_BOX(box), scroller);
  adw_window_set_content(ADW_WINDOW(w), box);
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                                       gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape"),
                                                        gtk_callback_action_new(close_by_key, NULL, NULL)));
  gtk_widget_add_controller(w, keys);
  gtk_window_present(GTK_WINDOW(w));
}
