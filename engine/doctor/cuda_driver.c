#include "engine/doctor/cuda_driver.h"

#include <stdlib.h>
#include <string.h>

#include <gmodule.h>
#include <glib/gi18n.h>

static const struct {
  const char *cuda, *driver;
  int major, minor;
} lowest[] = {{"11.8", "450.80", 450, 80}, {"12.x", "525.60", 525, 60}, {"13.x", "580", 580, 0}};

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …": the first word that is numbers
 * with points. */
static char *version_in(const char *text) {
  g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);
  for (guint i = 0; words[i]; i++)
    if (strchr(words[i], '.') && words[i][strspn(words[i], "0123456789.")] == '\0') return g_strdup(words[i]);
  return NULL;
}

static gboolean there(const char *root, const char *path) {
  g_autofree char *full = g_strconcat(root, path, NULL);
  return g_file_test(full, G_FILE_TEST_EXISTS);
}

static gboolean find_library(const char *root) {
  if (*root) return there(root, "/usr/lib/libcuda.so.1");
  GModule *cuda = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  if (cuda) g_module_close(cuda);
  return cuda != NULL;
}

void tm_cuda_driver_read(TmCudaDriver *d, const char *root) {
  g_autofree char *path = g_strconcat(root, "/proc/driver/nvidia/version", NULL), *text = NULL;
  memset(d, 0, sizeof *d);
  if (g_file_get_contents(path, &text, NULL, NULL)) d->version = version_in(text);
  d->device = there(root, "/dev/nvidia0") || there(root, "/dev/nvidiactl");
  d->uvm = there(root, "/dev/nvidia-uvm");
  d->library = find_library(root);
}

void tm_cuda_driver_clear(TmCudaDriver *d) {
  g_free(d->version);
  memset(d, 0, sizeof *d);
}

static gboolean new_enough(const char *version, int major, int minor) {
  char *end;
  long a = strtol(version, &end, 10), b = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
  return a > major || (a == major && b >= minor);
}

char *tm_cuda_driver_runs(const char *version) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(lowest); i++) {
    if (new_enough(version, lowest[i].major, lowest[i].minor))
      g_string_append_printf(text, "%s%s", text->len ? ", " : "CUDA ", lowest[i].cuda);
    else if (text->len)
      g_string_append_printf(text, _("; %s needs driver %s or newer"), lowest[i].cuda, lowest[i].driver);
  }
  return text->len ? g_strdup(text->str) : NULL;
}

gboolean tm_cuda_driver_usable(const TmCudaDriver *d, char **sentence) {
  *sentence = NULL;
  if (!d->version && !d->device && !d->library) {
    *sentence = g_strdup(_("There is no NVIDIA driver on this machine."));
  } else if (!d->version) {
    *sentence = g_strdup(_("The NVIDIA driver's kernel part is not loaded: install the driver, or load it "
                           "with “modprobe nvidia”; in a container, "
                           "on the host."));
  } else if (!d->device) {
    *sentence = g_strdup(_("The driver is loaded, but /dev/nvidia0 is not here: start the container with its "
                           "GPUs (docker run --gpus all)."));
  } else if (!d->uvm) {
    *sentence = g_strdup(_("/dev/nvidia-uvm is missing, without which CUDA says “unknown error”: run "
                           "“modprobe nvidia-uvm”; in a container, on the "
                           "host, then start the container again."));
  } else if (!d->library) {
    *sentence = g_strdup(_("libcuda.so.1 is not found: install the driver's library (Debian: libcuda1) of "
                           "the same version as the kernel's part."));
  }
  if (*sentence) return FALSE;
  g_autofree char *runs = tm_cuda_driver_runs(d->version);
  *sentence = runs ? g_strdup_printf(_("Driver %s runs %s."), d->version, runs)
                   : g_strdup_printf(
                         _("Driver %s is too old: CUDA 11.8 needs 450.80 or newer, 12.x 525.60, 13.x 580."),
                         d->version);
  return runs != NULL;
}
