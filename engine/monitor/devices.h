/* devices.h: the machine part by part: each GPU, the processor, the memory, the disk; what is known of it, and its readings over the last
 * minute, taken once a second on a thread of their own while somebody looks. A reading that is not to be had is NAN, never 0.
 *
 * Any thread may read. The list of devices and what is known of them does not change after tm_devices_new(). */
#pragma once

#include <glib.h>

#include "engine/monitor/gpu.h"

enum { TM_DEVICES_SECONDS = 60, TM_DEVICES_RING = TM_DEVICES_SECONDS + 4 };

typedef enum { TM_DEVICE_GPU, TM_DEVICE_PROCESSOR, TM_DEVICE_MEMORY, TM_DEVICE_DISK } TmDeviceKind;

typedef enum {
  TM_UNIT_PERCENT,
  TM_UNIT_BYTES,
  TM_UNIT_CELSIUS,
  TM_UNIT_WATTS,
  TM_UNIT_MEGAHERTZ,
  TM_UNIT_BYTES_A_SECOND,
} TmUnit;

typedef struct {
  const char *key; /* "load": its column in a table; static */
  char *title;     /* "Utilisation" */
  TmUnit unit;
  double full;     /* the value at the top of a graph; 0: fits what was seen */
  char *caption;   /* the limit in words, or NULL */
  int core;        /* one core's load: its number; else -1 */
} TmSensor;

typedef struct {
  char *label, *value; /* "Driver", "535.183.01" */
} TmProperty;

typedef struct {
  TmDeviceKind kind;
  int index;        /* among its kind */
  char *title;      /* "GPU 0", "Processor" */
  char *name;       /* "NVIDIA H200"; may be the title */
  char *uuid;       /* of a GPU; NULL otherwise */
  GArray *sensors;  /* TmSensor; the first is the one that stands for the device */
  GArray *properties; /* TmProperty */
} TmDevice;

typedef struct _TmDevices TmDevices;

/** Looks the machine over: loads NVML, which may wake a sleeping GPU and take seconds; not for the main thread. Takes no readings yet.
 * Never NULL; the processor, the memory and the disk are always there. */
TmDevices *tm_devices_new(void);
/** Waits for a reading that is being taken. */
void tm_devices_free(TmDevices *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmDevices, tm_devices_free)

guint tm_devices_n(const TmDevices *d);
const TmDevice *tm_devices_get(const TmDevices *d, guint device);
/** Why no GPU is in the list, a sentence; NULL when there is one. */
const char *tm_devices_gpu_reason(const TmDevices *d);

/** Begins and ends taking readings, without waiting; they are not taken at first. One thread. */
void tm_devices_set_sampling(TmDevices *d, gboolean on);
/** Samples taken so far, which tells whether there is anything new. */
guint64 tm_devices_serial(TmDevices *d);
/** Copies up to TM_DEVICES_RING samples of one sensor, oldest first: @ages in seconds before the newest, @values NAN where there is none
 * (also where no readings were taken for a while). Returns how many. */
guint tm_devices_read(TmDevices *d, guint device, guint sensor, float *ages, float *values);
/** FALSE once three samples in a row had no reading at all of a device that had some. */
gboolean tm_devices_answers(TmDevices *d, guint device);
/** What holds a GPU back now: "slowed down by heat"; NULL: nothing. Free it. */
char *tm_devices_note(TmDevices *d, guint device);
/** Who uses a GPU: TmGpuProgram, an array of one's own; empty for other devices and where it is not told. */
GArray *tm_devices_programs(TmDevices *d, guint device);
/** The readings of one device as CSV: seconds before now, then a column a sensor with its unit; empty where there is none. @sensor -1: all.
 * Free it. */
char *tm_devices_csv(TmDevices *d, guint device, int sensor);
/** "%", "bytes", "°C", "W", "MHz", "bytes/s". */
const char *tm_unit_name(TmUnit unit);
