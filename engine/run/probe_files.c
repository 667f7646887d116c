#include "engine/run/probe_files.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/data/mask.h"
#include "engine/data/png_write.h"
#include "engine/run/history_cut.h"
#include "engine/run/run_names.h"

static char *stem_of(const char *name) {
  g_autofree char *safe = tm_run_safe_name(name, 200);
  return g_strconcat(safe, "-epoch-", NULL);
}

static char *path_of(const char *run, const char *name, guint epoch) {
  g_autofree char *stem = stem_of(name), *file = g_strdup_printf("%s%04u.png", stem, epoch);
  return g_build_filename(run, TM_RUN_PROBES, file, NULL);
}

/* Every how many epochs one is kept, once the run has come to @epoch. */
static guint stride_at(guint epoch) {
  guint stride = 1;
  while (epoch / stride >= TM_PROBE_EPOCHS) stride *= 2;
  return stride;
}

static int step_of(int w, int h) {
  int step = 1;
  while ((gint64)((w + step - 1) / step) * ((h + step - 1) / step) > TM_PROBE_PIXELS) step++;
  return step;
}

/* Those that a longer stride leaves out. */
static void thin_out(const char *run, const char *name, guint stride) {
  g_autoptr(GArray) kept = tm_probe_file_epochs(run, name);
  for (guint i = 0; i < kept->len; i++) {
    const guint epoch = g_array_index(kept, guint, i);
    g_autofree char *path = path_of(run, name, epoch);
    if (epoch % stride) g_unlink(path);
  }
}

gboolean tm_probe_file_write(const char *run, const char *name, guint epoch, const guint8 *labels, int w, int h,
                             const guint32 *palette, guint n, GError **error) {
  const guint stride = stride_at(epoch);
  const int step = step_of(w, h), sw = (w + step - 1) / step, sh = (h + step - 1) / step;
  if (epoch % stride) return TRUE;
  if (stride > 1 && epoch == stride * TM_PROBE_EPOCHS / 2) thin_out(run, name, stride);
  g_autofree guint8 *small = step > 1 ? g_malloc((gsize)sw * (gsize)sh) : NULL;
  for (int y = 0; small && y < sh; y++)
    for (int x = 0; x < sw; x++) small[(gsize)y * (gsize)sw + (gsize)x] = labels[(gsize)(y * step) * (gsize)w + (gsize)(x * step)];
  g_autofree char *path = path_of(run, name, epoch);
  return tm_png_write_index(path, small ? small : labels, sw, sh, palette, n, error);
}

static gint ascending(gconstpointer a, gconstpointer b) {
  const guint x = *(const guint *)a, y = *(const guint *)b;
  return x < y ? -1 : x > y;
}

GArray *tm_probe_file_epochs(const char *run, const char *name) {
  GArray *epochs = g_array_new(FALSE, FALSE, sizeof(guint));
  g_autofree char *folder = g_build_filename(run, TM_RUN_PROBES, NULL), *stem = stem_of(name);
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *file; dir && (file = g_dir_read_name(dir));) {
    char *end = NULL;
    if (!g_str_has_prefix(file, stem)) continue;
    const char *digits = file + strlen(stem);
    const guint64 epoch = g_ascii_isdigit(*digits) ? g_ascii_strtoull(digits, &end, 10) : 0;
    if (!end || strcmp(end, ".png") != 0 || epoch > G_MAXINT) continue;
    const guint value = (guint)epoch;
    g_array_append_val(epochs, value);
  }
  if (dir) g_dir_close(dir);
  g_array_sort(epochs, ascending);
  return epochs;
}

guint8 *tm_probe_file_read(const char *run, const char *name, guint epoch, int w, int h, GError **error) {
  g_autofree char *path = path_of(run, name, epoch);
  g_auto(TmMask) m = {0};
  if (!tm_mask_read(path, &m, error)) return NULL;
  const int step = step_of(w, h);
  if (m.w != (w + step - 1) / step || m.h != (h + step - 1) / step || m.bytes != 1) {
    g_autofree char *shown = g_filename_display_name(path);
    g_set_error(error, TM_ERROR, TM_ERROR_DATA, _("“%s” is no mask of a picture of %d×%d."), shown, w, h);
    return NULL;
  }
  guint8 *labels = g_try_malloc((gsize)w * (gsize)h);
  if (!labels) {
    g_set_error(error, TM_ERROR, TM_ERROR_NO_MEMORY, _("There is no memory for a mask of %d×%d."), w, h);
    return NULL;
  }
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      labels[(gsize)y * (gsize)w + (gsize)x] = m.px[(gsize)(y / step) * (gsize)m.w + (gsize)(x / step)];
  return labels;
}
