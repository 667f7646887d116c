#include "engine/monitor/monitor.h"

#include "engine/monitor/host.h"
#include "engine/monitor/nvml.h"

enum { PERIOD_US = G_USEC_PER_SEC / 4 };

struct _TmMonitor {
  GThread *thread;
  GMutex lock;
  GCond end;
  gboolean ending;
  char *followed; /* the last one asked for */
  char *follow; /* UUID to change to, taken by the thread; NULL when there is nothing to do */
  TmMonitorSample ring[TM_MONITOR_RING];
  guint64 n; /* samples taken in all; the latest is ring[(n - 1) % TM_MONITOR_RING] */
};

static void put(TmMonitor *m, const TmMonitorSample *s) {
  m->ring[m->n % TM_MONITOR_RING] = *s;
  m->n++;
}

/* Waits for the next quarter second; late samples are left out, not made up for. FALSE at the end. */
static gboolean wait_locked(TmMonitor *m, gint64 *next) {
  *next = MAX(*next + PERIOD_US, g_get_monotonic_time());
  while (!m->ending && g_cond_wait_until(&m->end, &m->lock, *next)) {
  }
  return !m->ending;
}

static gpointer run(gpointer data) {
  TmMonitor *m = data;
  /* The libraries are loaded here and not in tm_monitor_new(): a sleeping GPU takes seconds to wake, and the
   * window must not wait. */
  g_autoptr(TmHost) host = tm_host_open("");
  g_autoptr(TmNvml) gpu = tm_nvml_open(NULL);
  gint64 next = g_get_monotonic_time();
  g_mutex_lock(&m->lock);
  do {
    g_autofree char *follow = g_steal_pointer(&m->follow);
    g_mutex_unlock(&m->lock);
    if (follow && gpu) tm_nvml_select(gpu, follow);
    TmMonitorSample s = {.time_us = g_get_monotonic_time()};
    tm_host_sample(host, &s);
    if (gpu) tm_nvml_sample(gpu, &s);
    g_mutex_lock(&m->lock);
    put(m, &s);
  } while (wait_locked(m, &next));
  g_mutex_unlock(&m->lock);
  return NULL;
}

TmMonitor *tm_monitor_new(void) {
  TmMonitor *m = g_new0(TmMonitor, 1);
  g_mutex_init(&m->lock);
  g_cond_init(&m->end);
  m->thread = g_thread_try_new("tm-monitor", run, m,
                               NULL); /* without a thread there are no samples, which readers know */
  return m;
}

void tm_monitor_free(TmMonitor *m) {
  if (!m) return;
  g_mutex_lock(&m->lock);
  m->ending = TRUE;
  g_cond_signal(&m->end);
  g_mutex_unlock(&m->lock);
  if (m->thread) g_thread_join(m->thread);
  g_mutex_clear(&m->lock);
  g_cond_clear(&m->end);
  g_free(m->follow);
  g_free(m->followed);
  g_free(m);
}

void tm_monitor_follow(TmMonitor *m, const char *gpu_uuid) {
  g_mutex_lock(&m->lock);
  if (g_strcmp0(m->followed, gpu_uuid) != 0) {
    g_free(m->follow);
    g_free(m->followed);
    m->follow = g_strdup(gpu_uuid);
    m->followed = g_strdup(gpu_uuid);
  }
  g_mutex_unlock(&m->lock);
}

guint tm_monitor_read(TmMonitor *m, TmMonitorSample *out, guint n) {
  g_mutex_lock(&m->lock);
  const guint have = (guint)MIN(m->n, (guint64)TM_MONITOR_RING), take = MIN(n, have);
  for (guint i = 0; i < take; i++) out[i] = m->ring[(m->n - take + i) % TM_MONITOR_RING];
  g_mutex_unlock(&m->lock);
  return take;
}
