/* The memory: in use on the machine, of this process, swapped out. */
#include <glib/gi18n.h>

#include "engine/monitor/host.h"
#include "engine/monitor/proc.h"
#include "engine/monitor/source.h"

typedef struct {
  TmSource base;
  char *root;
  TmHost *host;
  gboolean swap; /* there is some, and a sensor for it */
} Memory;

enum { USED, OWN, SWAP };

static void sample(TmSource *s, gint64 now_us, double *values) {
  Memory *m = (Memory *)s;
  TmMonitorSample t = {.time_us = now_us};
  tm_host_sample(m->host, &t);
  if (t.valid & 1u << TM_READING_MEMORY) values[USED] = t.value[TM_READING_MEMORY];
  if (t.valid & 1u << TM_READING_PROCESS) values[OWN] = t.value[TM_READING_PROCESS];
  if (!m->swap) return;
  g_autofree char *text = tm_proc_text(m->root, "/proc/meminfo");
  guint64 total, left;
  if (tm_proc_number(text, "SwapTotal:", &total) && tm_proc_number(text, "SwapFree:", &left) && total >= left)
    values[SWAP] = (double)(total - left) * 1024;
}

static void close_memory(TmSource *s) {
  Memory *m = (Memory *)s;
  tm_host_close(m->host);
  g_free(m->root);
}

TmSource *tm_source_memory(const char *root) {
  Memory *m = g_new0(Memory, 1);
  TmSource *s = &m->base;
  m->root = g_strdup(root);
  m->host = tm_host_open(root);
  g_autofree char *text = tm_proc_text(root, "/proc/meminfo");
  guint64 total = 0, swap = 0;
  tm_proc_number(text, "MemTotal:", &total);
  tm_proc_number(text, "SwapTotal:", &swap);
  const gsize usable = tm_host_memory(root);
  g_autofree char *size = total ? g_format_size(total * 1024) : NULL;
  tm_source_init(s, TM_DEVICE_MEMORY, 0, _("Memory"), _("Memory"));
  s->sample = sample;
  s->close = close_memory;
  const double full = (double)total * 1024;
  char *of = size ? g_strdup_printf(_("of %s"), size) : NULL;
  tm_source_add_sensor(s, "used", g_strdup(_("In use")), TM_UNIT_BYTES, full, of, -1);
  tm_source_add_sensor(s, "tarmac", g_strdup("Tarmac"), TM_UNIT_BYTES, full, g_strdup(of), -1);
  m->swap = swap > 0;
  g_autofree char *swap_size = g_format_size(swap * 1024);
  if (m->swap)
    tm_source_add_sensor(s, "swap", g_strdup(_("Swapped out")), TM_UNIT_BYTES, (double)swap * 1024,
                         g_strdup_printf(_("of %s"), swap_size), -1);
  tm_source_add_property(s, _("Installed"), g_strdup(size));
  if (usable && usable < total * 1024)
    tm_source_add_property(s, _("Limit of the container"), g_format_size(usable));
  tm_source_add_property(s, _("Swap"), swap ? g_strdup(swap_size) : g_strdup(_("none")));
  return s;
}
