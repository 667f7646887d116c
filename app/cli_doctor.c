/* cli_doctor.c: tarmac doctor: what this machine and this build can do, and why not more. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <jpeglib.h>
#include <png.h>
#include <glib/gi18n.h>

#include "app/cli.h"
#include "engine/doctor/doctor.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

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
  return g_strdup_printf(
      _("chosen by the studio on display %s. While the network runs on a GPU: OpenGL shares its memory (A) "
        "where that GPU draws the display, else one copy through pinned memory (B); otherwise textures (C), "
        "or plain memory without OpenGL (D). TARMAC_VIZ forces one."),
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

static JsonObject *look_json(const TmBackendLook *b) {
  JsonObject *one = json_object_new();
  g_autofree char *device =
      b->usable && b->detail ? g_strdup_printf("%s: %s", b->device, b->detail) : g_strdup(b->device);
  json_object_set_boolean_member(one, "usable", b->usable);
  set_text(one, "device", device);
  set_text(one, "reason", b->reason);
  return one;
}

static JsonArray *gpus_json(const TmMachine *m) {
  JsonArray *all = json_array_new();
  for (guint i = 0; i < m->n_gpus; i++) {
    const TmGpu *g = &m->gpus[i];
    JsonObject *o = json_object_new();
    set_text(o, "name", g->name);
    set_text(o, "uuid", g->uuid);
    set_text(o, "bus", g->bus);
    tm_cli_json_number(o, "memory_mb", (double)g->memory / 1048576);
    json_array_add_object_element(all, o);
  }
  return all;
}

static JsonArray *checks_json(const GPtrArray *checks) {
  JsonArray *all = json_array_new();
  for (guint i = 0; i < checks->len; i++) {
    const TmCheck *c = checks->pdata[i];
    JsonObject *one = json_object_new();
    set_text(one, "id", c->id);
    set_text(one, "verdict", tm_verdict_name(c->verdict));
    set_text(one, "title", c->title);
    set_text(one, "detail", c->detail);
    set_text(one, "way_out", c->way_out);
    set_text(one, "command", c->command);
    json_array_add_object_element(all, one);
  }
  return all;
}

static void print_json(const TmDoctor *d) {
  g_autofree char *path = picture_path(), *version = versions();
  JsonObject *o = json_object_new(), *list = json_object_new();
  const TmMachine *m = &d->machine;
  set_text(o, "version", TM_VERSION);
  for (guint i = 0; i < d->looks->len; i++) {
    const TmBackendLook *b = d->looks->pdata[i];
    json_object_set_object_member(list, b->name, look_json(b));
  }
  json_object_set_object_member(o, "backends", list);
  json_object_set_array_member(o, "checks", checks_json(d->checks));
  set_text(o, "cpu", m->cpu);
  json_object_set_int_member(o, "cores", m->cores);
  tm_cli_json_number(o, "memory_mb", (double)m->memory / 1048576);
  set_text(o, "gpu", m->gpu);
  json_object_set_array_member(o, "gpus", gpus_json(m));
  set_text(o, "gpu_readings", m->gpu_reason);
  set_text(o, "driver", m->driver ? m->driver : d->driver.version);
  set_text(o, "cuda", d->cuda);
  set_text(o, "picture_path", path);
  set_text(o, "versions", version);
  tm_cli_json_print(o);
}

static void print_checks(const GPtrArray *checks) {
  g_print(_("Checks, %u of %u good:\n"), tm_checks_good(checks), checks->len);
  for (guint i = 0; i < checks->len; i++) {
    static const char *const marks[] = {"✓", "·", "!", "✗"};
    const TmCheck *c = checks->pdata[i];
    g_print("  %s %s%s%s\n", marks[c->verdict], c->title, c->detail ? ": " : "", c->detail ? c->detail : "");
    if (c->way_out) g_print("      %s\n", c->way_out);
    if (c->command) g_print("      %s\n", c->command);
  }
}

static void print_gpu(guint number, const TmGpu *g) {
  g_print(_("GPU %u: %s, %.1f GiB"), number, g->name, (double)g->memory / 1073741824);
  if (g->compute_major) g_print(_(", compute capability %d.%d"), g->compute_major, g->compute_minor);
  if (g->pcie_lanes && !isnan(g->pcie_generation))
    g_print(_(", PCIe %.0f × %d"), g->pcie_generation, g->pcie_lanes);
  if (g->uuid) g_print(", --device %s", g->uuid);
  g_print("\n");
}

static void print_text(const TmDoctor *d) {
  g_autofree char *path = picture_path(), *version = versions();
  const TmMachine *m = &d->machine;
  g_print("%s\n", _("Back ends, best first:"));
  for (guint i = 0; i < d->looks->len; i++) {
    const TmBackendLook *b = d->looks->pdata[i];
    g_print("  %-5s %-12s %s%s%s\n", b->name, b->usable ? _("usable") : _("not usable"),
            b->usable ? b->device : b->reason, b->detail ? ": " : "", b->detail ? b->detail : "");
  }
  g_print(_("Processor: %s, %d cores, %.1f GiB of memory\n"), m->cpu ? m->cpu : "?", m->cores,
          (double)m->memory / 1073741824);
  for (guint i = 0; i < m->n_gpus; i++) print_gpu(i, &m->gpus[i]);
  if (m->n_gpus == 0) g_print(_("GPU: %s\n"), m->gpu_reason ? m->gpu_reason : _("none"));
  g_print(_("CUDA: %s\n"), d->cuda);
  print_checks(d->checks);
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
  g_autoptr(TmDoctor) d = tm_doctor_new();
  if (json)
    print_json(d);
  else
    print_text(d);
  return tm_backend_looks_best(d->looks) ? TM_EXIT_OK : TM_EXIT_FAILED;
}

const TmCommand tm_command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = N_("say which devices can be used here, and why others cannot"),
    .detail =
        N_("Looks at the back ends, the processor, the GPU and its driver, computes a convolution beside the "
           "reference,\nand says what to do about what is missing. Exit code 0 when at least one back end "
           "can be used.\n\n"
           "Examples:\n"
           "  tarmac doctor\n"
           "  tarmac doctor --json"),
    .run = doctor,
};
