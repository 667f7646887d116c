#include "ui/device_view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <unistd.h>

#include "ui/sensor_card.h"

enum { WIDE_GRAPH = 140, NARROW_GRAPH = 96, MOST_CORES = 256 };

struct _TmDeviceView {
  GtkBox parent;
  TmDevices *devices;
  guint device;
  GtkWidget *first, *grid;
  GtkWidget *programs; /* box with the list of them; NULL where it is no GPU */
  char *programs_shown;
  GPtrArray *cards; /* TmSensorCard by sensor, which the box owns; shorter than the sensors where there are
                       more cores than can be drawn */
};

G_DEFINE_FINAL_TYPE(TmDeviceView, tm_device_view, GTK_TYPE_BOX)

static void finalize(GObject *o) {
  g_ptr_array_unref(TM_DEVICE_VIEW(o)->cards);
  g_free(TM_DEVICE_VIEW(o)->programs_shown);
  G_OBJECT_CLASS(tm_device_view_parent_class)->finalize(o);
}

static void tm_device_view_class_init(TmDeviceViewClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
}

static void tm_device_view_init(TmDeviceView *v) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(v), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(v), 10);
  v->cards = g_ptr_array_new();
}

static GMenuModel *menu_new(guint sensor) {
  GMenu *m = g_menu_new();
  g_autofree char *copy = g_strdup_printf("devices.copy-sensor(%u)", sensor),
                  *table = g_strdup_printf("devices.sensor-table(%u)", sensor);
  g_menu_append(m, _("Copy"), copy);
  g_menu_append(m, _("Show as Table"), table);
  return G_MENU_MODEL(m);
}

static GtkWidget *card_new(TmDeviceView *v, const TmSensor *s, guint sensor) {
  const gboolean core = s->core >= 0;
  GtkWidget *card = tm_sensor_card_new(s, core ? TM_INK_LIVE : tm_sensor_ink(s->unit), core);
  g_ptr_array_add(v->cards, card);
  if (core) return card;
  g_autoptr(GMenuModel) menu = menu_new(sensor);
  tm_sensor_card_set_menu(TM_SENSOR_CARD(card), menu);
  return card;
}

static GtkWidget *flow_new(guint most) {
  GtkWidget *f = gtk_flow_box_new();
  gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(f), GTK_SELECTION_NONE);
  gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(f), TRUE);
  gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(f), most);
  gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(f), 12);
  gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(f), 10);
  gtk_widget_add_css_class(f, "tm-cards");
  return f;
}

static void insert(GtkWidget *flow, GtkWidget *card) {
  gtk_flow_box_insert(GTK_FLOW_BOX(flow), card, -1);
  gtk_widget_set_focusable(gtk_widget_get_parent(card), FALSE);
}

/* The processor's cores under a heading, as one card. */
static GtkWidget *cores_new(TmDeviceView *v, const GArray *sensors, guint from) {
  GtkWidget *card = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8), *title = gtk_label_new(_("Cores")),
            *flow = flow_new(16);
  gtk_widget_add_css_class(card, "card");
  gtk_widget_add_css_class(card, "tm-card");
  gtk_widget_add_css_class(title, "tm-h2");
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(flow), 2);
  gtk_widget_set_can_focus(flow, FALSE); /* nothing in it takes the keyboard, and a flow box would keep Tab from going on */
  for (guint k = from; k < sensors->len && k < from + MOST_CORES; k++)
    insert(flow, card_new(v, &g_array_index(sensors, TmSensor, k), k));
  gtk_box_append(GTK_BOX(card), title);
  gtk_box_append(GTK_BOX(card), flow);
  return card;
}

/* ---- programs ---- */

static char *program_text(const TmGpuProgram *p) {
  g_autofree char *memory = isnan(p->memory) ? NULL : tm_sensor_text(TM_UNIT_BYTES, p->memory);
  const char *kind = p->pid == (guint)getpid() ? _("this window") : p->draws ? _("draws") : _("computes");
  return g_strdup_printf("%s · %u%s%s", kind, p->pid, memory ? " · " : "", memory ? memory : "");
}

static GtkWidget *program_row(const TmGpuProgram *p) {
  GtkWidget *row = adw_action_row_new();
  g_autofree char *text = program_text(p);
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row),
                                p->name ? p->name : _("Program that cannot be seen from here"));
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), text);
  adw_action_row_add_prefix(
      ADW_ACTION_ROW(row),
      gtk_image_new_from_icon_name(p->draws ? "video-display-symbolic" : "tm-train-symbolic"));
  return row;
}

static void show_programs(TmDeviceView *v) {
  g_autoptr(GArray) all = tm_devices_programs(v->devices, v->device);
  g_autoptr(GString) key = g_string_new(NULL);
  for (guint i = 0; i < all->len; i++) {
    g_autofree char *text = program_text(&g_array_index(all, TmGpuProgram, i));
    g_string_append_printf(key, "%s\n", text);
  }
  if (g_strcmp0(key->str, v->programs_shown) == 0)
    return; /* rows stay as long as they are right: somebody may be on one */
  g_free(v->programs_shown);
  v->programs_shown = g_strdup(key->str);
  GtkWidget *list = gtk_widget_get_last_child(v->programs);
  for (GtkWidget *c; (c = gtk_widget_get_first_child(list));) gtk_list_box_remove(GTK_LIST_BOX(list), c);
  for (guint i = 0; i < all->len; i++)
    gtk_list_box_append(GTK_LIST_BOX(list), program_row(&g_array_index(all, TmGpuProgram, i)));
  gtk_widget_set_visible(v->programs, all->len > 0);
}

static GtkWidget *programs_new(void) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8),
            *title = gtk_label_new(_("Programs on this GPU")), *list = gtk_list_box_new();
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_add_css_class(title, "tm-h2");
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  gtk_widget_add_css_class(list, "tm-slim");
  gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Programs on this GPU"), -1);
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), list);
  gtk_widget_set_visible(box, FALSE);
  return box;
}

GtkWidget *tm_device_view_new(TmDevices *devices, guint device) {
  TmDeviceView *v = g_object_new(TM_TYPE_DEVICE_VIEW, NULL);
  const GArray *sensors = tm_devices_get(devices, device)->sensors;
  v->devices = devices;
  v->device = device;
  v->grid = flow_new(2);
  for (guint k = 0; k < sensors->len; k++) {
    const TmSensor *s = &g_array_index(sensors, TmSensor, k);
    if (s->core >= 0) {
      gtk_box_append(GTK_BOX(v), cores_new(v, sensors, k));
      break; /* the cores are the last */
    }
    GtkWidget *card = card_new(v, s, k);
    if (k > 0) {
      insert(v->grid, card);
      continue;
    }
    v->first = card;
    gtk_box_append(GTK_BOX(v), card);
    gtk_box_append(GTK_BOX(v), v->grid);
  }
  if (tm_devices_get(devices, device)->kind == TM_DEVICE_GPU) {
    v->programs = programs_new();
    gtk_box_append(GTK_BOX(v), v->programs);
  }
  tm_device_view_set_narrow(v, FALSE);
  tm_device_view_update(v);
  return GTK_WIDGET(v);
}

void tm_device_view_update(TmDeviceView *v) {
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  for (guint k = 0; k < v->cards->len; k++) {
    const guint n = tm_devices_read(v->devices, v->device, k, ages, values);
    tm_sensor_card_update(v->cards->pdata[k], ages, values, n);
  }
  if (v->programs) show_programs(v);
}

void tm_device_view_set_narrow(TmDeviceView *v, gboolean narrow) {
  tm_sensor_card_set_graph_height(TM_SENSOR_CARD(v->first), narrow ? NARROW_GRAPH : WIDE_GRAPH);
  gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(v->grid), narrow ? 1 : 2);
}
