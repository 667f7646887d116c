/* source.h: where a device's readings come from. Private to monitor. One thread at a time. */
#pragma once

#include <math.h>

#include "engine/monitor/devices.h"

typedef struct _TmSource TmSource;
struct _TmSource {
  TmDevice device;
  /* One value a sensor into @values, which are NAN before; @now_us: g_get_monotonic_time(). Rates need a call before. */
  void (*sample)(TmSource *s, gint64 now_us, double *values);
  /* (optional) After a sample: *@note, what holds the device back, a part of a sentence or NULL; *@programs, TmGpuProgram of those that
   * use it. Both are given over. */
  void (*tell)(TmSource *s, char **note, GArray **programs);
  void (*close)(TmSource *s); /* frees the implementation's fields, not the source */
};

/* Each allocates a larger structure that begins with a TmSource; @root: "" for this machine, a folder with proc/ and sys/ in it for tests. */
TmSource *tm_source_processor(const char *root);
TmSource *tm_source_memory(const char *root);
/** @folder: the file system looked at. */
TmSource *tm_source_disk(const char *root, const char *folder);
/** GPU number @index by NVML's count. NULL when there is none such. */
TmSource *tm_source_gpu(guint index);
void tm_source_free(TmSource *s);

/** Sets up the device; strings are copied. */
void tm_source_init(TmSource *s, TmDeviceKind kind, int index, const char *title, const char *name);
/** Takes @title and @caption over. */
void tm_source_add_sensor(TmSource *s, const char *key, char *title, TmUnit unit, double full, char *caption, int core);
/** Takes @value over; NULL or "" adds nothing. */
void tm_source_add_property(TmSource *s, const char *label, char *value);
