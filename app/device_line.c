#include "app/device_line.h"

#include <glib/gi18n.h>

#include "ui/meter.h"
#include "ui/words.h"

struct _TmDeviceLine {
  GtkBox parent;
  GtkWidget *name, *text;
  TmSpark *spark;
  gboolean has_gpu;
  gsize memory; /* bytes in all, of what is shown */
};

G_DEFINE_FINAL_TYPE(TmDeviceLine, tm_device_line, GTK_TYPE_BOX)

void tm_device_line_set_machine(TmDeviceLine *l, const TmMachine *m) {
  l->has_gpu = m->gpu != NULL;
  l->memory = m->gpu ? m->gpu_memory : m->memory;
  const char *name = m->gpu ? m->gpu : m->cpu ? m->cpu : _("Processor");
  gtk_label_set_label(GTK_LABEL(l->name), name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->spark), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void tm_device_line_update(TmDeviceLine *l, const TmMonitorSample *samples, guint n) {
  double load = tm_meter_feed(l->spark, l->has_gpu ? TM_READING_GPU_LOAD : TM_READING_CPU_LOAD, samples, n);
  if (!n) return;
  const TmMonitorSample *last = &samples[n - 1];
  TmReading memory = l->has_gpu ? TM_READING_GPU_MEMORY : TM_READING_MEMORY,
            heat = l->has_gpu ? TM_READING_GPU_TEMPERATURE : TM_READING_CPU_TEMPERATURE;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *percent = tm_meter_text(TM_READING_CPU_LOAD, load);
  g_string_append(text, percent);
  if (last->valid & (1u << memory)) {
    g_autofree char *used = tm_words_bytes(last->value[memory]), *all = tm_words_bytes((double)l->memory);
    g_string_append_printf(text, _(" · %s of %s"), used, all);
  }
  if (last->valid & (1u << heat)) {
    g_autofree char *degrees = tm_meter_text(heat, last->value[heat]);
    g_string_append_printf(text, " · %s", degrees);
  }
  gtk_label_set_label(GTK_LABEL(l->text), text->str);
  if (l->has_gpu && last->valid & (1u << TM_READING_GPU_THROTTLE)) {
    g_autofree char *slow = tm_throttle_text((guint)last->value[TM_READING_GPU_THROTTLE]);
    if (slow) g_string_append_printf(text, " · %s", slow);
  }
  gtk_widget_set_tooltip_text(GTK_WIDGET(l), text->str);
  gtk_accessible_update_property(GTK_ACCESSIBLE(l->spark), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text->str,
                                 -1);
}

static void tm_device_line_class_init(TmDeviceLineClass *c) {
  (void)c;
}

static GtkWidget *line(const char *weight) {
  GtkWidget *label = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars(GTK_LABEL(label), 1);
  gtk_widget_add_css_class(label, "tm-tiny");
  gtk_widget_add_css_class(label, weight);
  return label;
}

static void tm_device_line_init(TmDeviceLine *l) {
  gtk_box_set_spacing(GTK_BOX(l), 10);
  gtk_widget_add_css_class(GTK_WIDGET(l), "tm-device");
  gtk_box_append(GTK_BOX(l), gtk_image_new_from_icon_name("tm-devices-symbolic"));
  GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_hexpand(words, TRUE);
  l->name = line("tm-strong");
  l->text = line("tm-dim");
  gtk_widget_add_css_class(l->text, "numeric");
  gtk_box_append(GTK_BOX(words), l->name);
  gtk_box_append(GTK_BOX(words), l->text);
  gtk_box_append(GTK_BOX(l), words);
  l->spark = TM_SPARK(tm_spark_new(TM_INK_TRAINING));
  tm_spark_set_full(l->spark, 100);
  gtk_widget_set_size_request(GTK_WIDGET(l->spark), 46, 20);
  gtk_widget_set_valign(GTK_WIDGET(l->spark), GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(l), GTK_WIDGET(l->spark));
}
