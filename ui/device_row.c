#include "ui/device_row.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/sensor_card.h"

struct _TmDeviceRow {
  GtkListBoxRow parent;
  TmDevices *devices;
  int device; /* -1: none */
  GtkWidget *spark, *text;
};

G_DEFINE_FINAL_TYPE(TmDeviceRow, tm_device_row, GTK_TYPE_LIST_BOX_ROW)

/* GTK 4.8 gives list rows no action for assistive technology; this is it. */
static void do_show(GtkWidget *w, const char *name, GVariant *v) {
  (void)name;
  (void)v;
  GtkWidget *list = gtk_widget_get_parent(w);
  gtk_list_box_select_row(GTK_LIST_BOX(list), GTK_LIST_BOX_ROW(w));
  g_signal_emit_by_name(list, "row-activated", w);
}

static void tm_device_row_class_init(TmDeviceRowClass *c) {
  gtk_widget_class_install_action(GTK_WIDGET_CLASS(c), "device.show", NULL, do_show);
}

static void tm_device_row_init(TmDeviceRow *r) {
  (void)r;
}

static TmInk ink_of(TmDeviceKind kind) {
  static const TmInk inks[] = {[TM_DEVICE_GPU] = TM_INK_TRAINING,
                               [TM_DEVICE_PROCESSOR] = TM_INK_LIVE,
                               [TM_DEVICE_MEMORY] = TM_INK_RATE,
                               [TM_DEVICE_DISK] = TM_INK_VALIDATION};
  return inks[kind];
}

static GtkWidget *label_new(const char *text, const char *style, const char *also) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class(l, style);
  gtk_widget_add_css_class(l, also);
  return l;
}

GtkWidget *tm_device_row_new(TmDevices *devices, guint device) {
  TmDeviceRow *r = g_object_new(TM_TYPE_DEVICE_ROW, NULL);
  const TmDevice *d = devices ? tm_devices_get(devices, device) : NULL;
  r->devices = devices;
  r->device = devices ? (int)device : -1;
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10),
            *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  r->spark = tm_spark_new(d ? ink_of(d->kind) : TM_INK_TRAINING);
  gtk_widget_set_size_request(r->spark, 56, 34);
  gtk_widget_set_valign(r->spark, GTK_ALIGN_CENTER);
  if (d) tm_spark_set_full(TM_SPARK(r->spark), g_array_index(d->sensors, TmSensor, 0).full);
  r->text = label_new(d ? "–" : _("none found"), "tm-tiny", "tm-dim");
  gtk_widget_add_css_class(r->text, "numeric");
  gtk_widget_set_valign(words, GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(words), label_new(d ? d->title : _("GPU"), "tm-small", "tm-strong"));
  gtk_box_append(GTK_BOX(words), r->text);
  gtk_box_append(GTK_BOX(box), r->spark);
  gtk_box_append(GTK_BOX(box), words);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(r), box);
  gtk_accessible_update_property(GTK_ACCESSIBLE(r->spark), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 d ? d->title : _("GPU"), -1);
  tm_device_row_update(r);
  return GTK_WIDGET(r);
}

int tm_device_row_device(TmDeviceRow *r) {
  return r->device;
}

/* "62 % · 61 °C": the first reading, and the temperature where there is one; of memory "11.2 of 32 GB". */
static char *words_now(TmDeviceRow *r) {
  const TmDevice *d = tm_devices_get(r->devices, (guint)r->device);
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  GString *s = g_string_new(NULL);
  guint n = tm_devices_read(r->devices, (guint)r->device, 0, ages, values);
  const TmSensor *first = &g_array_index(d->sensors, TmSensor, 0);
  g_autofree char *value = n ? tm_sensor_text(first->unit, (double)values[n - 1]) : g_strdup("–");
  g_string_append(s, value);
  if (d->kind == TM_DEVICE_DISK) g_string_append(s, _(" read"));
  if (d->kind == TM_DEVICE_MEMORY && first->caption) g_string_append_printf(s, " %s", first->caption);
  if (d->kind == TM_DEVICE_PROCESSOR && first->caption) g_string_append_printf(s, " · %s", first->caption);
  for (guint k = 1; d->kind == TM_DEVICE_GPU && k < d->sensors->len; k++) {
    if (g_array_index(d->sensors, TmSensor, k).unit != TM_UNIT_CELSIUS) continue;
    n = tm_devices_read(r->devices, (guint)r->device, k, ages, values);
    if (!n || isnan(values[n - 1])) continue;
    g_autofree char *heat = tm_sensor_text(TM_UNIT_CELSIUS, (double)values[n - 1]);
    g_string_append_printf(s, " · %s", heat);
  }
  return g_string_free(s, FALSE);
}

void tm_device_row_update(TmDeviceRow *r) {
  if (r->device < 0) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(r), GTK_ACCESSIBLE_PROPERTY_LABEL, _("GPU, none found"),
                                   -1);
    return;
  }
  float ages[TM_DEVICES_RING], values[TM_DEVICES_RING];
  const guint n = tm_devices_read(r->devices, (guint)r->device, 0, ages, values);
  tm_spark_set_points(TM_SPARK(r->spark), ages, values, n);
  g_autofree char *text = words_now(r);
  gtk_label_set_label(GTK_LABEL(r->text), text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(r), text);
  g_autofree char *name =
      g_strdup_printf("%s, %s", tm_devices_get(r->devices, (guint)r->device)->title, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(r), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}
