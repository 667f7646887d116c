#include "engine/doctor/checks.h"

#include <string.h>

#include <glib/gi18n.h>

#include "engine/doctor/self_test.h"

const char *tm_verdict_name(TmVerdict v) {
  static const char *const names[] = {"good", "note", "warning", "bad"};
  return names[v];
}

static void check_free(gpointer p) {
  TmCheck *c = p;
  g_free(c->title);
  g_free(c->detail);
  g_free(c->way_out);
  g_free(c->command);
  g_free(c);
}

GPtrArray *tm_checks_new(void) {
  return g_ptr_array_new_with_free_func(check_free);
}

guint tm_checks_good(const GPtrArray *checks) {
  guint n = 0;
  for (guint i = 0; i < checks->len; i++) n += ((TmCheck *)checks->pdata[i])->verdict == TM_CHECK_GOOD;
  return n;
}

/* Takes @detail over; @title and @way_out are translated constants. */
static TmCheck *add(GPtrArray *to, const char *id, TmVerdict verdict, const char *title, char *detail,
                    const char *way_out) {
  TmCheck *c = g_new0(TmCheck, 1);
  *c = (TmCheck){
      .id = id, .verdict = verdict, .title = g_strdup(title), .detail = detail, .way_out = g_strdup(way_out)};
  g_ptr_array_add(to, c);
  return c;
}

static const TmBackendLook *find(const GPtrArray *looks, const char *name) {
  for (guint i = 0; i < looks->len; i++)
    if (strcmp(((TmBackendLook *)looks->pdata[i])->name, name) == 0) return looks->pdata[i];
  return NULL;
}

void tm_check_engine(GPtrArray *to, const GPtrArray *looks) {
  const TmBackendLook *best = tm_backend_looks_best(looks), *cpu = find(looks, "cpu");
  if (!best) {
    add(to, "engine", TM_CHECK_BAD, _("No back end can be used"), g_strdup(cpu ? cpu->reason : NULL),
        _("Build Tarmac again with ./bootstrap build."));
  } else if (strcmp(best->name, "ref") == 0) {
    add(to, "engine", TM_CHECK_WARNING, _("Training uses the slow reference back end"),
        g_strdup(cpu ? cpu->reason : NULL),
        _("Run ./bootstrap build, which fetches oneDNN: steps are then about a hundred times as fast."));
  } else {
    add(to, "engine", TM_CHECK_GOOD,
        strcmp(best->name, "cuda") == 0 ? _("Training uses the GPU") : _("Training uses the processor"),
        g_strdup_printf("%s%s%s", best->device, best->detail ? ": " : "", best->detail ? best->detail : ""),
        NULL);
  }
}

void tm_check_driver(GPtrArray *to, const TmCudaDriver *d, const TmMachine *m, const GPtrArray *looks) {
  g_autofree char *sentence = NULL;
  const gboolean usable = tm_cuda_driver_usable(d, &sentence);
  const TmBackendLook *cuda = find(looks, "cuda");
  if (!d->version && !d->device && !d->library && !m->gpu) {
    add(to, "driver", TM_CHECK_NOTE, _("There is no NVIDIA GPU"),
        g_strdup(_("Everything works on the processor, only slower.")), NULL);
  } else if (!usable) {
    TmCheck *c = add(to, "driver", TM_CHECK_WARNING, _("The NVIDIA driver cannot run CUDA"),
                     g_steal_pointer(&sentence), NULL);
    if (d->version && d->device && !d->uvm) c->command = g_strdup("sudo modprobe nvidia_uvm");
    if (!d->version) c->command = g_strdup("sudo modprobe nvidia");
  } else if (cuda && !cuda->usable) {
    add(to, "driver", TM_CHECK_WARNING, _("The GPU cannot be trained on"), g_strdup(cuda->reason), NULL);
  } else {
    add(to, "driver", TM_CHECK_GOOD, _("The NVIDIA driver runs CUDA"), g_steal_pointer(&sentence), NULL);
  }
}

void tm_check_versions(GPtrArray *to, const TmCudaDriver *d, const TmMachine *m) {
  if (!d->version) return;
  if (!m->driver) {
    add(to, "versions", TM_CHECK_WARNING, _("There are no readings of the GPU"), g_strdup(m->gpu_reason),
        NULL);
  } else if (strcmp(d->version, m->driver) == 0) {
    add(to, "versions", TM_CHECK_GOOD, _("The driver and its libraries match"),
        g_strdup_printf(_("%s in both"), d->version), NULL);
  } else {
    add(to, "versions", TM_CHECK_BAD, _("The driver and its libraries differ"),
        g_strdup_printf(_("The kernel runs %s, the libraries are %s."), d->version, m->driver),
        _("Restart the machine; in a container or Flatpak, update its GL.nvidia extension to the driver’s "
          "version."));
  }
}

void tm_check_persistence(GPtrArray *to, const TmGpu *gpu) {
  if (!gpu->knows_persistence) return;
  if (gpu->persistence) {
    add(to, "persistence", TM_CHECK_GOOD, _("Persistence mode is on"),
        g_strdup(_("The GPU stays ready between runs.")), NULL);
    return;
  }
  TmCheck *c = add(to, "persistence", TM_CHECK_NOTE, _("Persistence mode is off"),
                   g_strdup(_("The first step after a pause waits until the driver has woken the GPU.")),
                   _("Switch it on in a terminal; it lasts until the machine restarts."));
  c->command = g_strdup("sudo nvidia-smi -pm 1");
}

void tm_check_processor(GPtrArray *to, const char *name, int level) {
  if (level < 0)
    add(to, "processor", TM_CHECK_NOTE, _("The processor is computed on without kernels of its own"),
        g_strdup(name), NULL);
  else if (level == 0)
    add(to, "processor", TM_CHECK_WARNING, _("The processor has no AVX2"), g_strdup(name),
        _("Steps take several times as long as on one from 2013 or later; a virtual machine may hide it: "
          "give it the host’s processor."));
  else
    add(to, "processor", TM_CHECK_GOOD,
        level > 1 ? _("The processor has AVX-512") : _("The processor has AVX2"), g_strdup(name), NULL);
}

void tm_check_cores(GPtrArray *to, guint usable, guint all) {
  if (usable >= all)
    add(to, "cores", TM_CHECK_GOOD, _("All cores can be used"),
        g_strdup_printf(ngettext("%u core", "%u cores", all), all), NULL);
  else
    add(to, "cores", TM_CHECK_NOTE, _("Not all cores can be used"),
        g_strdup_printf(_("%u of %u cores"), usable, all),
        _("The container, taskset or a service’s limit keeps the others; give it more to train faster."));
}

void tm_check_governor(GPtrArray *to, const char *driver, const char *governor) {
  if (!governor) return;
  /* The pstate drivers call their balanced way "powersave"; for the others it is the lowest clock. */
  const gboolean own = driver && (strstr(driver, "pstate") != NULL);
  if (own || strcmp(governor, "powersave") != 0) {
    add(to, "governor", TM_CHECK_GOOD, _("The processor’s clock rises when there is work"),
        g_strdup_printf(_("governor %s"), governor), NULL);
    return;
  }
  TmCheck *c = add(to, "governor", TM_CHECK_WARNING, _("The processor is held at its lowest clock"),
                   g_strdup_printf(_("governor %s"), governor),
                   _("Choose another power mode in the system’s settings, or in a terminal."));
  c->command = g_strdup("powerprofilesctl set performance");
}

enum { LITTLE_MEMORY = 1 << 30, LITTLE_DISK = 1 << 30 };

void tm_check_memory(GPtrArray *to, gsize free, gsize all) {
  if (!free || !all) return;
  g_autofree char *left = g_format_size(free), *of = g_format_size(all);
  char *detail = g_strdup_printf(_("%s of %s free"), left, of);
  if (free < LITTLE_MEMORY)
    add(to, "memory", TM_CHECK_WARNING, _("There is little memory free"), detail,
        _("Close other programs, or train with a smaller batch or base width."));
  else
    add(to, "memory", TM_CHECK_GOOD, _("There is memory to train with"), detail, NULL);
}

void tm_check_disk(GPtrArray *to, const char *folder, guint64 free) {
  g_autofree char *left = g_format_size(free), *name = g_filename_display_name(folder);
  char *detail = g_strdup_printf(_("%s free in %s"), left, name);
  if (free < LITTLE_DISK)
    add(to, "disk", TM_CHECK_WARNING, _("There is little room for runs"), detail,
        _("Delete runs that are no longer needed, or empty the rubbish bin."));
  else
    add(to, "disk", TM_CHECK_GOOD, _("There is room for runs"), detail, NULL);
}

void tm_check_convolution(GPtrArray *to, const char *backend, double difference, const GError *error) {
  if (error)
    add(to, "convolution", TM_CHECK_BAD, _("A convolution cannot be computed"),
        g_strdup_printf("%s: %s", backend, error->message), NULL);
  else if (!(difference <= TM_SELF_TEST_BOUND))
    add(to, "convolution", TM_CHECK_BAD, _("A convolution comes out wrong"),
        g_strdup_printf(_("%s differs from the reference by %.1e"), backend, difference),
        _("Overclocking or faulty memory does this; so does a damaged library: build Tarmac again."));
  else
    add(to, "convolution", TM_CHECK_GOOD, _("Convolution agrees with the reference"),
        g_strdup_printf(_("%s: largest difference %.1e in f32"), backend, difference), NULL);
}

void tm_check_pattern(GPtrArray *to, const char *backend, gsize bytes, guint64 wrong, const GError *error) {
  g_autofree char *size = g_format_size(bytes);
  if (error)
    add(to, "pattern", TM_CHECK_WARNING, _("Memory could not be tried"),
        g_strdup_printf("%s: %s", backend, error->message), NULL);
  else if (wrong)
    add(to, "pattern", TM_CHECK_BAD, _("Memory does not keep its values"),
        g_strdup_printf(_("%s pattern, %" G_GUINT64_FORMAT " numbers changed"), size, wrong),
        _("Run a memory test overnight (memtest86+), and take back any overclocking."));
  else
    add(to, "pattern", TM_CHECK_GOOD, _("Memory keeps its values"),
        g_strdup_printf(_("%s pattern on %s, 0 errors"), size, backend), NULL);
}
