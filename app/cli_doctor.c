/* cli_doctor.c: tarmac doctor: what this machine and this build can do, and why not more. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <jpeglib.h>
#include <png.h>
#include <glib/gi18n.h>

#include "app/cli.h"
#include "app/cuda_driver.h"
#include "engine/backend/backend.h"
#include "engine/monitor/monitor.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

typedef struct {
  const char *name;
  gboolean usable;
  char *text; /* the device, or why not */
} Backend;

static void backend_free(gpointer p) {
  g_free(((Backend *)p)->text);
  g_free(p);
}

/* Why a backend that this build does not have is not there. */
static char *absence(const char *name) {
  if (strcmp(name, "cpu") == 0)
    return g_strdup(_("Built without oneDNN 3: ./bootstrap build fetches it and builds with it."));
  return g_strdup(_("This build has no CUDA back end."));
}

static Backend *look_at(const char *name) {
  Backend *b = g_new0(Backend, 1);
  b->name = name;
  g_autoptr(GError) error = NULL;
  if (!g_strv_contains(tm_backend_names(), name)) {
    b->text = absence(name);
    return b;
  }
  g_autoptr(TmBackend) opened =
      tm_backend_available(name, &error) ? tm_backend_open(name, &(TmBackendOptions){0}, &error) : NULL;
  b->usable = opened != NULL;
  if (!opened) {
    b->text = g_strdup(error->message);
    return b;
  }
  TmBackendInfo info;
  tm_backend_info(opened, &info);
  b->text = g_strdup_printf("%s%s%s", info.name ? info.name : "", info.detail ? ": " : "",
                            info.detail ? info.detail : "");
  tm_backend_info_clear(&info);
  return b;
}

static GPtrArray *look_at_all(void) {
  static const char *const known[] = {"cuda", "cpu", "ref"};
  GPtrArray *all = g_ptr_array_new_with_free_func(backend_free);
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) g_ptr_array_add(all, look_at(known[i]));
  return all;
}

/* The window decides by what GL gives it; from here only what it will start from can be said. */
static char *picture_path(void) {
  const char *forced = g_getenv("TARMAC_VIZ"), *display = g_getenv("WAYLAND_DISPLAY");
  if (!display || !*display) display = g_getenv("DISPLAY");
#ifndef TM_HAVE_STUDIO
  return g_strdup(
      _("none: this build has no studio (GTK 4 and libadwaita were not found, or it was turned off)"));
#endif
  if (!display || !*display)
    return g_strdup(_("none: there is no display (DISPLAY and WAYLAND_DISPLAY are empty); the terminal "
                      "commands work without"));
  if (forced && *forced)
    return g_strdup_printf(_("rung %s, forced by TARMAC_VIZ, on display %s"), forced, display);
  return g_strdup_printf(_("chosen by the studio on display %s: GL textures, or plain memory without GL "
                           "(TARMAC_VIZ=C or D forces one)"),
                         display);
}

static char *versions(void) {
  struct utsname system;
  return g_strdup_printf("tarmac %s, GLib %u.%u.%u, JSON-GLib %s, libpng %s, libjpeg-turbo %s, %s %s",
                         TM_VERSION, glib_major_version, glib_minor_version, glib_micro_version,
                         JSON_VERSION_S, png_get_libpng_ver(NULL), TEXT(LIBJPEG_TURBO_VERSION),
                         uname(&system) == 0 ? system.sysname : "?",
                         uname(&system) == 0 ? system.release : "?");
}

static void set_text(JsonObject *o, const char *member, const char *text) {
  if (text)
    json_object_set_string_member(o, member, text);
  else
    json_object_set_null_member(o, member);
}

static void print_json(GPtrArray *backends, const TmMachine *m, const TmCudaDriver *driver,
                       const char *cuda) {
  g_autofree char *path = picture_path(), *version = versions();
  JsonObject *o = json_object_new(), *list = json_object_new();
  set_text(o, "version", TM_VERSION);
  for (guint i = 0; i < backends->len; i++) {
    const Backend *b = backends->pdata[i];
    JsonObject *one = json_object_new();
    json_object_set_boolean_member(one, "usable", b->usable);
    set_text(one, "device", b->usable ? b->text : NULL);
    set_text(one, "reason", b->usable ? NULL : b->text);
    json_object_set_object_member(list, b->name, one);
  }
  json_object_set_object_member(o, "backends", list);
  set_text(o, "cpu", m->cpu);
  json_object_set_int_member(o, "cores", m->cores);
  tm_cli_json_number(o, "memory_mb", (double)m->memory / 1048576);
  set_text(o, "gpu", m->gpu);
  set_text(o, "gpu_readings", m->gpu_reason);
  set_text(o, "driver", m->driver ? m->driver : driver->version);
  set_text(o, "cuda", cuda);
  set_text(o, "picture_path", path);
  set_text(o, "versions", version);
  tm_cli_json_print(o);
}

static void print_text(GPtrArray *backends, const TmMachine *m, const char *cuda) {
  g_autofree char *path = picture_path(), *version = versions();
  g_print("%s\n", _("Back ends, best first:"));
  for (guint i = 0; i < backends->len; i++) {
    const Backend *b = backends->pdata[i];
    g_print("  %-5s %-12s %s\n", b->name, b->usable ? _("usable") : _("not usable"), b->text);
  }
  g_print(_("Processor: %s, %d cores, %.1f GiB of memory\n"), m->cpu ? m->cpu : "?", m->cores,
          (double)m->memory / 1073741824);
  if (m->gpu)
    g_print(_("GPU: %s (%s), %.1f GiB\n"), m->gpu, m->gpu_uuid ? m->gpu_uuid : "?",
            (double)m->gpu_memory / 1073741824);
  else
    g_print(_("GPU: %s\n"), m->gpu_reason ? m->gpu_reason : _("none"));
  g_print(_("CUDA: %s\n"), cuda);
  g_print(_("Picture path: %s\n"), path);
  g_print(_("Versions: %s\n"), version);
}

static int doctor(int argc, char **argv) {
  gboolean json = FALSE;
  int code = TM_EXIT_OK;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, N_("End with one line of JSON on standard output"), NULL},
      {NULL},
  };
  g_auto(GStrv) words = NULL;
  if (!tm_cli_parse(&tm_command_doctor, entries, NULL, argc, argv, 0, 0, &words, &code)) return code;
  g_autoptr(GPtrArray) backends = look_at_all();
  TmMachine machine;
  tm_machine_read(&machine);
  TmCudaDriver driver;
  tm_cuda_driver_read(&driver, "");
  g_autofree char *cuda = NULL;
  tm_cuda_driver_usable(&driver, &cuda);
  if (json)
    print_json(backends, &machine, &driver, cuda);
  else
    print_text(backends, &machine, cuda);
  code = TM_EXIT_FAILED;
  for (guint i = 0; i < backends->len; i++)
    if (((Backend *)backends->pdata[i])->usable) code = TM_EXIT_OK;
  tm_cuda_driver_clear(&driver);
  tm_machine_clear(&machine);
  return code;
}

const TmCommand tm_command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = N_("say which devices can be used here, and why others cannot"),
    .detail = N_("Looks at the back ends, the processor, the GPU and its driver, and says what to do about "
                 "what is missing. Exit code 0 when\n"
                 "at least one back end can be used.\n\n"
                 "Examples:\n"
                 "  tarmac doctor\n"
                 "  tarmac doctor --json"),
    .run = doctor,
};
