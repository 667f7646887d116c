/* host.h: readings of the processor, the memory and this process from /proc and /sys. Private to monitor. One
 * thread at a time. */
#pragma once

#include "engine/monitor/monitor.h"

typedef struct _TmHost TmHost;

/** @root: "" for this machine; a folder with proc/ and sys/ in it for tests. */
TmHost *tm_host_open(const char *root);
void tm_host_close(TmHost *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TmHost, tm_host_close)

/** Fills the host's values of @s and sets their bits. s->time_us must be set. Rates (load, disk) need a call
 * before and are invalid at first. */
void tm_host_sample(TmHost *h, TmMonitorSample *s);

/** The processor's name; the machine's architecture when it has none. Never NULL. */
char *tm_host_cpu_name(const char *root);
/** Bytes of memory this process may use: the machine's, or its container's limit. 0 when unknown. */
gsize tm_host_memory(const char *root);

static inline void tm_monitor_set(TmMonitorSample *s, TmReading r, double value) {
  s->value[r] = value;
  s->valid |= 1u << r;
}
