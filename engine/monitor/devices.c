#include "engine/monitor/devices.h"

#include <string.h>

#include "engine/monitor/nvml.h"
#include "engine/monitor/source.h"

enum { PERIOD_US = G_USEC_PER_SEC, LATE_US = 5 * PERIOD_US / 2, SILENT = 3 };

typedef struct {
  TmSource *source;
  guint n;      /* sensors */
  double *ring; /* TM_DEVICES_RING rows of n */
  guint silent; /* samples in a row without any reading */
  gboolean spoke;
  char *note;       /* of TmSource.tell(), as the next */
  GArray *programs; /* NULL: none told */
} Device;

/* What a look at one device brings. */
typedef struct {
  double *values;
  char *note;
  GArray *programs;
} Look;

struct _TmDevices {
  GPtrArray *devices; /* Device; the list is fixed, the rings are under the lock */
  char *gpu_reason;
  GThread *thread; /* from the first wish for samples to the end; whoever calls set_sampling() */
  GMutex lock;
  GCond changed;
  gboolean sampling, ending;
  gint64 time_us[TM_DEVICES_RING];
  guint64 n; /* rows in all; the latest is number (n - 1) % TM_DEVICES_RING */
};

static void device_free(gpointer p) {
  Device *d = p;
  tm_source_free(d->source);
  g_free(d->ring);
  g_free(d->note);
  if (d->programs) g_array_unref(d->programs);
  g_free(d);
}

static void add(TmDevices *d, TmSource *s) {
  Device *one = g_new0(Device, 1);
  one->source = s;
  one->n = s->device.sensors->len;
  one->ring = g_new(double, (gsize)one->n *TM_DEVICES_RING);
  g_ptr_array_add(d->devices, one);
}

static void add_gpus(TmDevices *d) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmNvml) nvml = tm_nvml_open(&error);
  const guint n = nvml ? tm_nvml_n_gpus(nvml) : 0;
  for (guint i = 0; i < n; i++) {
    TmSource *s = tm_source_gpu(i);
    if (s) add(d, s);
  }
  if (error) d->gpu_reason = g_strdup(error->message);
}

TmDevices *tm_devices_new(void) {
  TmDevices *d = g_new0(TmDevices, 1);
  d->devices = g_ptr_array_new_with_free_func(device_free);
  g_mutex_init(&d->lock);
  g_cond_init(&d->changed);
  add_gpus(d);
  add(d, tm_source_processor(""));
  add(d, tm_source_memory(""));
  g_autofree char *data = g_build_filename(g_get_user_data_dir(), "tarmac", NULL);
  add(d, tm_source_disk("", data));
  return d;
}

guint tm_devices_n(const TmDevices *d) {
  return d->devices->len;
}

static Device *get(const TmDevices *d, guint device) {
  return d->devices->pdata[device];
}

const TmDevice *tm_devices_get(const TmDevices *d, guint device) {
  return &get(d, device)->source->device;
}

const char *tm_devices_gpu_reason(const TmDevices *d) {
  return d->gpu_reason;
}

/* ---- sampling ---- */

static double *row_locked(Device *one, guint64 row) {
  return one->ring + row % TM_DEVICES_RING * one->n;
}

/* A row of NAN where no readings were taken for a while, so that no line is drawn over the gap. */
static void mark_gap_locked(TmDevices *d, gint64 now) {
  if (d->n == 0 || now - d->time_us[(d->n - 1) % TM_DEVICES_RING] < LATE_US) return;
  for (guint i = 0; i < d->devices->len; i++) {
    double *row = row_locked(get(d, i), d->n);
    for (guint k = 0; k < get(d, i)->n; k++) row[k] = NAN;
  }
  d->time_us[d->n % TM_DEVICES_RING] = now - PERIOD_US;
  d->n++;
}

static gboolean any(const double *values, guint n) {
  for (guint i = 0; i < n; i++)
    if (!isnan(values[i])) return TRUE;
  return FALSE;
}

static void put_locked(TmDevices *d, gint64 now, const Look *looks) {
  mark_gap_locked(d, now);
  for (guint i = 0; i < d->devices->len; i++) {
    Device *one = get(d, i);
    const gboolean speaks = any(looks[i].values, one->n);
    memcpy(row_locked(one, d->n), looks[i].values, one->n * sizeof(double));
    g_free(one->note);
    one->note = looks[i].note;
    if (one->programs) g_array_unref(one->programs);
    one->programs = looks[i].programs;
    one->silent = speaks ? 0 : one->silent + 1;
    one->spoke |= speaks;
  }
  d->time_us[d->n % TM_DEVICES_RING] = now;
  d->n++;
}

static void look(TmDevices *d, gint64 now, Look *looks) {
  for (guint i = 0; i < d->devices->len; i++) {
    TmSource *source = get(d, i)->source;
    for (guint k = 0; k < get(d, i)->n; k++) looks[i].values[k] = NAN;
    looks[i].note = NULL;
    looks[i].programs = NULL;
    source->sample(source, now, looks[i].values);
    if (source->tell) source->tell(source, &looks[i].note, &looks[i].programs);
  }
}

/* Waits until readings are wanted and, after one, until a second has gone by. FALSE at the end. */
static gboolean wait_locked(TmDevices *d, gint64 next) {
  while (!d->ending && (!d->sampling || g_get_monotonic_time() < next))
    if (d->sampling)
      g_cond_wait_until(&d->changed, &d->lock, next);
    else
      g_cond_wait(&d->changed, &d->lock);
  return !d->ending;
}

static gpointer run(gpointer data) {
  TmDevices *d = data;
  g_autofree Look *looks = g_new0(Look, d->devices->len);
  for (guint i = 0; i < d->devices->len; i++) looks[i].values = g_new(double, MAX(get(d, i)->n, 1u));
  gint64 now = G_MININT64 / 2;
  g_mutex_lock(&d->lock);
  while (wait_locked(d, now + PERIOD_US)) {
    g_mutex_unlock(&d->lock);
    now = g_get_monotonic_time();
    look(d, now, looks);
    g_mutex_lock(&d->lock);
    put_locked(d, now, looks);
  }
  g_mutex_unlock(&d->lock);
  for (guint i = 0; i < d->devices->len; i++) g_free(looks[i].values);
  return NULL;
}

void tm_devices_set_sampling(TmDevices *d, gboolean on) {
  g_mutex_lock(&d->lock);
  d->sampling = on;
  g_cond_signal(&d->changed);
  g_mutex_unlock(&d->lock);
  /* Without a thread there are no samples, which readers know. */
  if (on && !d->thread) d->thread = g_thread_try_new("tm-devices", run, d, NULL);
}

void tm_devices_free(TmDevices *d) {
  if (!d) return;
  g_mutex_lock(&d->lock);
  d->ending = TRUE;
  g_cond_signal(&d->changed);
  g_mutex_unlock(&d->lock);
  if (d->thread) g_thread_join(d->thread);
  g_ptr_array_unref(d->devices);
  g_mutex_clear(&d->lock);
  g_cond_clear(&d->changed);
  g_free(d->gpu_reason);
  g_free(d);
}

/* ---- reading ---- */

guint64 tm_devices_serial(TmDevices *d) {
  g_mutex_lock(&d->lock);
  const guint64 n = d->n;
  g_mutex_unlock(&d->lock);
  return n;
}

guint tm_devices_read(TmDevices *d, guint device, guint sensor, float *ages, float *values) {
  Device *one = get(d, device);
  g_return_val_if_fail(sensor < one->n, 0);
  g_mutex_lock(&d->lock);
  const guint n = (guint)MIN(d->n, (guint64)TM_DEVICES_RING);
  const gint64 newest = n ? d->time_us[(d->n - 1) % TM_DEVICES_RING] : 0;
  for (guint i = 0; i < n; i++) {
    const guint64 row = d->n - n + i;
    ages[i] = (float)((double)(newest - d->time_us[row % TM_DEVICES_RING]) / 1e6);
    values[i] = (float)row_locked(one, row)[sensor];
  }
  g_mutex_unlock(&d->lock);
  return n;
}

gboolean tm_devices_answers(TmDevices *d, guint device) {
  const Device *one = get(d, device);
  g_mutex_lock(&d->lock);
  const gboolean answers = !one->spoke || one->silent < SILENT;
  g_mutex_unlock(&d->lock);
  return answers;
}

char *tm_devices_note(TmDevices *d, guint device) {
  g_mutex_lock(&d->lock);
  char *note = g_strdup(get(d, device)->note);
  g_mutex_unlock(&d->lock);
  return note;
}

static void clear_program(gpointer p) {
  tm_gpu_program_clear(p);
}

GArray *tm_devices_programs(TmDevices *d, guint device) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(TmGpuProgram));
  g_array_set_clear_func(all, clear_program);
  g_mutex_lock(&d->lock);
  const GArray *told = get(d, device)->programs;
  for (guint i = 0; told && i < told->len; i++) {
    TmGpuProgram p = g_array_index(told, TmGpuProgram, i);
    p.name = g_strdup(p.name);
    g_array_append_val(all, p);
  }
  g_mutex_unlock(&d->lock);
  return all;
}

const char *tm_unit_name(TmUnit unit) {
  static const char *const names[] = {"%", "bytes", "°C", "W", "MHz", "bytes/s"};
  return names[unit];
}

static void put_heading(GString *s, const TmSensor *sensor) {
  if (sensor->core >= 0)
    g_string_append_printf(s, ",%s %d (%s)", sensor->key, sensor->core, tm_unit_name(sensor->unit));
  else
    g_string_append_printf(s, ",%s (%s)", sensor->key, tm_unit_name(sensor->unit));
}

char *tm_devices_csv(TmDevices *d, guint device, int sensor) {
  Device *one = get(d, device);
  const GArray *sensors = one->source->device.sensors;
  GString *s = g_string_new("seconds");
  const guint from = sensor < 0 ? 0 : (guint)sensor, to = sensor < 0 ? one->n : (guint)sensor + 1;
  for (guint k = from; k < to; k++) put_heading(s, &g_array_index(sensors, TmSensor, k));
  g_mutex_lock(&d->lock);
  const guint n = (guint)MIN(d->n, (guint64)TM_DEVICES_RING);
  for (guint i = 0; i < n; i++) {
    const guint64 row = d->n - n + i;
    const gint64 age = d->time_us[(d->n - 1) % TM_DEVICES_RING] - d->time_us[row % TM_DEVICES_RING];
    g_string_append_printf(s, "\n%.1f", -(double)age / 1e6 + 0.0);
    for (guint k = from; k < to; k++) {
      const double v = row_locked(one, row)[k];
      char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
      if (!isnan(v)) g_ascii_formatd(text, sizeof text, fabs(v) >= 1e5 ? "%.0f" : "%.1f", v);
      g_string_append_printf(s, ",%s", text);
    }
  }
  g_mutex_unlock(&d->lock);
  g_string_append_c(s, '\n');
  return g_string_free(s, FALSE);
}
