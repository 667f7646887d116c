#include "engine/monitor/source.h"

static void sensor_clear(gpointer p) {
  TmSensor *s = p;
  g_free(s->title);
  g_free(s->caption);
}

static void property_clear(gpointer p) {
  TmProperty *q = p;
  g_free(q->label);
  g_free(q->value);
}

void tm_source_init(TmSource *s, TmDeviceKind kind, int index, const char *title, const char *name) {
  TmDevice *d = &s->device;
  *d = (TmDevice){.kind = kind, .index = index, .title = g_strdup(title), .name = g_strdup(name)};
  d->sensors = g_array_new(FALSE, TRUE, sizeof(TmSensor));
  d->properties = g_array_new(FALSE, TRUE, sizeof(TmProperty));
  g_array_set_clear_func(d->sensors, sensor_clear);
  g_array_set_clear_func(d->properties, property_clear);
}

void tm_source_add_sensor(TmSource *s, const char *key, char *title, TmUnit unit, double full, char *caption,
                          int core) {
  const TmSensor one = {
      .key = key, .title = title, .unit = unit, .full = full, .caption = caption, .core = core};
  g_array_append_val(s->device.sensors, one);
}

void tm_source_add_property(TmSource *s, const char *label, char *value) {
  if (!value || !*value) {
    g_free(value);
    return;
  }
  const TmProperty one = {.label = g_strdup(label), .value = value};
  g_array_append_val(s->device.properties, one);
}

void tm_source_free(TmSource *s) {
  if (!s) return;
  if (s->close) s->close(s);
  g_free(s->device.title);
  g_free(s->device.name);
  g_free(s->device.uuid);
  g_array_unref(s->device.sensors);
  g_array_unref(s->device.properties);
  g_free(s);
}
