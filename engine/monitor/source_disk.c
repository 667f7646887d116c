/* The disks: what this process and what the whole machine reads and writes. */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include <glib/gi18n.h>

#include "engine/monitor/proc.h"
#include "engine/monitor/source.h"

enum {
  READ,
  WRITE,
  OWN_READ,
  OWN_WRITE,
  N_RATES,
  SECTOR = 512 /* of /proc/diskstats, whatever the disk's is */
};

typedef struct {
  TmSource base;
  char *root;
  guint64 last[N_RATES];
  gboolean have[N_RATES];
  gint64 time_us;
} Disk;

/* Loops, RAM disks and mappings are stacked on disks that are counted already; partitions are part of one. */
static gboolean whole_disk(const Disk *d, const char *name) {
  static const char *const stacked[] = {"loop", "ram", "zram", "dm-", "md", "sr", "fd"};
  for (guint i = 0; i < G_N_ELEMENTS(stacked); i++)
    if (g_str_has_prefix(name, stacked[i])) return FALSE;
  g_autofree char *path = g_strconcat(d->root, "/sys/block/", name, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

static void read_machine(const Disk *d, guint64 *now, gboolean *have) {
  g_autofree char *text = tm_proc_text(d->root, "/proc/diskstats");
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    char name[64];
    unsigned long long in, out;
    if (sscanf(line, "%*u %*u %63s %*u %*u %llu %*u %*u %*u %llu", name, &in, &out) != 3 ||
        !whole_disk(d, name))
      continue;
    now[READ] += in * SECTOR;
    now[WRITE] += out * SECTOR;
    have[READ] = have[WRITE] = TRUE;
  }
}

static void sample(TmSource *s, gint64 now_us, double *values) {
  Disk *d = (Disk *)s;
  guint64 now[N_RATES] = {0};
  gboolean have[N_RATES] = {FALSE};
  read_machine(d, now, have);
  g_autofree char *io = tm_proc_text(d->root, "/proc/self/io");
  have[OWN_READ] = tm_proc_number(io, "read_bytes:", &now[OWN_READ]);
  have[OWN_WRITE] = tm_proc_number(io, "write_bytes:", &now[OWN_WRITE]);
  const double seconds = (double)(now_us - d->time_us) / 1e6;
  for (int i = 0; i < N_RATES; i++)
    if (d->time_us && seconds > 0 && have[i] && d->have[i] && now[i] >= d->last[i])
      values[i] = (double)(now[i] - d->last[i]) / seconds;
  memcpy(d->last, now, sizeof now);
  memcpy(d->have, have, sizeof have);
  d->time_us = now_us;
}

static void close_disk(TmSource *s) {
  g_free(((Disk *)s)->root);
}

/* The file system may not exist yet where nothing was written so far: its nearest parent that does. */
static gboolean space(const char *folder, struct statvfs *out) {
  g_autofree char *at = g_strdup(folder);
  while (statvfs(at, out) != 0) {
    g_autofree char *up = g_path_get_dirname(at);
    if (strcmp(up, at) == 0) return FALSE;
    g_free(at);
    at = g_steal_pointer(&up);
  }
  return TRUE;
}

TmSource *tm_source_disk(const char *root, const char *folder) {
  Disk *d = g_new0(Disk, 1);
  TmSource *s = &d->base;
  d->root = g_strdup(root);
  tm_source_init(s, TM_DEVICE_DISK, 0, _("Disk"), _("Disk"));
  s->sample = sample;
  s->close = close_disk;
  tm_source_add_sensor(s, "read", g_strdup(_("Read")), TM_UNIT_BYTES_A_SECOND, 0, g_strdup(_("all programs")),
                       -1);
  tm_source_add_sensor(s, "written", g_strdup(_("Written")), TM_UNIT_BYTES_A_SECOND, 0,
                       g_strdup(_("all programs")), -1);
  tm_source_add_sensor(s, "tarmac_read", g_strdup(_("Tarmac reads")), TM_UNIT_BYTES_A_SECOND, 0,
                       g_strdup(_("0 while pictures come from memory")), -1);
  tm_source_add_sensor(s, "tarmac_written", g_strdup(_("Tarmac writes")), TM_UNIT_BYTES_A_SECOND, 0,
                       g_strdup(_("checkpoints, curves")), -1);
  struct statvfs v;
  tm_source_add_property(s, _("Runs are kept in"), g_filename_display_name(folder));
  if (space(folder, &v)) {
    tm_source_add_property(s, _("Free there"), g_format_size((guint64)v.f_bavail * v.f_frsize));
    tm_source_add_property(s, _("Size"), g_format_size((guint64)v.f_blocks * v.f_frsize));
  }
  return s;
}
