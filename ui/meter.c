#include "ui/meter.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/words.h"

struct _TmMeter {
  GtkBox parent;
  TmReading reading;
  const char *title;
  GtkWidget *value, *spark, *caption;
  char *caption_text, *missing_text;
  gint64 described; /* monotonic time of the last description */
};

G_DEFINE_FINAL_TYPE(TmMeter, tm_meter, GTK_TYPE_BOX)

static void finalize(GObject *o) {
  g_free(TM_METER(o)->caption_text);
  g_free(TM_METER(o)->missing_text);
  G_OBJECT_CLASS(tm_meter_parent_class)->finalize(o);
}

static void tm_meter_class_init(TmMeterClass *c) {
  G_OBJECT_CLASS(c)->finalize = finalize;
}

static void tm_meter_init(TmMeter *m) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(m), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(m), 4);
  gtk_widget_set_hexpand(GTK_WIDGET(m), TRUE);
}

GtkWidget *tm_meter_new(const char *title, TmReading reading, TmInk ink) {
  TmMeter *m = g_object_new(TM_TYPE_METER, NULL);
  m->reading = reading;
  m->title = title;
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *name = gtk_label_new(title);
  gtk_label_set_xalign(GTK_LABEL(name), 0);
  gtk_label_set_ellipsize(GTK_LABEL(name), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand(name, TRUE);
  gtk_label_set_max_width_chars(GTK_LABEL(name), 1);
  gtk_widget_add_css_class(name, "tm-small");
  m->value = gtk_label_new("–");
  gtk_widget_add_css_class(m->value, "tm-small");
  gtk_widget_add_css_class(m->value, "tm-strong");
  gtk_widget_add_css_class(m->value, "numeric");
  gtk_box_append(GTK_BOX(head), name);
  gtk_box_append(GTK_BOX(head), m->value);
  m->spark = tm_spark_new(ink);
  gtk_widget_set_size_request(m->spark, 80, 32);
  gtk_accessible_update_property(GTK_ACCESSIBLE(m->spark), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  m->caption = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(m->caption), 0);
  gtk_label_set_ellipsize(GTK_LABEL(m->caption), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars(GTK_LABEL(m->caption), 1); /* takes what there is, asks for nothing */
  gtk_widget_add_css_class(m->caption, "tm-tiny");
  gtk_widget_add_css_class(m->caption, "tm-dim");
  gtk_box_append(GTK_BOX(m), head);
  gtk_box_append(GTK_BOX(m), m->spark);
  gtk_box_append(GTK_BOX(m), m->caption);
  return GTK_WIDGET(m);
}

void tm_meter_set_full(TmMeter *m, double full) {
  tm_spark_set_full(TM_SPARK(m->spark), full);
}

void tm_meter_set_caption(TmMeter *m, const char *caption, const char *missing) {
  g_free(m->caption_text);
  g_free(m->missing_text);
  m->caption_text = g_strdup(caption);
  m->missing_text = g_strdup(missing);
}

char *tm_meter_text(TmReading reading, double value) {
  if (isnan(value)) return g_strdup(_("not available"));
  switch (reading) {
  case TM_READING_CPU_LOAD:
  case TM_READING_GPU_LOAD:
  case TM_READING_GPU_MEMORY_LOAD:
    return g_strdup_printf("%.0f\u2009%%", value);
  case TM_READING_MEMORY:
  case TM_READING_PROCESS:
  case TM_READING_GPU_MEMORY:
    return tm_words_bytes(value);
  case TM_READING_CPU_TEMPERATURE:
  case TM_READING_GPU_TEMPERATURE:
    return g_strdup_printf("%.0f\u2009°C", value);
  case TM_READING_GPU_POWER:
    return g_strdup_printf("%.0f\u2009W", value);
  case TM_READING_GPU_CLOCK:
  case TM_READING_GPU_MEMORY_CLOCK:
    return g_strdup_printf("%.0f\u2009MHz", value);
  case TM_READING_GPU_THROTTLE: {
    char *slow = tm_throttle_text((guint)value);
    return slow ? slow : g_strdup(_("at full speed"));
  }
  case TM_READING_GPU_PCIE_IN:
  case TM_READING_GPU_PCIE_OUT:
  case TM_READING_DISK_READ: {
    g_autofree char *bytes = tm_words_bytes(value);
    return g_strdup_printf(_("%s/s"), bytes);
  }
  default:
    return tm_words_value(value);
  }
}

double tm_meter_feed(TmSpark *s, TmReading reading, const TmMonitorSample *samples, guint n) {
  float ages[TM_MONITOR_RING], values[TM_MONITOR_RING];
  gint64 now = n ? samples[n - 1].time_us : 0;
  guint kept = 0;
  double newest = NAN;
  for (guint i = 0; i < n && kept < TM_MONITOR_RING; i++) {
    double age = (double)(now - samples[i].time_us) / 1e6;
    if (age > TM_SPARK_SECONDS + 1) continue;
    newest = samples[i].valid & (1u << reading) ? samples[i].value[reading] : NAN;
    ages[kept] = (float)age;
    values[kept++] = (float)newest;
  }
  tm_spark_set_points(s, ages, values, kept);
  return newest;
}

void tm_meter_update(TmMeter *m, const TmMonitorSample *samples, guint n) {
  double newest = tm_meter_feed(TM_SPARK(m->spark), m->reading, samples, n);
  g_autofree char *text = n ? tm_meter_text(m->reading, newest) : g_strdup("–");
  gtk_label_set_label(GTK_LABEL(m->value), text);
  if (isnan(newest))
    gtk_widget_add_css_class(m->value, "tm-dim");
  else
    gtk_widget_remove_css_class(m->value, "tm-dim");
  const char *caption = isnan(newest) && n ? m->missing_text : m->caption_text;
  gtk_label_set_label(GTK_LABEL(m->caption), caption ? caption : "");
  gtk_widget_set_tooltip_text(GTK_WIDGET(m), caption);
  gint64 now = g_get_monotonic_time();
  if (now - m->described < G_USEC_PER_SEC) return;
  m->described = now;
  g_autofree char *words = g_strdup_printf(_("%s %s, last minute"), m->title, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(m->spark), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, words, -1);
}
